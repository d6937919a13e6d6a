"""The demo: a sample business that is served without any files of one's own."""
