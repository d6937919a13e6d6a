"""Labels for reviews from a language model of the owner's choice (insights.md 7)."""
