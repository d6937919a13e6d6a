"""Reads the data files of this package."""

import functools
import importlib.resources
from collections.abc import Iterator


def data_lines(name: str) -> Iterator[str]:
    """Yield the lines of a data file without comments and blank lines."""
    text = (importlib.resources.files(__package__) / "data" / name).read_text("utf-8")
    return (line for line in text.splitlines() if line and not line.startswith("# "))


def is_data(name: str) -> bool:
    """Return whether there is a data file of this name."""
    return (importlib.resources.files(__package__) / "data" / name).is_file()


def word_set(name: str) -> frozenset[str]:
    """Return one of the lists of ``words.txt`` as a set."""
    return frozenset(_lists()[name])


@functools.cache
def _lists() -> dict[str, tuple[str, ...]]:
    lists = {}
    for line in data_lines("words.txt"):
        name, _, words = line.partition(": ")
        lists[name] = tuple(words.split())
    return lists
