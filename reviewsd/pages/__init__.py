"""Pages for people, and documents for crawlers and agents: rendered from a Site, deterministic (pages.md)."""
