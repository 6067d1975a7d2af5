"""Estimates to publish: named coefficients, honest standard errors, tests, willingness to pay.

``estimation`` fits a model to a sample and returns ``Estimates``, from which every kind of standard
error can be had afterwards (``covariance``, ``bootstrap``). ``specification`` is the utility as
people write it, ``expressions`` the language of its terms and of hypotheses; ``designs`` applies it
to a sample, ``limits`` its bounds to parameters. ``hypotheses`` tests,
``independence`` tests whether context matters, ``willingness`` turns coefficients into amounts of
money. ``optimum`` finds the last digits.
"""
