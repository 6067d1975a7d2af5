"""How pictures are drawn: one module per kind, the only ones that load matplotlib."""
