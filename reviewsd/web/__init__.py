"""Floor 4: HTTP. One class for each listening socket."""
