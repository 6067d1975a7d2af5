"""The command line of cschoice, installed as ``cschoice_cli``."""
