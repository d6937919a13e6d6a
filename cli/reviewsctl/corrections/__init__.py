"""Hides, anonymizes and erases reviews: writes ``corrections.json`` and what an erasure changes (corrections.md)."""
