"""The tables of a report, one function each: numbers to cells."""
