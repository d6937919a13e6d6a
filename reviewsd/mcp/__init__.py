"""The Model Context Protocol over the published data, without I/O (mcp.md).

Time, randomness and the ended sessions are arguments. ``web.mcp`` is the HTTP in front of it.
"""
