"""The daemon as reviewsctl sees it."""
