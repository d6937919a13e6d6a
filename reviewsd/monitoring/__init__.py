"""Measures the running daemon: metrics, health, readiness and events."""
