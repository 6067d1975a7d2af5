"""Effects: how the choices that a fitted model predicts change with the data.

``situations`` holds choice situations with the columns that people know, read from tables and
encoded tasks by ``decoding``, with ``formulas`` over these columns; ``scenarios`` are the words
that change them. ``models`` are fitted learners and estimates that are asked for the chances of
objects. ``uncertainty`` and, of estimates, ``standard_errors`` are the ways to intervals, of which
``ways`` takes the one that fits. ``shares``, ``surplus``, ``derivatives``, ``elasticities``,
``calibration`` and ``assortments`` compute over ``segments`` of tasks and classes of objects.
``questions`` asks for several of them at once, ``rows`` lays out the numbers that they find, and
``functions`` is for Python.
"""
