"""Crashes of the state store: kill -9, power loss, and errors of the disk."""
