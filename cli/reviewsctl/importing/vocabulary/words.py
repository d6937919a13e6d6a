"""Words of exports in English, German, French, Spanish, Italian, Portuguese and Dutch, from the files beside this one."""

from pathlib import Path
from typing import Final

import msgspec


class Words(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The words of one file."""

    lists: dict[str, tuple[str, ...]]
    """Words in their order, or the beginnings of words."""
    sets: dict[str, frozenset[str]]
    table: dict[str, tuple[str, ...]] = {}
    """Our names, and those of exports."""
    platforms: dict[str, dict[str, frozenset[str]]] = {}


def words_in(file: str) -> Words:
    """Return the words of one of the files."""
    return msgspec.toml.decode(Path(__file__).with_name(file).read_bytes(), type=Words)


COLUMNS: Final = words_in("columns.toml")
CELLS: Final = words_in("cells.toml")
PUBLICITY: Final = words_in("publicity.toml")

GUESSES: Final = COLUMNS.table
