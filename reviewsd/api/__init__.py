"""The messages between the daemon and ``reviewsctl``: structs that both import, and nothing else."""
