"""Compiled inner loops of the networks; where they were not built, torch does the same."""
