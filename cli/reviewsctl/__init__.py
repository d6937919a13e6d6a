"""The operator's tool for reviewsd. It speaks only the daemon's published formats."""
