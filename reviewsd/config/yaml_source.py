"""A YAML file as plain values that still know where they were written (interfaces.md 1.3).

A configuration file is written by hand, so a fault has to point at the very character. The events
of PyYAML carry marks; here they become dicts, lists and scalars, beside a map from each JSON path
(``$.hub.lease.min``) to its place. Events rather than ``yaml.compose``: they show aliases before
these are followed (no "billion laughs") and let the depth be bounded before any recursion.

What YAML allows and a configuration does not need is refused with a reason: aliases, tags, several
documents, keys that are no plain words, keys given twice (PyYAML keeps the last one silently).
Plain scalars follow the core schema of YAML 1.2, so ``0660`` is no octal number, ``1:30`` no
base-60 number and ``no`` no boolean.
"""

import re
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import yaml

from reviewsd.domain.findings import member, show
from reviewsd.runtime.printing import in_columns

Value: TypeAlias = "bool | int | float | str | list[Value] | dict[str, Value] | None"
Loader: TypeAlias = "type[yaml.SafeLoader | yaml.CSafeLoader]"

LOADER: Loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader

MAX_CHARACTERS = 1_048_576
"""Far above any configuration written by hand."""

MAX_DEPTH = 16
"""Levels of nesting; the configuration itself has four."""

_MAX_LINE = 200  # characters; a longer source line is not shown with a finding

_CONTROLS_REFUSED = "must not contain control characters or line breaks"

_BREAK = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")  # the line breaks YAML 1.1 counts
_NOT_YAML = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_NOT_TAB = re.compile(r"[^\t]")
_WORD = re.compile(r"[^\s\"']+")
_INTEGER = re.compile(r"[-+]?[0-9]{1,18}", re.ASCII)
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", re.ASCII)
_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


class Mark(NamedTuple):
    """A place in the text; line and column count from 1, the column in characters."""

    line: int
    column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing wrong with the file."""

    mark: Mark
    path: str
    """JSON path such as ``$.hub.lease.min``; ``$`` when it is the file itself."""
    reason: str
    shown: bool = True
    """Whether the source line helps: not where something is missing, not where it is secret."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What a YAML text says, and where."""

    lines: list[str]
    value: Value = None
    fatal: bool = False
    """Whether reading stopped at the last fault; then ``value`` says nothing."""
    faults: list[Fault] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)
    """Paths whose value could not be taken and is None here; their fault is in ``faults``."""
    keys: dict[str, Mark] = field(default_factory=dict)
    values: dict[str, Mark] = field(default_factory=dict)

    def fault(self, path: str, reason: str, *, at_key: bool = False, shown: bool = True) -> Fault:
        """A fault of the value at a path, or of its key.

        What is not in the file is placed at the start of what should contain it.
        """
        place = path
        while place and place not in self.values:
            place = place.rpartition(".")[0]
        if place == "$" != path:
            place = ""
        mark = (self.keys if at_key else self.values).get(place, Mark(1, 1))
        return Fault(mark=mark, path=path, reason=reason, shown=shown and place == path)

    def render(self, file: str, fault: Fault) -> list[str]:
        """A fault as compilers print it: place, key, reason; the line; a caret below the place."""
        line, column = fault.mark
        key = dotted(fault.path)
        head = f"{file}:{line}:{column}: {key}{': ' if key else ''}{fault.reason}"
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        if not fault.shown or not text.strip() or len(text) > _MAX_LINE:
            return [masked(head)]
        # A tab stays a tab, so that the caret moves with whatever width the terminal gives it.
        indent = _NOT_TAB.sub(" ", text[: column - 1])
        return [masked(head), f"{line:>5} | {masked(in_columns(text))}", f"{'':>5} | {indent}^"]


def dotted(path: str) -> str:
    """A JSON path as the operator writes the key: ``hub.lease.min``; empty for the file itself."""
    return path.removeprefix("$").removeprefix(".")


def masked(text: str) -> str:
    """A line to be printed, without the password of an address in it; columns stay."""
    return _WORD.sub(_masked_word, text)


def _masked_word(word: re.Match[str]) -> str:
    """Stars for what stands between the first ``://`` and the last ``@``."""
    scheme, separator, rest = word[0].partition("://")
    credentials, at, host = rest.rpartition("@")
    return f"{scheme}{separator}{'*' * len(credentials)}{at}{host}"


def has_controls(text: str) -> bool:
    """Whether a text has control characters, line breaks or lone surrogates."""
    return _CONTROL.search(text) is not None


def scalar(text: str) -> bool | int | float | str | None:
    """What an unquoted scalar means (YAML 1.2, core schema, decimal numbers only)."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _NUMBER.fullmatch(text) and abs(number := float(text)) != float("inf"):
        return number
    return text


def read(data: bytes, loader: Loader = LOADER) -> Document:
    """Read a YAML file; everything wrong with it is in the document's faults.

    Args:
        data: UTF-8, with or without a byte order mark.
        loader: libyaml's where PyYAML was built with it; both give the same values and marks.
    """
    text = data.decode("utf-8-sig", "surrogateescape")  # an undecodable byte stays findable
    lines = _BREAK.split(text)
    builder = _Builder(text, loader)
    try:
        value = builder.document()
    except _Stop as stop:
        fault = Fault(mark=stop.mark, path="$", reason=stop.reason)
        return Document(lines=lines, fatal=True, faults=[*builder.faults, fault])
    except yaml.YAMLError as error:
        fault = _syntax_fault(error, lines)
        return Document(lines=lines, fatal=True, faults=[*builder.faults, fault])
    return Document(
        lines=lines,
        value=value,
        faults=builder.faults,
        broken=builder.broken,
        keys=builder.keys,
        values=builder.values,
    )


def read_value(text: str) -> Document:
    """Read one value without a file around it: a JSON list or object, else a plain scalar."""
    if text.startswith(("[", "{")):
        return read(text.encode("utf-8", "surrogatepass"))  # JSON is flow YAML
    if has_controls(text):
        fault = Fault(mark=Mark(1, 1), path="$", reason=_CONTROLS_REFUSED)
        return Document(lines=[], fatal=True, faults=[fault])
    return Document(lines=[text], value=scalar(text))


class _Stop(Exception):  # noqa: N818 - ends the reading; its fault is what callers see
    """Nothing after this place can be understood."""

    def __init__(self, mark: Mark, reason: str) -> None:
        super().__init__(reason)
        self.mark = mark
        self.reason = reason


class _Builder:
    """Turns the events of one YAML text into values, places and faults."""

    def __init__(self, text: str, loader: Loader) -> None:
        self._text = text
        self._events = yaml.parse(text, Loader=loader)
        self.faults: list[Fault] = []
        self.broken: set[str] = set()
        self.keys: dict[str, Mark] = {}
        self.values: dict[str, Mark] = {}

    def document(self) -> Value:
        """The value of the only document; None when there is none."""
        if len(self._text) > MAX_CHARACTERS:
            raise _Stop(Mark(1, 1), f"expected at most {MAX_CHARACTERS} characters")
        if refused := _NOT_YAML.search(self._text):
            raise _Stop(_mark_of(self._text, refused.start()), _not_yaml(refused.group()))
        value: Value = None
        documents = 0
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise _Stop(_mark(event), "expected one document, got a second one")
            elif isinstance(event, yaml.NodeEvent):
                value = self._node(event, "$", 0)
        return value

    def _node(self, event: yaml.Event, path: str, depth: int) -> Value:
        self.values[path] = _mark(event)
        if depth >= MAX_DEPTH:
            raise _Stop(self.values[path], f"expected at most {MAX_DEPTH} levels")
        if isinstance(event, yaml.AliasEvent):
            self._refuse(event, path, "aliases are not supported; write the value out")
            return None
        if getattr(event, "tag", None) is not None:
            self._refuse(event, path, "tags are not supported; write the value without")
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(path, depth)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(path, depth)
        assert isinstance(event, yaml.ScalarEvent)  # noqa: S101 - the only node left
        if has_controls(event.value):
            self._refuse(event, path, _CONTROLS_REFUSED)
        if path in self.broken:
            return None
        return scalar(event.value) if event.implicit[0] else event.value

    def _mapping(self, path: str, depth: int) -> dict[str, Value]:
        mapping: dict[str, Value] = {}
        while not isinstance(key := next(self._events), yaml.MappingEndEvent):
            if not isinstance(key, yaml.ScalarEvent) or has_controls(key.value):
                self._fault(key, path, "expected a plain word as key")
                self._skip(key)
                self._skip(next(self._events))
                continue
            place = member(path, key.value)
            if key.value in mapping:
                first = self.keys[place].line
                reason = f"duplicate key {show(key.value)}; the first is in line {first}"
                self._fault(key, place, reason)
                self._skip(next(self._events))
                continue
            self.keys[place] = _mark(key)
            mapping[key.value] = self._node(next(self._events), place, depth + 1)
        return mapping

    def _sequence(self, path: str, depth: int) -> list[Value]:
        items: list[Value] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            items.append(self._node(event, f"{path}[{len(items)}]", depth + 1))
        return items

    def _skip(self, event: yaml.Event) -> None:
        """Pass over a node without taking it."""
        depth = 0
        while True:
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth == 0:
                return
            event = next(self._events)

    def _refuse(self, event: yaml.Event, path: str, reason: str) -> None:
        """A fault that leaves its path without a value."""
        self.broken.add(path)
        self._fault(event, path, reason)

    def _fault(self, event: yaml.Event, path: str, reason: str) -> None:
        self.faults.append(Fault(mark=_mark(event), path=path, reason=reason))


def _mark(event: yaml.Event) -> Mark:
    mark = event.start_mark
    assert mark is not None  # noqa: S101 - the stubs allow for hand-made events
    return Mark(mark.line + 1, mark.column + 1)


def _mark_of(text: str, index: int) -> Mark:
    before = _BREAK.split(text[:index])
    return Mark(len(before), len(before[-1]) + 1)


def _not_yaml(character: str) -> str:
    if "\ud800" <= character <= "\udfff":
        return "expected UTF-8 text"
    return f"the character U+{ord(character):04X} is not allowed"


def _syntax_fault(error: yaml.YAMLError, lines: list[str]) -> Fault:
    """A refusal of PyYAML's; the place is where it got stuck."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    place = Mark(mark.line + 1, mark.column + 1) if mark else Mark(1, 1)
    if place.line > len(lines):  # the end of a text without a final line break
        place = Mark(len(lines), len(lines[-1]) + 1)
    parts = [getattr(error, "problem", None), getattr(error, "context", None)]
    reason = ", ".join(part for part in parts if part) or "cannot be read"
    line = lines[place.line - 1]
    if line[place.column - 1 : place.column] == "\t":
        reason = "found a tab; indent with spaces"
    return Fault(mark=place, path="$", reason=f"no valid YAML: {reason}")
