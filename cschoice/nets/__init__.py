"""Networks on padded tasks, and the one training loop; the only room that needs torch."""
