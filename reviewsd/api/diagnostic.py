"""An error or a warning about a file: the configuration, insights.yaml or the data."""

from msgspec import Struct


class Diagnostic(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An error or a warning about a file (``domain.diagnostic_text`` renders it)."""

    file: str
    """The path or name of the file; ``environment``; empty without a file."""
    line: int | None = None
    column: int | None = None
    """Line and column count from 1, the column in characters."""
    path: str = ""
    """The dotted key of the configuration, the variable, or the JSON path of the data such as
    ``$.reviews[812].rating``; empty for the file itself."""
    id: str | None = None
    """The id of the review."""
    reason: str
    lines: tuple[str, ...] = ()
    """Lines to print: place and reason, and if they help the source line and a caret."""
