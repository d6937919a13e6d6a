"""The demo: serves a sample business without any files of the user."""
