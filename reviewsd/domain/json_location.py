"""Lines and columns of JSON paths, for an editor to jump to."""

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, TypeAlias

import msgspec
from msgspec import Raw

from reviewsd.domain import strict_json
from reviewsd.domain.diagnostic_text import MAX_LINE
from reviewsd.domain.json_file import BOM, line_and_column

MAX_BYTES: Final = 1 << 26
"""Largest file in which paths are located."""

_STEP: Final = re.compile(
    r'\.(?P<name>[^.\[]+)|\[(?P<index>[0-9]+)\]|\[(?P<quoted>"(?:[^"\\]|\\.)*")\]'
)
_ITEMS: Final = msgspec.json.Decoder(list[Raw])

PathSteps: TypeAlias = tuple[str | int, ...]
"""The names and indexes of a path."""


@dataclass(frozen=True, slots=True)
class TextLocation:
    """A position in a text; line and column count from 1, the column in characters."""

    line: int
    column: int
    source: str
    """The text of the line, or "" if it is too long to be shown."""


def locate(text: bytes, paths: Collection[str]) -> dict[str, TextLocation]:
    """Return the locations of JSON paths such as ``$.reviews[812].rating``.

    An absent member has the location of the object that should have it.

    Args:
        text: A JSON file.
        paths: Paths of findings; the result has none that is shortened or empty.
    """
    if len(text) > MAX_BYTES:
        return {}
    text = text.removeprefix(BOM)
    targets = {path: steps for path in paths if (steps := _steps(path)) is not None}
    begin = len(text) - len(text.lstrip())
    offsets: dict[str, int] = {}
    with suppress(
        strict_json.NotJsonError, strict_json.UnfitError, msgspec.DecodeError, RecursionError
    ):
        offsets.update(_walk(text[begin:], begin, targets))  # those before a fault
    view = memoryview(text)
    return {path: place_at(text, *line_and_column(view, at)) for path, at in offsets.items()}


def place_at(text: bytes, line: int, column: int) -> TextLocation:
    """Return the location of a line and a column, both counted from 1."""
    text = text.removeprefix(BOM)
    start = 0
    for _ in range(line - 1):
        start = text.index(b"\n", start) + 1
    end = text.find(b"\n", start)
    end = min(len(text) if end < 0 else end, start + 4 * MAX_LINE + 1)
    source = text[start:end].decode(errors="replace").removesuffix("\r")
    return TextLocation(line, column, source if len(source) <= MAX_LINE else "")


def _steps(path: str) -> PathSteps | None:
    """Parse a path; None if it is not one."""
    if not path.startswith("$"):
        return None
    steps: list[str | int] = []
    at = 1
    while at < len(path):
        step = _STEP.match(path, at)
        if step is None:
            return None
        if step["index"]:
            steps.append(int(step["index"]))
        elif step["quoted"]:
            try:
                steps.append(str(json.loads(step["quoted"])))
            except ValueError:  # the name was shortened
                return None
        else:
            steps.append(step["name"])
        at = step.end()
    return tuple(steps)


def _walk(value: bytes, begin: int, targets: Mapping[str, PathSteps]) -> Iterator[tuple[str, int]]:
    """Yield paths with the offsets of their values; later ones are more exact.

    Args:
        value: A value of the file.
        begin: Its offset in the file.
        targets: Paths to it and into it, and their steps from here.
    """
    below: defaultdict[str | int, dict[str, PathSteps]] = defaultdict(dict)
    for path, steps in targets.items():
        yield path, begin
        if steps:
            below[steps[0]][path] = steps[1:]
    for step, part, offset in _parts(value) if below else ():
        if step in below:
            yield from _walk(bytes(part), begin + offset, below[step])


def _parts(value: bytes) -> Iterator[tuple[str | int, Raw, int]]:
    """Yield name or index, value and offset of each part of an object or an array; a scalar has none."""
    if value.startswith(b"["):
        end = 1
        for index, item in enumerate(_ITEMS.decode(value)):
            offset = value.index(item, end)
            end = offset + len(item)
            yield index, item, offset
    if not value.startswith(b"{"):
        return
    members = strict_json.split(value)
    for name, offset, _ in strict_json.walk(value, members):
        yield name, members[name], offset
