"""Floor 0: facts and rules. Standard library and msgspec only; time is an argument."""
