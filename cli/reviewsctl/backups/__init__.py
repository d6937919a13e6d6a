"""One archive of all that an owner would miss, and the way back (security-and-operations.md D12)."""
