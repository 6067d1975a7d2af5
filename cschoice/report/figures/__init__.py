"""Drawing: one module per kind of figure, the only modules that load matplotlib."""
