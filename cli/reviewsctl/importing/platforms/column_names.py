"""Names of columns that are taken for members of a review (column_names.toml)."""

from pathlib import Path
from typing import Final

import msgspec


class ColumnNames(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The tables of the file."""

    first_names: tuple[str, ...]
    last_names: tuple[str, ...]
    liked: frozenset[str]
    disliked: frozenset[str]
    private: tuple[str, ...]
    text_words: frozenset[str]
    no_texts: frozenset[str]
    guesses: dict[str, tuple[str, ...]]
    """Our names, and those of columns."""


COLUMN_NAMES: Final = msgspec.toml.decode(
    Path(__file__).with_name("column_names.toml").read_bytes(), type=ColumnNames
)
GUESSES: Final = COLUMN_NAMES.guesses
WHOLE_NAMES: Final = frozenset(GUESSES["author"][: GUESSES["author"].index("name")])
"""Columns that have the whole public name, whatever others there are."""
