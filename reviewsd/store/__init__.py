"""What outlives the process: subscriptions, topics, keys, in SQLite or PostgreSQL."""
