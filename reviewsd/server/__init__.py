"""Sockets: connections, their deadlines and their buffers."""
