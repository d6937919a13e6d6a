"""HTTP/1.1 as bytes and values; no I/O."""
