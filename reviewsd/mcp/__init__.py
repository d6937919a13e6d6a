"""The Model Context Protocol over the same data, without I/O (mcp.md).

Bytes and header values come in, status and bytes go out; time, randomness and which sessions have
ended are arguments. ``web.mcp`` carries them.
"""
