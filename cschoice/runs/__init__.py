"""Jobs: their records, files and tables, the protocols that do them, the executors that run them."""
