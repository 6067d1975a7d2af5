"""The numbers of a report: means, comparisons, tests and curves."""
