"""Why a fitted learner prefers what it prefers, and how much of it is due to the other objects.

Everything is computed from utilities of changed sets: learners are asked, never opened.
"""
