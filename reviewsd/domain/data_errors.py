"""Findings about an invalid file, with paths and reasons an operator can act on (data-model.md 5).

msgspec validates fast and stops at the first fault. When it refuses a value, ``explain`` walks the
decoded JSON along the same struct types and yields every fault with its path. A property test checks
that both agree.
"""

import datetime
import functools
import json
import math
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

from reviewsd.api.files import Diagnostic
from reviewsd.api.spelling import nearest
from reviewsd.domain.diagnostic_text import headline
from reviewsd.domain.member_names import similar_member

MAX_FINDINGS = 20
"""Findings that are shown; the others are counted (data-model.md 5)."""

END = r"(?![\s\S])"
"""The end of a string in patterns: "$" alone would match before a final newline."""

MISSING = "missing"
"""The reason of a finding about an absent required member."""

_MAX_SHOWN = 40  # characters of an offending value; a finding is one line


class DataError(Exception):
    """A file is invalid.

    Attributes:
        findings: The first ``MAX_FINDINGS`` faults in the order of the file.
        total: Number of faults; a part that was not explained counts as one.
        exact: Whether every part was explained.
    """

    def __init__(
        self, findings: tuple[Diagnostic, ...], total: int | None = None, *, exact: bool = True
    ) -> None:
        self.findings = findings[:MAX_FINDINGS]
        self.total = len(findings) if total is None else total
        self.exact = exact
        super().__init__("\n".join(self.lines()))

    @classmethod
    def of(cls, errors: "Sequence[DataError]") -> "DataError":
        """Merge the errors of several files."""
        findings = tuple(finding for error in errors for finding in error.findings)
        exact = all(error.exact for error in errors)
        return cls(findings, sum(error.total for error in errors), exact=exact)

    def lines(self) -> list[str]:
        """Return one line for each finding, then the number of the others."""
        lines = [headline(finding) for finding in self.findings]
        if self.total > len(lines):
            at_least = "" if self.exact else "at least "
            lines.append(f"... and {at_least}{self.total - len(lines):,} more")
        return lines


def show(value: object) -> str:
    """Return a JSON value shortened to one line, as findings quote it."""
    match value:
        case dict():
            return "object"
        case list():
            return "array"
        case float() if not math.isfinite(value):
            return str(value)
    text = msgspec.json.encode(value).decode()
    text = text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 3] + "..."
    if text.isprintable():
        return text
    # JSON does not escape DEL, C1 and line separators, which control a terminal.
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


def explain(
    value: object, kind: object, path: str = "$", example: str = ""
) -> Iterator[tuple[str, str]]:
    """Yield every fault of a decoded JSON value, as (JSON path, reason).

    Args:
        value: Result of ``json.decode``: dict, list, str, int, float, bool or None.
        kind: Expected type: a struct, or any annotation msgspec understands.
        path: The path of ``value`` itself.
        example: The end of the reason where ``value`` or an item of it has another type.
    """
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    bare = arguments[0] if origin is typing.Annotated else kind
    origin, arguments = typing.get_origin(bare), typing.get_args(bare)
    if origin in (typing.Union, types.UnionType) and (branch := _branch(value, arguments)):
        yield from explain(value, branch, path, example)
    elif isinstance(bare, type) and issubclass(bare, msgspec.Struct) and isinstance(value, dict):
        yield from _explain_struct(value, bare, path)
    elif origin in (tuple, list) and isinstance(value, list):
        if origin is tuple and ... not in arguments and len(arguments) != len(value):
            yield path, f"expected {len(arguments)} items, got {len(value)}"
        for index, item in enumerate(value):
            yield from explain(item, arguments[0], f"{path}[{index}]", example)
    elif origin is dict and isinstance(value, dict):
        for key, item in value.items():
            if (reason := _leaf_fault(key, arguments[0])) is not None:
                yield member(path, key), f"name {reason}"
            yield from explain(item, arguments[1], member(path, key), example)
    elif (reason := _leaf_fault(value, kind)) is not None:
        yield path, reason if _has_type(value, kind) else f"{reason}{example}"


def _explain_struct(
    value: dict[str, object], kind: type[msgspec.Struct], path: str
) -> Iterator[tuple[str, str]]:
    fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    unknown = [name for name in value if name not in fields]
    refuses_unknown = kind.__struct_config__.forbid_unknown_fields
    for name, field in fields.items():
        hint = _hints(kind)[field.name]
        example = f"; for example: {name}: {text}" if (text := example_of(hint)) else ""
        if name in value:
            yield from explain(value[name], hint, member(path, name), example)
        elif field.required:
            other = "" if refuses_unknown else _rename(value, unknown, name)
            yield member(path, name), f"{MISSING}{other or example}"
    for name in unknown if refuses_unknown else ():
        hint = nearest(name, fields) or f"; there are: {', '.join(fields)}"
        yield member(path, name), f"unknown key {show(name)}{hint}"


def _rename(value: Mapping[str, object], unknown: Iterable[str], name: str) -> str:
    """Return the end of the reason where a missing member is there under another name, or ""."""
    if value.get("closed") is True and name in {"opens", "closes"}:
        return "; leave out the days that are closed"
    other = next((other for other in unknown if similar_member(other, (name,))), None)
    return "" if other is None else f"; rename {show(other)} to {show(name)}"


def spelled(
    pattern: str,
    expected: str,
    hint: Callable[[str], str] | None = None,
    schema: dict[str, object] | None = None,
) -> msgspec.Meta:
    """Return the rule that a string has a grammar.

    Args:
        pattern: The grammar of the whole string, for Python and ECMA alike.
        expected: What findings call it.
        hint: Returns what to do about a value that has it not.
        schema: Further members of its JSON Schema.
    """
    extra: dict[str, object] = {"expected": expected}
    if hint is not None:
        extra["hint"] = hint
    return msgspec.Meta(pattern=f"^{pattern}{END}", extra=extra, extra_json_schema=schema)


def example(text: str) -> msgspec.Meta:
    """Return a value as its file has it, which is shown where another type is found."""
    return msgspec.Meta(extra={"example": text})


@functools.cache
def example_of(kind: object) -> str:
    """Return a value of a type as its file has it, or "".

    It is ``extra["example"]`` of the type or, of a section of the configuration, a member with its default.
    """
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return next(filter(None, map(example_of, arguments)), "")
    metas = arguments[1:] if origin is typing.Annotated else ()
    for meta in metas:
        if isinstance(meta, msgspec.Meta) and meta.extra and "example" in meta.extra:
            return str(meta.extra["example"])
    if not (isinstance(kind, type) and issubclass(kind, msgspec.Struct)):
        return ""
    if not kind.__struct_config__.forbid_unknown_fields:
        return ""  # the owner's data: its members have no defaults to show
    for field in msgspec.structs.fields(kind):
        text = example_of(_hints(kind)[field.name])
        if not text and isinstance(field.default, bool | int | float | str):
            text = msgspec.json.encode(field.default).decode().strip('"')
        if text:
            return f"{{{field.encode_name}: {text}}}"
    return ""


def member(path: str, name: str) -> str:
    """Return the path of a member; a long name or one that is no identifier is quoted and shortened."""
    plain = len(name) <= _MAX_SHOWN and name.isidentifier()
    return f"{path}.{name}" if plain else f"{path}[{show(name)}]"


def _branch(value: object, branches: tuple[object, ...]) -> object | None:
    """Return the alternative of a union that has the value's JSON type."""
    return next((branch for branch in branches if _has_type(value, branch)), None)


def _has_type(value: object, kind: object) -> bool:
    name, names = _json_name(value), _json_names(kind)
    return name in names or (name == "integer" and "number" in names)


def _leaf_fault(value: object, kind: object) -> str | None:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError as refusal:
        if not _has_type(value, kind):
            return f"expected {' or '.join(_json_names(kind))}, got {_typed(value)}"
        return _rule_broken(value, kind) or f"{refusal}"
    return None


def _rule_broken(value: object, kind: object) -> str | None:
    """Return the reason why a value of the right JSON type breaks a rule of its type."""
    metas = [part for part in typing.get_args(kind)[1:] if isinstance(part, msgspec.Meta)]
    bare = typing.get_args(kind)[0] if metas else kind
    extra = next((m.extra for m in metas if m.extra and "expected" in m.extra), {})
    expected = extra.get("expected")
    if expected is None and bare is datetime.date:
        expected = "YYYY-MM-DD"
    if expected is None and bare is datetime.datetime:
        expected = "RFC 3339 date and time"
    if expected is None and typing.get_origin(bare) is typing.Literal:
        expected = "one of " + ", ".join(show(choice) for choice in typing.get_args(bare))
    if expected is not None:
        hint = extra["hint"](value) if "hint" in extra else ""
        return f"expected {expected}, got {show(value)}{hint}"
    for meta in metas:
        if isinstance(value, str):
            if value == "" and meta.min_length == 1:
                return "must not be empty"
            return (
                f"expected {meta.min_length or 0}..{meta.max_length} characters, got {len(value)}"
            )
        if meta.le is None:
            return f"expected {meta.ge} or more, got {show(value)}"
        return f"expected {meta.ge}..{meta.le}, got {show(value)}"
    return None


_JSON_NAMES: dict[object, str] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    datetime.date: "string",
    datetime.datetime: "string",
    type(None): "null",
    dict: "object",
    list: "array",
    tuple: "array",
    typing.Literal: "string",
}


def _json_names(kind: object) -> tuple[str, ...]:
    """Return the names of the JSON types that an annotation accepts."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return _json_names(arguments[0])
    if origin in (typing.Union, types.UnionType):
        return tuple(name for branch in arguments for name in _json_names(branch))
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return ("object",)
    if kind is msgspec.UnsetType:  # the type of absent members
        return ()
    return (_JSON_NAMES[origin or kind],)


def _json_name(value: object) -> str:
    return _JSON_NAMES[type(value)]


def _typed(value: object) -> str:
    """Return the type of a value, followed by the value if it is a scalar."""
    name = _json_name(value)
    return name if name in {"object", "array", "null"} else f"{name} {show(value)}"


@functools.cache
def _hints(kind: type[msgspec.Struct]) -> dict[str, object]:
    return typing.get_type_hints(kind, include_extras=True)
