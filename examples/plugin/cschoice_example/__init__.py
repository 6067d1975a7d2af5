"""An example of a package that adds to cschoice: one file for each thing that it adds."""
