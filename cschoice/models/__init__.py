"""A fitted model as a folder: saved, loaded, and applied to new tables."""
