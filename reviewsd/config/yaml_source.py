"""Reads YAML as plain values that keep their places (interfaces.md 1.3).

A fault in a configuration is shown at its character. PyYAML composes nodes with marks; one walk turns them
into dicts, lists and scalars, and maps each JSON path (``$.hub.lease.default``) to its place.

What a configuration does not need is refused: aliases, tags, a second document, keys that are not plain
words, duplicate keys. Composing does not expand an alias, so a node that the walk meets again is one.
Plain scalars follow the core schema of YAML 1.2: ``0660`` is not octal, ``1:30`` is not a base-60 number,
``no`` is not a boolean.
"""

import re
from typing import NamedTuple, TypeAlias

import yaml
from msgspec.structs import replace

from reviewsd.api.files import Diagnostic
from reviewsd.domain.data_errors import member, show
from reviewsd.domain.diagnostic_text import MAX_LINE, rendered

YamlValue: TypeAlias = "bool | int | float | str | list[YamlValue] | dict[str, YamlValue] | None"

LOADER = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader

MAX_CHARACTERS = 1_048_576
"""Far above any configuration written by hand."""

MAX_DEPTH = 16
"""Levels of nesting; the configuration itself has four."""

_UNTAGGED = ""
"""The tag of a node that has none in the file."""

_CONTROLS_REFUSED = "must not contain control characters or line breaks"

_BREAK = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")  # the line breaks of YAML 1.1
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
_UNQUOTED = 'a text that begins with "{here}" needs quotation marks'
_SYNTAX = (
    (
        "mapping values are not",
        'unexpected ":"; a text with a colon needs quotation marks, and each key a line of its own',
    ),
    ("expected ',' or", 'the "{opening}" in line {line} is not closed, or a comma is missing'),
    ("end of stream", "the quotation mark in line {line} is not closed"),
    ("cannot start any token", _UNQUOTED),
    ("undefined alias", _UNQUOTED),
    ("node content", _UNQUOTED),
    ("expected ':'", "a key without a colon in line {line}"),
    (
        "unknown escape",
        'a backslash is written "\\\\", or the text in single quotation marks',
    ),
    ("another document", "a second document; remove the line ---"),
    ("", "the line does not fit those above; check the indentation and the quotation marks"),
)
"""Words of libyaml about bad syntax, and the reason for people; the last is that of any others."""


class Mark(NamedTuple):
    """A place in the text; line and column count from 1, the column in characters."""

    line: int
    column: int


class YamlDocument:
    """The value of a YAML text, its faults, and the places in it.

    Args:
        file: The name of the file.
        lines: Its lines.
    """

    def __init__(self, file: str, lines: list[str]) -> None:
        self._file, self._lines = file, lines
        self._visited: set[int] = set()
        self.value: YamlValue = None
        self.fatal = False
        """Whether the text could not be read; its only fault is in ``faults``."""
        self.faults: list[Diagnostic] = []
        self.broken: set[str] = set()
        """Paths of faults, where the value is None."""
        self.keys: dict[str, Mark] = {}
        self.values: dict[str, Mark] = {}

    def fault(
        self, path: str, reason: str, *, at_key: bool = False, shows_line: bool = True
    ) -> Diagnostic:
        """Return a fault of the value at a JSON path, or of its key.

        What is missing has the place of the section that should contain it.

        Args:
            path: The JSON path.
            reason: What is wrong.
            at_key: Whether the key is wrong, not its value.
            shows_line: Whether the line may be quoted; it may hold a secret.
        """
        place = path
        while place and place not in self.values:
            place = place.rpartition(".")[0]
        if place == "$" != path:
            place = ""
        mark = (self.keys if at_key else self.values).get(place, Mark(1, 1))
        return self._fault_at(mark, path, reason, shows_line=shows_line and place == path)

    def _fault_at(
        self, mark: Mark, path: str, reason: str, *, shows_line: bool = True
    ) -> Diagnostic:
        """Return a fault as text, without the passwords of addresses.

        Args:
            mark: The place.
            path: The JSON path of the value.
            reason: What is wrong.
            shows_line: Whether to quote the line; it does not help where something is missing.
        """
        line, column = mark
        text = self._lines[line - 1] if shows_line and line <= len(self._lines) else ""
        fault = Diagnostic(
            file=self._file, line=line, column=column, path=dotted(path), reason=masked(reason)
        )
        lines = rendered(fault, text if len(text) <= MAX_LINE else "").lines
        return replace(fault, lines=tuple(map(masked, lines)))

    def refuse(self, mark: Mark, reason: str) -> "YamlDocument":
        """Add the fault for which the text cannot be read."""
        self.fatal = True
        self._add(mark, "$", reason)
        return self

    def refuse_syntax(self, error: yaml.YAMLError) -> "YamlDocument":
        """Add the fault at which PyYAML stopped."""
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        place = self._mark(mark)
        if isinstance(error, _TooDeepError):
            return self.refuse(place, f"expected at most {MAX_DEPTH} levels")
        start = self._mark(getattr(error, "context_mark", None) or mark)
        problem = getattr(error, "problem", None) or ""
        reason = next(reason for words, reason in _SYNTAX if words in problem)
        opening, here = (
            self._lines[line - 1][column - 1 : column] for line, column in (start, place)
        )
        if here == "\t":
            reason = "found a tab; indent with spaces"
        reason = reason.format(line=start.line, opening=opening, here=here)
        return self.refuse(place, f"no valid YAML: {reason}")

    def add(self, node: yaml.Node, path: str) -> YamlValue:
        """Return the value of a node at a JSON path, and keep its places and faults, in the order of the text."""
        mark, is_alias = self._enter(node)
        if is_alias:  # its node has the place of the anchor
            mark = self.keys.get(path, mark)
        self.values[path] = mark
        if is_alias:
            self._break(mark, path, "aliases are not supported; write the value out")
            return None
        if node.tag != _UNTAGGED:
            self._break(mark, path, "tags are not supported; write the value without")
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.add(item, f"{path}[{index}]") for index, item in enumerate(node.value)]
        assert isinstance(node, yaml.ScalarNode)  # noqa: S101 - the only node left
        if has_controls(node.value):
            self._break(mark, path, _CONTROLS_REFUSED)
        if path in self.broken:
            return None
        text: str = node.value
        return text if node.style else scalar(text)

    def _mapping(self, node: yaml.MappingNode, path: str) -> dict[str, YamlValue]:
        mapping: dict[str, YamlValue] = {}
        pairs: list[tuple[yaml.Node, yaml.Node]] = node.value
        for key, value in pairs:
            mark, is_alias = self._enter(key)
            if is_alias or not isinstance(key, yaml.ScalarNode) or has_controls(key.value):
                self._add(mark, path, "expected a plain word as key")
                continue
            place = member(path, key.value)
            if key.value in mapping:
                first = self.keys[place].line
                reason = f"duplicate key {show(key.value)}; the first is in line {first}"
                self._add(mark, place, reason)
                continue
            self.keys[place] = mark
            mapping[key.value] = self.add(value, place)
        return mapping

    def _enter(self, node: yaml.Node) -> tuple[Mark, bool]:
        """Return the place of a node, and whether it is an alias: one that was met before."""
        is_alias = id(node) in self._visited
        self._visited.add(id(node))
        return self._mark(node.start_mark), is_alias

    def _mark(self, mark: yaml.Mark | None) -> Mark:
        """Return a place of PyYAML's.

        libyaml puts the end of a text without a final line break into a line of its own.
        """
        if mark is None:
            return Mark(1, 1)
        if mark.line >= len(self._lines):
            return Mark(len(self._lines), len(self._lines[-1]) + 1)
        return Mark(mark.line + 1, mark.column + 1)

    def _break(self, mark: Mark, path: str, reason: str) -> None:
        """Add a fault that leaves its path without a value."""
        self.broken.add(path)
        self._add(mark, path, reason)

    def _add(self, mark: Mark, path: str, reason: str) -> None:
        self.faults.append(self._fault_at(mark, path, reason))


def dotted(path: str) -> str:
    """Return a JSON path as a key: ``hub.lease.default``; empty for the file itself."""
    return path.removeprefix("$").removeprefix(".")


def masked(text: str) -> str:
    """Return a line without the passwords of its addresses; columns stay."""
    return _WORD.sub(_masked_word, text)


def _masked_word(word: re.Match[str]) -> str:
    """Replace the text between the first ``://`` and the last ``@`` by asterisks."""
    scheme, separator, rest = word[0].partition("://")
    credentials, at, host = rest.rpartition("@")
    return f"{scheme}{separator}{'*' * len(credentials)}{at}{host}"


def has_controls(text: str) -> bool:
    """Return whether a text has control characters, line breaks or lone surrogates."""
    return _CONTROL.search(text) is not None


def scalar(text: str) -> bool | int | float | str | None:
    """Return the value of an unquoted scalar (YAML 1.2, core schema, decimal numbers only)."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _NUMBER.fullmatch(text) and abs(number := float(text)) != float("inf"):
        return number
    return text


def read(data: bytes, file: str = "") -> YamlDocument:
    """Read a YAML file; its faults are in the document.

    Args:
        data: UTF-8, with or without a byte order mark.
        file: Its name, for faults.
    """
    text = data.decode("utf-8-sig", "surrogateescape")  # an undecodable byte keeps its place
    document = YamlDocument(file, _BREAK.split(text))
    if len(text) > MAX_CHARACTERS:
        return document.refuse(Mark(1, 1), f"expected at most {MAX_CHARACTERS} characters")
    if character := _NOT_YAML.search(text):
        lines = _BREAK.split(text[: character.start()])
        place = Mark(len(lines), len(lines[-1]) + 1)
        return document.refuse(place, _character_fault(character[0]))
    try:
        node = yaml.compose(text, Loader=_Composing)
    except yaml.YAMLError as error:
        return document.refuse_syntax(error)
    document.value = None if node is None else document.add(node, "$")
    return document


def read_value(text: str) -> YamlDocument:
    """Read one value without a file around it: a JSON list or object, else a plain scalar."""
    if text.startswith(("[", "{")):
        return read(text.encode("utf-8", "surrogatepass"))  # JSON is flow YAML
    document = YamlDocument("", [text])
    if has_controls(text):
        return document.refuse(Mark(1, 1), _CONTROLS_REFUSED)
    document.value = scalar(text)
    return document


class _Composing(LOADER):  # type: ignore[misc,valid-type]  # either class
    """Bounds the depth before any recursion, and leaves the types of scalars to the walk."""

    _depth = 0

    def resolve(self, _kind: type, _value: str | None, _implicit: object) -> str:
        return _UNTAGGED

    def descend_resolver(self, parent: yaml.Node | None, _index: object) -> None:
        self._depth += 1
        if parent is not None and self._depth > MAX_DEPTH:
            raise _TooDeepError(problem_mark=parent.start_mark)

    def ascend_resolver(self) -> None:
        self._depth -= 1


class _TooDeepError(yaml.MarkedYAMLError):
    """The text has too many levels."""


def _character_fault(character: str) -> str:
    if "\ud800" <= character <= "\udfff":
        return "expected UTF-8 text"
    return f"the character U+{ord(character):04X} is not allowed"
