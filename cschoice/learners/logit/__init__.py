"""The logit family: penalized maximum likelihood in float64."""
