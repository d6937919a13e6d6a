"""A fault or a doubt of a file, at a place: of the configuration, of insights.yaml, of the data."""

from msgspec import Struct


class Diagnostic(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that is wrong with, or odd about, a file (``domain.diagnostic_text`` renders it)."""

    file: str
    """Its path or name; ``environment``; empty where there is no file."""
    line: int | None = None
    column: int | None = None
    """Both count from 1, the column in characters; None where there is no place."""
    path: str = ""
    """The dotted key of the configuration, the variable, or the JSON path of the data such as
    ``$.reviews[812].rating``; empty when it is the file itself."""
    id: str | None = None
    """Of the review."""
    reason: str
    lines: tuple[str, ...] = ()
    """For people: place and reason, and where they help the source line and a caret. Made for those
    that are printed so."""
