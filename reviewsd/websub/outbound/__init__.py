"""Requests to callbacks: resolved, dialled, sent and read with bounds on everything."""
