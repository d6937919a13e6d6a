"""Requests to callbacks: resolved, dialed, sent and read with bounds on everything."""
