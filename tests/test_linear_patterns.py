"""Each regular expression takes time in proportion to its input, even a hostile one.

The inputs are derived from each pattern of the product: 28,000 zeros in one header field once took 55 s, and
no other client was answered meanwhile.
"""

import ast
import importlib
import itertools
import re
import typing
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from re import _parser  # type: ignore[attr-defined]  # there is no other way to read a pattern

import msgspec
import pytest

from tests.support.growth import Making, Thunk, assert_linear, cpu

ROOT = Path(__file__).parent.parent
SOURCES = {
    ".".join(path.relative_to(folder).with_suffix("").parts): path
    for folder in (ROOT, ROOT / "cli")
    for package in ("reviewsd", "reviewsctl")
    for path in sorted((folder / package).rglob("*.py"))
}

SCREENED = 4096  # bytes of a first look
QUICK = 0.001  # seconds for these: ten times what a linear pattern takes
COMMON = "aZ0 \t\n\"'\\/:@.,;-_%#?&=+<>[]{}()*!~|★"
"""One character of each kind that a pattern may distinguish."""
ENDS = ("", "\0", "x", "\n")
MANY = 64  # repetitions; a repeat without a bound or with a larger one is attacked

CALLED = {"fullmatch", "match", "search", "findall", "sub", "split"}
"""Methods of patterns; a new one is added to ``asked``."""

OF_OUR_OWN = {
    "reviewsctl.files.unit_text",
    "reviewsd.store.postgres",
    "reviewsd.domain.data_errors",
}
"""Modules with patterns that match nothing but texts of the program, or are those of their callers."""

METHODS = {
    "reviewsd.analysis.text:_TOKEN": {"split"},
    "reviewsd.analysis.text:_ASCII_TOKEN": {"split"},
    "reviewsd.analysis.text:_ELIDED_TOKEN": {"split"},
    "reviewsd.domain.parameters:_INTEGER": {"fullmatch"},
    "reviewsd.http1.preconditions:_HTTP_DATES": {"fullmatch"},
}
"""The methods of patterns that are not called by their name."""

Attack = tuple[str, str, str]
"""The beginning of an input, its repeated part, and its end."""

BY_HAND: list[tuple[str, Attack]] = [
    ("reviewsd.analysis.text:_TOKEN", ("", "dr.", "")),
    ("reviewsd.analysis.text:_ASCII_TOKEN", ("", "dr.", "")),
    ("reviewsd.analysis.text:_ELIDED_TOKEN", ("", "a'", "")),
    ("reviewsd.domain.callback:_NAME", ("a", "-", "a!")),
    ("reviewsd.domain.callback:_NAME", ("", "a" * 63 + ".", "!")),
    ("reviewsd.domain.callback:_TARGET", ("/", "a%20", "%")),
    ("reviewsd.domain.callback:_TARGET", ("/", "%2", "")),
    ("reviewsd.http1.preconditions:_TAGS", ("", 'W/"a"', '"')),
    ("reviewsd.http1.preconditions:_TAG_LIST", ("", '"a" , ', "x")),
    ("reviewsd.domain.reviews:Contact", ("https://a", "%41", "%")),
    ("reviewsd.domain.reviews:_unfit", ("", "%4", "1")),
    ("reviewsd.domain.strict_json:_MALFORMED", ("JSON is malformed: ", " (byte 1", "x")),
    ("reviewsd.domain.strict_json:_NAME", ('"', '\\"', "")),
    ("reviewsd.domain.strict_json:_NAME", ('"a"', " ", "x")),
    ("reviewsd.domain.strict_json:_STRING", ("", '\\"', "")),
    ("reviewsd.domain.strict_json:_STRING", ("", '\\\n"', "")),
    ("reviewsd.config.show:_PARAMETER", ("", "&password=", "")),
    ("reviewsd.http1.head:_AUTHORITY", ("", "a%20", "!")),
    ("reviewsd.http1.head:_FIELDS", ("", "a: b\r\n", "x")),
    ("reviewsd.http1.head:_READ", ("", "\nif-none-matc", "")),
    ("reviewsd.http1.usual_head:_USUAL", ("GET / HTTP/1.1\r\n", "a: b\r\n", "x")),
    ("reviewsd.http1.usual_head:_USUAL", ("GET / HTTP/1.1\r\n", "accept-encodin: b\r\n", "x")),
    ("reviewsd.http1.usual_head:_USUAL", ("GET / HTTP/1.1\r\n", "x-forwarded-fo: b\r\n", "x")),
    ("reviewsd.http1.proxy_header:_LINE", ("PROXY TCP4 1.1.1.1 2.2.2.2 ", "1", "x")),
    ("reviewsd.config.yaml_source:_WORD", ("", "a ", "")),
    ("reviewsctl.files.folders:_DRAFT", (".", "-0", "x")),
    ("reviewsctl.files.folders:_DRAFT", (".a-", "0", "x")),
    ("reviewsctl.importing.ratings:_NUMBER", ("5/5", " ", "x")),
    ("reviewsctl.importing.ratings:_NUMBER", ("5/5.", "0", "x")),
    ("reviewsctl.importing.scales:_IN_HEADING", ("", "of ", "")),
    ("reviewsctl.importing.times:_ZONE", ("", "+01", "x")),
    ("reviewsctl.importing.times:_ZONE", ("", "GMT", "x")),
]
"""Inputs that are not derived: parts of a repeated group, or of two alternatives."""


def methods_by_pattern() -> dict[str, set[str]]:
    """The patterns of the product, and the methods that are called on each."""
    methods: dict[str, set[str]] = {}
    for module, path in SOURCES.items():
        text = path.read_text()
        if module in OF_OUR_OWN or not re.search(r"re\.|pattern=|spelled\(", text):
            continue
        lines, tree = text.splitlines(), ast.parse(text)
        names = {
            id(node): lines[statement.lineno - 1].partition(" ")[0].rstrip(":")
            for statement in tree.body
            if isinstance(statement, ast.Assign | ast.AnnAssign)
            for node in ast.walk(statement)
        }
        used: dict[str, set[str]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                if node.attr in CALLED:
                    used.setdefault(node.value.id, set()).add(node.attr)
            elif isinstance(node, ast.Call) and (makes := _makes_pattern(node)):
                name = names.get(id(node), f"line {node.lineno}")
                methods[f"{module}:{name}"] = {"search"} if makes == "rule" else set()
        for name in methods:
            if name.startswith(f"{module}:"):
                methods[name] |= used.get(name.partition(":")[2], set())
    return {name: several | METHODS.get(name, set()) for name, several in methods.items()}


def _makes_pattern(call: ast.Call) -> str:
    """Return whether a call makes a pattern: a function of ``re``, or a rule of msgspec's or ours."""
    function = ast.unparse(call.func)
    if function.startswith("re.") and function != "re.escape":
        return "expression"
    has_pattern = any(keyword.arg == "pattern" for keyword in call.keywords)
    return "rule" if function == "spelled" or has_pattern else ""


PATTERNS = methods_by_pattern()


def patterns_of(name: str) -> list[re.Pattern[typing.Any]]:
    """The pattern of a module, or the patterns."""
    module, _, variable = name.partition(":")
    value = getattr(importlib.import_module(module), variable)
    if isinstance(value, re.Pattern):
        return [value]
    if isinstance(value, tuple):
        return list(value)
    metas = [meta for meta in typing.get_args(value) if isinstance(meta, msgspec.Meta)]
    return [re.compile(meta.pattern) for meta in metas if meta.pattern is not None]


# Attacks of a pattern -----------------------------------------------------------------------------

Tokens = Sequence[tuple[typing.Any, typing.Any]]
"""A parsed pattern: operations of ``re`` with their arguments."""


def texts(tokens: Tokens) -> list[str]:
    """Texts that the tokens match, with one alternative at a time; the plainest first."""
    parts = [
        _options(op, arg)[: 1 if str(op) == "IN" and len(tokens) > 1 else 12] for op, arg in tokens
    ]
    plain = [part[0] for part in parts]
    several = [
        "".join((*plain[:at], option, *plain[at + 1 :]))
        for at, part in enumerate(parts)
        for option in part[1:]
    ]
    return list(dict.fromkeys(["".join(plain), *several]))


def _options(op: object, arg: typing.Any) -> list[str]:
    match str(op):
        case "LITERAL":
            return [chr(arg)]
        case "NOT_LITERAL":
            return [character for character in COMMON if ord(character) != arg]
        case "ANY":
            return ["a"]
        case "IN":
            return _members(arg)
        case "BRANCH":
            return sorted(itertools.chain(*map(texts, arg[1])), key=len)
        case "SUBPATTERN":
            return texts(arg[-1])
        case "ATOMIC_GROUP":
            return texts(arg)
        case "ASSERT" if arg[0] < 0:  # looks behind
            return texts(arg[1])
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, _, body = arg
            return [text * least for text in texts(body)] if least else ["", *texts(body)]
    return [""]


def _members(items: Tokens) -> list[str]:
    """Return some characters of a class."""
    negated = str(items[0][0]) == "NEGATE"
    ends = {"LITERAL": lambda arg: (arg, arg), "RANGE": lambda arg: arg}
    ranges = [ends[str(op)](arg) for op, arg in items if str(op) in ends]
    kinds = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}
    classes = [
        kinds[kind].upper() if "NOT" in parts else kinds[kind]
        for op, arg in items
        if str(op) == "CATEGORY"
        for parts in [str(arg).split("_")]
        for kind in parts[-1:]
    ]
    return [
        character
        for character in (*COMMON, *(chr(first) for first, _ in ranges), "\0")
        if negated
        != (
            any(first <= ord(character) <= last for first, last in ranges)
            or any(re.match(kind, character) for kind in classes)
        )
    ]


def repeats(
    tokens: Tokens, begins: Iterable[str] = ("",)
) -> Iterator[tuple[list[str], list[str], str]]:
    """Yield texts that reach a repeat, texts of its body, and a text of what follows it."""
    for at, (op, arg) in enumerate(tokens):
        reached = [begin + text for begin in begins for text in texts(tokens[:at])][:6]
        match str(op):
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                if arg[1] > MANY:
                    yield reached, texts(arg[2]), texts(tokens[at + 1 :])[0]
                yield from repeats(arg[2], reached)
            case "BRANCH":
                for branch in arg[1]:
                    yield from repeats(branch, reached)
            case "SUBPATTERN":
                yield from repeats(arg[-1], reached)
            case "ATOMIC_GROUP":
                yield from repeats(arg, reached)
            case "ASSERT" | "ASSERT_NOT":
                yield from repeats(arg[1], reached)


def excluded(tokens: Tokens) -> set[str]:
    """Return the characters that classes of the pattern exclude."""
    characters = set()
    for op, arg in tokens:
        if str(op) == "IN" and str(arg[0][0]) == "NEGATE":
            characters |= {chr(item) for kind, item in arg if str(kind) == "LITERAL"}
        for part in arg if isinstance(arg, tuple) else (arg,):
            for inner in part if isinstance(part, list) else (part,):
                if isinstance(inner, _parser.SubPattern):
                    characters |= excluded(inner)
    return characters


def attacks(pattern: re.Pattern[typing.Any]) -> Iterator[Attack]:
    """Yield inputs that reach each repeat and go on with what it repeats, and a bit more or less."""
    tokens = _parser.parse(pattern.pattern, pattern.flags)
    pairs = [("", text) for text in texts(tokens)]
    begins = {"": None}
    for reached, bodies, after in repeats(tokens):
        reached.append(reached[0] + bodies[0])
        begins |= dict.fromkeys(reached)
        pairs += itertools.product(reached, (*bodies, after, bodies[0] + after))
        pairs += [("", text) for text in reached]
    pairs += [(begin, more) for begin, pump in pairs for more in (pump[:-1], f"{pump}\0")]
    stops = sorted(excluded(tokens))[:4]
    ends = (*ENDS, *stops, *(f"{stop}\n" for stop in stops))
    for begin, pump in dict.fromkeys(pairs):
        if pump:
            yield from ((begin, pump, end) for end in ends)
    for begin, character in itertools.product(begins, COMMON):
        yield begin, character, "\0"


def asked(pattern: re.Pattern[typing.Any], method: str, attack: Attack) -> Making:
    """The pattern at its work."""
    begin, pump, end = attack
    binary = isinstance(pattern.pattern, bytes)

    def making(size: int) -> Thunk:
        text: typing.Any = begin + pump * (size // len(pump)) + end
        if binary:
            text = text.encode(errors="replace")
        work = getattr(pattern, method)
        return (
            (lambda: work(b"" if binary else "", text)) if method == "sub" else lambda: work(text)
        )

    return making


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_takes_time_in_proportion(name: str) -> None:
    """Attacks by hand are measured; those that are derived are measured where a first look is slow."""
    for pattern, method in itertools.product(patterns_of(name), PATTERNS[name]):
        for listed, attack in BY_HAND:
            if listed == name:
                assert_linear(asked(pattern, method, attack))
        for attack in attacks(pattern):
            making = asked(pattern, method, attack)
            # what doubles with each byte would never come back
            assert cpu(making(20), 1) < QUICK or cpu(making(20)) < QUICK, attack
            if cpu(making(SCREENED), 1) > QUICK:
                assert_linear(making)


def test_every_pattern_is_found_with_its_use() -> None:
    assert [] == [name for name, methods in PATTERNS.items() if "line" in name or not methods]
    assert set(METHODS) | {name for name, _ in BY_HAND} <= set(PATTERNS)
