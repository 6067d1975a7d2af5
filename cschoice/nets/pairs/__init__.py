"""The pairs of FETA: how they are laid out, summed in pieces, and encoded."""
