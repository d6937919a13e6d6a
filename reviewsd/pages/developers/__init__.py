"""The documentation of the interfaces: made of what validates, describes and answers (pages.md 1)."""
