"""A whole study: its settings, its plan, its run, its cost."""
