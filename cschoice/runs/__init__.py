"""How one job is done and kept: records, files, tables, protocols, executors."""
