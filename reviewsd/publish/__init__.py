"""From the data directory to a snapshot folder: watched, compiled in a process of its own, published."""
