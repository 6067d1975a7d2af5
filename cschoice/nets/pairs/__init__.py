"""The pairs of FETA: their layout, their sums, and the encoder made of both."""
