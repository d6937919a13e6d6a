"""Floor 2: what is remembered: published snapshots and the watch over their sources."""
