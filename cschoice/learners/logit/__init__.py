"""The logit family of choice models, fitted by penalized maximum likelihood in float64."""
