"""Datasets made of raw files: found, read, cached and compared with the paper's counts."""
