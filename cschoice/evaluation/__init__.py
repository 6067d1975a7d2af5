"""From utilities to choices, and how good they are."""
