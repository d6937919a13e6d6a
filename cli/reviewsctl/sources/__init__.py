"""Reviews that keep themselves current: downloads from sources, and imports them (sources.md)."""
