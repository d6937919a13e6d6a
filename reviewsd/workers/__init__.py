"""Several processes that share the listeners."""
