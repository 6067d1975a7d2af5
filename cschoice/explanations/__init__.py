"""The reasons of a fitted learner's preferences, and the share of the other objects in them.

Everything is computed from utilities of changed sets: learners are asked, never opened.
"""
