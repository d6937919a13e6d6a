"""Whether reviews, replies and names are public at their platform."""
