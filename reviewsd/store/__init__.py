"""The state that outlives the process: subscriptions, topics and keys, in SQLite or PostgreSQL."""
