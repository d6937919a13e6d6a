"""What the daemon and ``reviewsctl`` say to each other: structs that both import, and nothing else."""
