"""Notices: messages to the owner about new reviews, sources that are not read and refused data (notices.md)."""
