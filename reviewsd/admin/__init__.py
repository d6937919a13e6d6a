"""The operator's API on the UNIX socket: one module a subject."""
