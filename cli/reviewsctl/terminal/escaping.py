"""Escapes foreign text for the operator's terminal."""

from reviewsd.api.texts import printable

__all__ = ["printable", "printable_lines"]


def printable_lines(text: str) -> str:
    """Return a text with each of its lines printable."""
    return "\n".join(map(printable, text.split("\n")))
