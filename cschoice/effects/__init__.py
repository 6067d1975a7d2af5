"""Effects: how the choices that a fitted model predicts change with the data.

``situations`` holds choice situations with the columns that people know, read from tables and
encoded tasks by ``decoding``, with ``formulas`` over these columns. ``models`` are fitted learners
and estimates that are asked for the chances of objects in them.
"""
