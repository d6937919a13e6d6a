"""Builds the daemon: a builder for each subject, and the order of the start."""
