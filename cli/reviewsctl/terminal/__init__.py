"""Output for the operator: tables, progress, pages."""
