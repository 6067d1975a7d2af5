"""A whole study: read, planned, run, and what only its tables remember."""
