"""Where in a JSON file a path is: the line and column that an editor jumps to.

Asked for the few paths of findings, after the file was refused or doubted. One pass over the text
follows the paths asked for and skips everything else with the standard library's scanner.
"""

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from reviewsd.domain.diagnostic_text import MAX_LINE

MAX_BYTES: Final = 1 << 26
"""Of a larger file no places are told: the pass takes four times as much memory."""

_STEP: Final = re.compile(r'\.(?P<name>[^.\[]+)|\[(?P<index>[0-9]+)\]|\[(?P<quoted>"[^]]*)\]')
_BLANK: Final = re.compile(r"[ \t\n\r]*")
_DECODER: Final = json.JSONDecoder()

PathStep: TypeAlias = str | int


@dataclass(frozen=True, slots=True)
class TextLocation:
    """A place in a text; both count from 1, the column in characters."""

    line: int
    column: int
    source: str
    """The line, or nothing where it is too long to be shown."""


def locate(text: bytes, paths: Collection[str]) -> dict[str, TextLocation]:
    """The places of JSON paths such as ``$.reviews[812].rating``.

    What is not there is placed where it is missing: at the object that should have it.

    Args:
        text: A JSON file; what cannot be followed, because it is broken, has no place.
        paths: As findings name them; one that is too long for a line, or empty, has no place.
    """
    if len(text) > MAX_BYTES:
        return {}
    content = text.decode("utf-8-sig", "replace")
    wanted = {steps: path for path in paths if (steps := _steps(path)) is not None}
    offsets: dict[str, int] = {}
    try:
        for steps, offset in _walk(content, _after_blank(content, 0), (), set(wanted)):
            offsets[wanted[steps]] = offset
    except (ValueError, IndexError, RecursionError):
        pass
    return {path: _place(content, offset) for path, offset in offsets.items()}


def place_at(text: bytes, line: int, column: int) -> TextLocation:
    """The place of a line and a column, both counted from 1."""
    start = 0
    for _ in range(line - 1):
        start = text.index(b"\n", start) + 1
    end = text.find(b"\n", start)
    source = text[start : len(text) if end < 0 else end]
    shown = source.decode(errors="replace").removesuffix("\r") if len(source) <= MAX_LINE else ""
    return TextLocation(line, column, shown)


def _place(content: str, offset: int) -> TextLocation:
    start = content.rfind("\n", 0, offset) + 1
    end = content.find("\n", offset)
    end = len(content) if end < 0 else end
    source = content[start:end].removesuffix("\r") if end - start <= MAX_LINE else ""
    return TextLocation(content.count("\n", 0, offset) + 1, offset - start + 1, source)


def _steps(path: str) -> tuple[PathStep, ...] | None:
    """A path taken apart; None when it is none."""
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
            except ValueError:  # it was shortened for the line
                return None
        else:
            steps.append(step["name"])
        at = step.end()
    return tuple(steps)


def _walk(
    text: str, at: int, here: tuple[PathStep, ...], wanted: set[tuple[PathStep, ...]]
) -> Iterator[tuple[tuple[PathStep, ...], int]]:
    """The places of the wanted steps in the value at an offset."""
    depth = len(here)
    ahead = {steps for steps in wanted if steps[:depth] == here}
    nexts = {steps[depth] for steps in ahead if len(steps) > depth}
    for steps in ahead:
        yield steps, at  # where nothing closer is found
    if not nexts or text[at] not in "{[":
        return
    closing = "}" if text[at] == "{" else "]"
    index = 0
    at = _after_blank(text, at + 1)
    while text[at] != closing:
        step: PathStep = index
        if closing == "}":
            name, at = _DECODER.raw_decode(text, at)
            step = str(name)
            at = _after_blank(text, _after_blank(text, at) + 1)  # the colon
        if step in nexts:
            yield from _walk(text, at, (*here, step), ahead)
        _, at = _DECODER.raw_decode(text, at)
        at = _after_blank(text, at)
        index += 1
        if text[at] == ",":
            at = _after_blank(text, at + 1)


def _after_blank(text: str, at: int) -> int:
    blank = _BLANK.match(text, at)
    assert blank is not None  # noqa: S101 - it matches the empty string
    return blank.end()
