"""Builds the daemon from its parts: one builder for each subject, and the order of the start."""
