"""Effects: how the choices that a fitted model predicts change with the data.

``situations`` holds choice situations with the columns that people know, read from tables and
encoded tasks by ``decoding``, with ``formulas`` over these columns; ``scenarios`` are the words
that change them. ``models`` are fitted learners and estimates that are asked for the chances of
objects, and ``uncertainty`` has the ways to intervals, of which ``ways`` takes the one that fits.
``shares``, ``surplus``, ``derivatives``, ``elasticities``, ``calibration`` and ``assortments``
compute over ``segments`` of tasks and classes of objects; ``rows`` lays out what they find, and
``functions`` is what people call from Python.
"""
