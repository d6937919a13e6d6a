"""The manual pages, made from the help and from the shipped configuration."""
