"""Floor 0: data types and pure rules. Standard library and msgspec only; time is an argument."""
