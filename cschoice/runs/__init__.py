"""Jobs: their records, files and tables, the protocols and the executors that run them."""
