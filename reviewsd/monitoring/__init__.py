"""What is measured and told of the running daemon: metrics, health, events."""
