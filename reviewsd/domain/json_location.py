"""Lines and columns of JSON paths, for an editor to jump to.

One pass over the text follows the paths of the findings, and skips everything else with the standard
library's scanner.
"""

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from reviewsd.domain.diagnostic_text import MAX_LINE

MAX_BYTES: Final = 1 << 26
"""Largest file in which paths are located: the pass takes four times the memory of the file."""

_STEP: Final = re.compile(r'\.(?P<name>[^.\[]+)|\[(?P<index>[0-9]+)\]|\[(?P<quoted>"[^]]*)\]')
_BLANK: Final = re.compile(r"[ \t\n\r]*")
_DECODER: Final = json.JSONDecoder()

PathStep: TypeAlias = str | int


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
        text: A JSON file; the result has no paths behind a syntax error.
        paths: Paths of findings; the result has none that is shortened or empty.
    """
    if len(text) > MAX_BYTES:
        return {}
    content = text.decode("utf-8-sig", "replace")
    by_steps = {steps: path for path in paths if (steps := _steps(path)) is not None}
    offsets: dict[str, int] = {}
    try:
        for steps, offset in _walk(content, _skip_blank(content, 0), (), set(by_steps)):
            offsets[by_steps[steps]] = offset
    except (ValueError, IndexError, RecursionError):
        pass
    return {path: _location(content, offset) for path, offset in offsets.items()}


def place_at(text: bytes, line: int, column: int) -> TextLocation:
    """Return the location of a line and a column, both counted from 1."""
    start = 0
    for _ in range(line - 1):
        start = text.index(b"\n", start) + 1
    end = text.find(b"\n", start)
    source = text[start : len(text) if end < 0 else end]
    if len(source) > MAX_LINE:
        return TextLocation(line, column, "")
    return TextLocation(line, column, source.decode(errors="replace").removesuffix("\r"))


def _location(content: str, offset: int) -> TextLocation:
    start = content.rfind("\n", 0, offset) + 1
    end = content.find("\n", offset)
    end = len(content) if end < 0 else end
    source = content[start:end].removesuffix("\r") if end - start <= MAX_LINE else ""
    return TextLocation(content.count("\n", 0, offset) + 1, offset - start + 1, source)


def _steps(path: str) -> tuple[PathStep, ...] | None:
    """Parse a path; None if it is not one."""
    if not path.startswith("$"):
        return None
    steps: list[PathStep] = []
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


def _walk(
    text: str, at: int, path: tuple[PathStep, ...], targets: set[tuple[PathStep, ...]]
) -> Iterator[tuple[tuple[PathStep, ...], int]]:
    """Yield offsets of the targets in the value at an offset; later ones are more exact."""
    depth = len(path)
    below = {steps for steps in targets if steps[:depth] == path}
    next_steps = {steps[depth] for steps in below if len(steps) > depth}
    for steps in below:
        yield steps, at
    if not next_steps or text[at] not in "{[":
        return
    closing = "}" if text[at] == "{" else "]"
    index = 0
    at = _skip_blank(text, at + 1)
    while text[at] != closing:
        step: PathStep = index
        if closing == "}":
            name, at = _DECODER.raw_decode(text, at)
            step = str(name)
            at = _skip_blank(text, _skip_blank(text, at) + 1)  # the colon
        if step in next_steps:
            yield from _walk(text, at, (*path, step), below)
        _, at = _DECODER.raw_decode(text, at)
        at = _skip_blank(text, at)
        index += 1
        if text[at] == ",":
            at = _skip_blank(text, at + 1)


def _skip_blank(text: str, at: int) -> int:
    blank = _BLANK.match(text, at)
    assert blank is not None  # noqa: S101 - it matches the empty string
    return blank.end()
