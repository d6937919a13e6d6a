"""The snapshot folder: its layout, written by the compiler and read by the daemon; and the search."""
