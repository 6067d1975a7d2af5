"""Compiled inner loops of the networks; where they were not built, torch does the same.

torch writes all units of all pairs to memory, one layer and one operation at a time, and reads
them again; here a few pairs at a time go through all layers. With ``CSCHOICE_KERNELS=none`` torch
does the work although they were built, which shows the time that they save.
"""
