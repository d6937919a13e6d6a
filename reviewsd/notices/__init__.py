"""Notices: messages to the owner about new reviews, stopped sources and refused data (notices.md)."""
