"""Files that appear whole, JSON documents, and locks: how everything reaches the disk."""
