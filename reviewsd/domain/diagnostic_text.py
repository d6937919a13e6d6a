"""Diagnostics as people read them: place, path and reason; the line; a caret below the place.

The one renderer of what is wrong with the configuration, insights.yaml and the data (data-model.md 5,
interfaces.md 1.2).
"""

import re
from typing import Final

from msgspec.structs import replace

from reviewsd.api.diagnostic import Diagnostic
from reviewsd.runtime.printing import in_columns

MAX_LINE: Final = 200
"""Characters; a longer source line is not shown."""

_NOT_TAB: Final = re.compile(r"[^\t]")


def headline(found: Diagnostic) -> str:
    """The diagnostic as one line: ``file:line:column: path (id ID): reason``."""
    at = "" if found.line is None else f":{found.line}:{found.column}"
    named = "" if found.id is None else f" (id {found.id})"
    where = f"{found.path}{named}: " if found.path else ""
    return f"{found.file}{at}: {where}{found.reason}"


def rendered(found: Diagnostic, source: str = "") -> Diagnostic:
    """The diagnostic with its ``lines``.

    Args:
        found: What is wrong.
        source: The line of the file; empty where it does not help, or is too long.
    """
    lines: tuple[str, ...] = (headline(found),)
    if found.column is not None and source.strip():
        # A tab stays a tab, so that the caret moves with whatever width the terminal gives it.
        indent = _NOT_TAB.sub(" ", source[: found.column - 1])
        lines += (f"{found.line:>5} | {in_columns(source)}", f"{'':>5} | {indent}^")
    return replace(found, lines=lines)
