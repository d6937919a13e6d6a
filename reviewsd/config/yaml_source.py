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
from msgspec.structs import replace

from reviewsd.api.diagnostic import Diagnostic
from reviewsd.domain.data_errors import member, show
from reviewsd.domain.diagnostic_text import MAX_LINE, rendered

YamlValue: TypeAlias = "bool | int | float | str | list[YamlValue] | dict[str, YamlValue] | None"
Loader: TypeAlias = "type[yaml.SafeLoader | yaml.CSafeLoader]"

LOADER: Loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader

MAX_CHARACTERS = 1_048_576
"""Far above any configuration written by hand."""

MAX_DEPTH = 16
"""Levels of nesting; the configuration itself has four."""

_CONTROLS_REFUSED = "must not contain control characters or line breaks"

_BREAK = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")  # the line breaks YAML 1.1 counts
_NOT_YAML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
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


@dataclass(frozen=True, slots=True)
class Source:
    """A file's name and lines."""

    file: str
    lines: list[str]

    def fault(self, mark: Mark, path: str, reason: str, *, shown: bool = True) -> Diagnostic:
        """What is wrong at a place, rendered; no part of it shows a password.

        Args:
            mark: The place.
            path: The JSON path there.
            reason: What is wrong.
            shown: Whether the line helps: not where something is missing.
        """
        line, column = mark
        text = self.lines[line - 1] if shown and line <= len(self.lines) else ""
        found = Diagnostic(
            file=self.file, line=line, column=column, path=dotted(path), reason=masked(reason)
        )
        lines = rendered(found, text if len(text) <= MAX_LINE else "").lines
        return replace(found, lines=tuple(map(masked, lines)))


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlDocument:
    """What a YAML text says, and where."""

    source: Source
    value: YamlValue = None
    fatal: bool = False
    """Whether reading stopped at the last fault; then ``value`` says nothing."""
    faults: list[Diagnostic] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)
    """Paths whose value could not be taken and is None here; their fault is in ``faults``."""
    keys: dict[str, Mark] = field(default_factory=dict)
    values: dict[str, Mark] = field(default_factory=dict)

    def fault(
        self, path: str, reason: str, *, at_key: bool = False, shown: bool = True
    ) -> Diagnostic:
        """What is wrong with the value at a JSON path, or with its key.

        What is not in the file is placed at the start of what should contain it; that line would
        not help.

        Args:
            path: The JSON path.
            reason: What is wrong.
            at_key: Whether the key is wrong, not its value.
            shown: Whether the line may be quoted: not one that has a secret.
        """
        place = path
        while place and place not in self.values:
            place = place.rpartition(".")[0]
        if place == "$" != path:
            place = ""
        mark = (self.keys if at_key else self.values).get(place, Mark(1, 1))
        return self.source.fault(mark, path, reason, shown=shown and place == path)


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


def read(data: bytes, file: str = "", loader: Loader = LOADER) -> YamlDocument:
    """Read a YAML file; everything wrong with it is in the document's faults.

    Args:
        data: UTF-8, with or without a byte order mark.
        file: Its name, for faults.
        loader: libyaml's where PyYAML was built with it; both give the same values and marks.
    """
    text = data.decode("utf-8-sig", "surrogateescape")  # an undecodable byte stays findable
    source = Source(file, _BREAK.split(text))
    builder = _Builder(text, source, loader)
    try:
        value = builder.document()
    except _Stop as stop:
        fault = source.fault(stop.mark, "$", stop.reason)
        return YamlDocument(source=source, fatal=True, faults=[*builder.faults, fault])
    except yaml.YAMLError as error:
        fault = _syntax_fault(error, source)
        return YamlDocument(source=source, fatal=True, faults=[*builder.faults, fault])
    return YamlDocument(
        source=source,
        value=value,
        faults=builder.faults,
        broken=builder.broken,
        keys=builder.keys,
        values=builder.values,
    )


def read_value(text: str) -> YamlDocument:
    """Read one value without a file around it: a JSON list or object, else a plain scalar."""
    if text.startswith(("[", "{")):
        return read(text.encode("utf-8", "surrogatepass"))  # JSON is flow YAML
    if has_controls(text):
        source = Source("", [])
        fault = source.fault(Mark(1, 1), "$", _CONTROLS_REFUSED)
        return YamlDocument(source=source, fatal=True, faults=[fault])
    return YamlDocument(source=Source("", [text]), value=scalar(text))


class _Stop(Exception):  # noqa: N818 - ends the reading; its fault is what callers see
    """Nothing after this place can be understood."""

    def __init__(self, mark: Mark, reason: str) -> None:
        super().__init__(reason)
        self.mark = mark
        self.reason = reason


class _Builder:
    """Turns the events of one YAML text into values, places and faults."""

    def __init__(self, text: str, source: Source, loader: Loader) -> None:
        self._text = text
        self._source = source
        self._events = yaml.parse(text, Loader=loader)
        self.faults: list[Diagnostic] = []
        self.broken: set[str] = set()
        self.keys: dict[str, Mark] = {}
        self.values: dict[str, Mark] = {}

    def document(self) -> YamlValue:
        """The value of the only document; None when there is none."""
        if len(self._text) > MAX_CHARACTERS:
            raise _Stop(Mark(1, 1), f"expected at most {MAX_CHARACTERS} characters")
        if refused := _NOT_YAML.search(self._text):
            raise _Stop(_mark_of(self._text, refused.start()), _not_yaml(refused.group()))
        value: YamlValue = None
        documents = 0
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise _Stop(self._mark(event), "expected one document, got a second one")
            elif isinstance(event, yaml.NodeEvent):
                value = self._node(event, "$", 0)
        return value

    def _node(self, event: yaml.Event, path: str, depth: int) -> YamlValue:
        self.values[path] = self._mark(event)
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

    def _mapping(self, path: str, depth: int) -> dict[str, YamlValue]:
        mapping: dict[str, YamlValue] = {}
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
            self.keys[place] = self._mark(key)
            mapping[key.value] = self._node(next(self._events), place, depth + 1)
        return mapping

    def _sequence(self, path: str, depth: int) -> list[YamlValue]:
        items: list[YamlValue] = []
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
        self.faults.append(self._source.fault(self._mark(event), path, reason))

    def _mark(self, event: yaml.Event) -> Mark:
        assert event.start_mark is not None  # noqa: S101 - the stubs allow for hand-made events
        return _place(event.start_mark.line, event.start_mark.column, self._source.lines)


def _place(line: int, column: int, lines: list[str]) -> Mark:
    """A place in the text; libyaml puts the end of a text without a line break into the next line."""
    if line >= len(lines):
        return Mark(len(lines), len(lines[-1]) + 1)
    return Mark(line + 1, column + 1)


def _mark_of(text: str, index: int) -> Mark:
    before = _BREAK.split(text[:index])
    return Mark(len(before), len(before[-1]) + 1)


def _not_yaml(character: str) -> str:
    if "\ud800" <= character <= "\udfff":
        return "expected UTF-8 text"
    return f"the character U+{ord(character):04X} is not allowed"


def _syntax_fault(error: yaml.YAMLError, source: Source) -> Diagnostic:
    """A refusal of PyYAML's; the place is where it got stuck."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    place = _place(mark.line, mark.column, source.lines) if mark else Mark(1, 1)
    parts = [getattr(error, "problem", None), getattr(error, "context", None)]
    reason = ", ".join(part for part in parts if part) or "cannot be read"
    line = source.lines[place.line - 1]
    if line[place.column - 1 : place.column] == "\t":
        reason = "found a tab; indent with spaces"
    return source.fault(place, "$", f"no valid YAML: {reason}")
