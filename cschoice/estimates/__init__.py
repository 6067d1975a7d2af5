"""Estimates to publish: named coefficients with honest standard errors, and what follows of them.

``estimation`` fits a model to a sample and returns ``Estimates``, from which every kind of standard
error can be had afterwards (``covariance``, ``bootstrap``). ``specification`` is the utility as
people write it, ``expressions`` the language of its terms and of hypotheses. ``hypotheses`` tests,
``willingness`` turns coefficients into amounts of money. ``optimum`` finds the last digits.
"""
