"""Renders diagnostics of the configuration, insights.yaml and the data (data-model.md 5, interfaces.md 1.2).

A diagnostic has a headline, the source line, and a caret below the fault.
"""

import re
from typing import Final

from msgspec.structs import replace

from reviewsd.api.files import Diagnostic

MAX_LINE: Final = 200
"""Characters; a longer source line is not shown."""

_NOT_TAB: Final = re.compile(r"[^\t]")


def headline(diagnostic: Diagnostic) -> str:
    """Return the diagnostic as one line: ``file:line:column: path (id ID): reason``."""
    position = "" if diagnostic.line is None else f":{diagnostic.line}:{diagnostic.column}"
    review = "" if diagnostic.id is None else f" (id {diagnostic.id})"
    path = f"{diagnostic.path}{review}: " if diagnostic.path else ""
    return f"{diagnostic.file}{position}: {path}{diagnostic.reason}"


def rendered(diagnostic: Diagnostic, source: str = "") -> Diagnostic:
    """Return the diagnostic with its ``lines``.

    Args:
        diagnostic: The diagnostic.
        source: The source line, or "" if it is unknown or too long.
    """
    lines: tuple[str, ...] = (headline(diagnostic),)
    if diagnostic.column is not None and source.strip():
        # Tabs are kept, so that the caret is below the fault at any tab width.
        indent = _NOT_TAB.sub(" ", source[: diagnostic.column - 1])
        lines += (f"{diagnostic.line:>5} | {_in_columns(source)}", f"{'':>5} | {indent}^")
    return replace(diagnostic, lines=lines)


def _in_columns(line: str) -> str:
    """Return a source line for a caret below it: tabs stay, and each character has one column."""
    return "".join(c if c.isprintable() or c == "\t" else "?" for c in line)
