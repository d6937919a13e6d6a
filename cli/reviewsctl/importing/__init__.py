"""Exports of review platforms become reviews.json (interfaces.md 2)."""
