"""One module for each export format."""
