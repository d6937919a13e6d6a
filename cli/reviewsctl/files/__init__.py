"""Files and folders in which others may write."""
