"""The data files of this package, read once."""

import functools
import importlib.resources
from collections.abc import Iterator


def data_lines(name: str) -> Iterator[str]:
    """The lines of a data file, comments and blank lines left out."""
    text = (importlib.resources.files(__package__) / "data" / name).read_text("utf-8")
    return (line for line in text.splitlines() if line and not line.startswith("# "))


def word_list(name: str) -> tuple[str, ...]:
    """One of the lists of ``words.txt``."""
    return _lists()[name]


def word_set(name: str) -> frozenset[str]:
    """The same as a set."""
    return frozenset(_lists()[name])


@functools.cache
def _lists() -> dict[str, tuple[str, ...]]:
    found = {}
    for line in data_lines("words.txt"):
        name, _, words = line.partition(": ")
        found[name] = tuple(words.split())
    return found
