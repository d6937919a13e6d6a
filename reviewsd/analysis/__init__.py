"""Insights made from the reviews alone: aspect-based sentiment by rules (insights.md)."""
