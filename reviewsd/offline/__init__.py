"""Configuration, data and insights without a daemon, for ``reviewsctl`` and ``reviewsd --check``."""
