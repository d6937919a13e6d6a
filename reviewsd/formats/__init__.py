"""Floor 1: a Dataset becomes bytes. Deterministic: no clock, no request, no network."""
