"""Each regular expression takes time in proportion to its input, even a hostile one.

Each one of the product stands in ``PATTERNS`` with inputs made to hurt it: 28,000 zeros in one header
field once took 55 s, and no other client was answered meanwhile.
"""

import ast
import importlib
import itertools
import re
import typing
from pathlib import Path

import msgspec
import pytest

from tests.support.growth import Making, Thunk, assert_linear, cpu

ROOT = Path(__file__).parent.parent
SOURCES = {
    ".".join(path.relative_to(folder).with_suffix("").parts): path
    for folder in (ROOT, ROOT / "cli")
    for package in ("reviewsd", "reviewsctl")
    for path in (folder / package).rglob("*.py")
}

SCREENED = 2048  # bytes of a first look
QUICK = 0.001  # seconds for these: twenty times what a linear pattern takes
COMMON = "aZ0 \t\n\"'\\/:@.,;-_%#?&=+<>[]{}()*!~|★"
"""One character of each kind that a pattern may distinguish."""

FULL, MATCH, SEARCH, FIND, SUB, SPLIT = "fullmatch", "match", "search", "findall", "sub", "split"

Attack = tuple[str, str, str]
"""The beginning of an input, its repeated part, and its end."""

_TOKENS: tuple[str, *tuple[Attack, ...]] = (
    SPLIT,
    ("", "a'", ""),
    ("", "1.", ""),
    ("", "-", "x"),
    ("a", "'a", "'"),
    ("", "dr.", ""),
)

PATTERNS: dict[str, tuple[str, *tuple[Attack, ...]]] = {
    "reviewsd.analysis.text:_TOKEN": _TOKENS,
    "reviewsd.analysis.text:_ASCII_TOKEN": _TOKENS,
    "reviewsd.analysis.text:_ELIDED_TOKEN": (SPLIT, ("", "a'", ""), ("a", "'", "'a")),
    "reviewsd.config.rules:_IPV6": (MATCH, ("http://[", "0", "x")),
    "reviewsd.domain.callback:_BRACKETED": (FULL, ("[::1]:", ":", "\n"), ("[", ":", "x")),
    "reviewsd.domain.callback:_DIVIDED": (FULL, ("https://", ":", "?\n"), ("https://", "/", "\n")),
    "reviewsd.domain.callback:_NAME": (
        FULL,
        ("", "a.", "!"),
        ("a", "-", "a!"),
        ("", "a" * 63 + ".", "!"),
    ),
    "reviewsd.domain.callback:_NUMBER": (FULL, ("0x", "f", "g")),
    "reviewsd.domain.callback:_PORT": (FULL, (":1", "0", "x")),
    "reviewsd.domain.callback:_STORED": (FULL, ("https://a:1", "0", "x"), ("https://a/", "a", " ")),
    "reviewsd.domain.callback:_TARGET": (FULL, ("/", "a%20", "%"), ("/", "%2", "")),
    "reviewsd.domain.callback:_VISIBLE": (FULL, ("", "a", " ")),
    "reviewsd.domain.clients:_HOP": (FULL, ("[", ":", "]:x"), ("", "1.", ":x")),
    "reviewsd.api.texts:_ULID": (FULL, ("0", "A", "I")),
    "reviewsd.api.texts:_nameless": (FULL, ("a ", "a", " "), ("a a", " user", "")),
    "reviewsd.api.texts:_word": (FIND, ("", "a", " "), ("", "a ", "")),
    "reviewsd.api.texts:_UNPRINTABLE": (SUB, ("", "\x1b[", "")),
    "reviewsd.domain.lint:_ULID": (FULL, ("0", "A", "I")),
    "reviewsd.domain.reviews:LanguageTag": (SEARCH, ("", "-a", "_"), ("en-", "a", "_")),
    "reviewsd.domain.insights:YearMonth": (SEARCH, ("2025-", "0", "1")),
    "reviewsd.domain.json_file:_OPENING": (MATCH, ("", " ", "x")),
    "reviewsd.domain.dataset:_SEPARATOR": (MATCH, ("", " ,", "x")),
    "reviewsd.domain.json_location:_BLANK": (MATCH, ("", " \n", "x")),
    "reviewsd.domain.diagnostic_text:_NOT_TAB": (SUB, ("", "a\t", "")),
    "reviewsd.domain.json_location:_STEP": (
        MATCH,
        ('["', "[", ""),
        (".", "a", "["),
        ("[", "0", "x"),
    ),
    "reviewsd.domain.near_misses:_CAMEL": (SUB, ("", "aB", "")),
    "reviewsd.domain.near_misses:_WORD": (FIND, ("", "a", ""), ("", "a_", "")),
    "reviewsd.domain.parameters:_BROKEN_ESCAPE": (SEARCH, ("", "%20", "%"), ("", "a", "")),
    "reviewsd.domain.parameters:_COLOR": (FULL, ("", "0", "")),
    "reviewsd.domain.parameters:_INTEGER": (FULL, ("1.", "0", "x"), ("-", "1", ".")),
    "reviewsd.domain.issues:NUMBER": (FULL, ("1.", "1", "e"), ("1e", "1", "x")),
    "reviewsd.http1.preconditions:_HTTP_DATES": (FULL, ("Sun, ", "0", "x"), ("Sun ", " ", "x")),
    "reviewsd.http1.preconditions:_TAGS": (FIND, ('"', "a", ""), ("", 'W/"a"', '"')),
    "reviewsd.http1.preconditions:_TAG_LIST": (
        FULL,
        ("", " ,", "x"),
        ("", '"a" , ', "x"),
        ("", '""', ""),
    ),
    "reviewsd.domain.search_query:_DATE": (FULL, ("2025-01-", "0", "")),
    "reviewsd.domain.search_query:_ID": (FULL, ("", "a", " ")),
    "reviewsd.domain.reviews:ClockTime": (SEARCH, ("00:", "0", "")),
    "reviewsd.domain.reviews:_clock": (MATCH, ("00:", "0", "")),
    "reviewsd.domain.reviews:Contact": (
        SEARCH,
        ("", "a", " "),
        ("a@", "a", " "),
        ("", "a@", ""),
        ("", "https://", ""),
        ("https://a", "%41", "%"),
        ("https://", "a", " "),
        ("https://a#", "a", "#"),
    ),
    "reviewsd.domain.reviews:HttpsUrl": (
        SEARCH,
        ("http", "s", "://"),
        ("", "https://", ""),
        ("https://a", "%41", "%"),
        ("https://", "a", " "),
        ("https://a#", "a", "#"),
    ),
    "reviewsd.domain.reviews:LocationId": (SEARCH, ("a", "a-", "a/")),
    "reviewsd.domain.reviews:ReviewId": (SEARCH, ("", "a", " ")),
    "reviewsd.domain.reviews:Url": (
        SEARCH,
        ("http", "s", "://"),
        ("", "https://", ""),
        ("https://a", "%41", "%"),
        ("https://", "a", " "),
        ("https://a#", "a", "#"),
    ),
    "reviewsd.domain.reviews:_host": (MATCH, ("http://", "a", " "), ("http://a:", "1", "x")),
    "reviewsd.domain.reviews:_language_tag": (MATCH, ("", "-a", "_"), ("en-", "a", "_")),
    "reviewsd.domain.reviews:_unfit": (SEARCH, ("", "#", ""), ("#", "a", ""), ("", "%4", "1")),
    "reviewsd.domain.strict_json:_AFTER": (MATCH, ("", " ", "x")),
    "reviewsd.domain.strict_json:_MALFORMED": (FULL, ("JSON is malformed: ", " (byte 1", "x")),
    "reviewsd.domain.strict_json:_NAME": (
        MATCH,
        ("", " {,", "x"),
        ('"', '\\"', ""),
        ('"a"', " ", "x"),
    ),
    "reviewsd.domain.strict_json:_STRING": (
        SUB,
        ("", '\\"', ""),
        ("", '"', ""),
        ('"', "\\", ""),
        ("", '\\\n"', ""),
    ),
    "reviewsd.domain.strict_json:_UNQUOTED": (MATCH, ('":1', " ", "-"), ('":', " ", "x")),
    "reviewsd.domain.strict_json:_WRONG_END": (
        SEARCH,
        ("", "”", '"'),
        ("”", " ", "x"),
        ("”", "a", '"'),
        ("", "” ", ","),
    ),
    "reviewsd.publish.atom:_ILLEGAL": (SUB, ("", "\0", "")),
    "reviewsd.publish.openapi.document:_EMAIL": (
        FULL,
        ("a@", "a.", "@"),
        ("a@", "-", "."),
        ("", "%", ""),
    ),
    "reviewsd.publish.openapi.document:_URI": (FULL, ("http://", "a", " ")),
    "reviewsd.config.node:_NAME": (FULL, ("a", "-", "!")),
    "reviewsd.config.syntax:_AUTHORITY": (FULL, ("a", ".", "!"), ("a", "a", ":x"), ("[", ":", "!")),
    "reviewsd.config.syntax:_DATABASE": (
        FULL,
        ("postgresql://", "a,", "!"),
        ("postgresql://", ",", "!"),
        ("postgresql://a:", "a", "/"),
        ("postgresql://", "a", "@"),
        ("postgresql://h/d?", "a", " "),
    ),
    "reviewsd.config.syntax:_TCP": (FULL, ("tcp:1:", ":", "\n")),
    "reviewsd.config.syntax:_URL": (
        FULL,
        ("a://", "a", "\n"),
        ("a://", "/", "#"),
        ("", "a", "://"),
    ),
    "reviewsd.mcp.arguments:_TIME": (
        FULL,
        ("2025-01-31T10:00:00.", "0", "x"),
        ("2025-01-31T10:00", ":00", ""),
    ),
    "reviewsd.mcp.arguments:_ZERO": (FULL, ("", "0", "x"), ("0.", "0", "x")),
    "reviewsd.mcp.jsonrpc:_INTEGER": (FULL, ("-", "1", "x")),
    "reviewsd.runtime.systemd:_INTERVAL": (FULL, ("", "1", "x")),
    "reviewsd.config.schema:Accent": (SEARCH, ("#", "a", "")),
    "reviewsd.config.schema:Authority": (SEARCH, ("", "a.", "!"), ("a", "-", "!")),
    "reviewsd.config.schema:TargetName": (SEARCH, ("", "a", "!")),
    "reviewsd.config.source_schema:Percentage": (SEARCH, ("", "1", "")),
    "reviewsd.config.source_schema:Interval": (SEARCH, ("1", "0", "m"), ("", "1", "")),
    "reviewsd.config.source_schema:SourceName": (SEARCH, ("", "a", ""), ("a", "-", "!")),
    "reviewsd.config.source_rules:_INTERVAL": (FULL, ("1", "0", "m"), ("", "1", "")),
    "reviewsd.config.source_rules:_RESOURCE": (
        FULL,
        ("accounts/", "a", "/"),
        ("locations/", "1", "!"),
    ),
    "reviewsd.config.show:_QUERY": (SUB, ("", "?", ""), ("?", "a", "")),
    "reviewsd.config.show:_PARAMETER": (SUB, ("", "&password=", ""), ("?password=", "a", "")),
    "reviewsd.config.show:_PASSWORD": (SUB, ("", "://:", ""), ("://a:", ":", ""), ("://", "a", "")),
    "reviewsd.store.keys:_HEXADECIMAL": (FULL, ("", "0", "x")),
    "reviewsd.admin.app:_PATH": (FULL, ("", "a", "!")),
    "reviewsd.http1.body:_SIZE": (FULL, ("0", " ", "x"), ("0;", "a", "\n")),
    "reviewsd.http1.body:_TRAILER": (FULL, ("", "a", ""), ("a:", " ", "\n")),
    "reviewsd.pages.text:_UNPRINTABLE": (SUB, ("", "\x00", "")),
    "reviewsd.pages.text:_MARKUP": (SEARCH, ("", "a", ""), ("", " ", "a"), ("a", " ", "")),
    "reviewsd.http1.head:_ABSOLUTE": (FULL, ("http://", "a", "#"), ("http://", "/", "#")),
    "reviewsd.http1.head:_AUTHORITY": (FULL, ("", "a%20", "!"), ("", "a", "!"), ("[", ":", "!")),
    "reviewsd.http1.head:_DIGITS": (FULL, ("", "0", "x")),
    "reviewsd.http1.head:_FIELDS": (FULL, ("", "a: b\r\n", "x"), ("", "a", ""), ("a:", " ", "")),
    "reviewsd.http1.head:_LINE": (
        FULL,
        ("", "A", ""),
        ("GET ", "a", " "),
        ("GET ", "a", " HTTP/1.2"),
    ),
    "reviewsd.http1.head:_UNESCAPED": (
        FULL,
        ("A /", " HTTP/1.", ""),
        ("A /", " ", ""),
        ("", "A", "b"),
        ("A /", " HTTP/1.1", "x"),
    ),
    "reviewsd.http1.head:_READ": (
        FIND,
        ("", "\naccept:", ""),
        ("\naccept:", " ", "x"),
        ("", "\nif-none-matc", ""),
    ),
    "reviewsd.http1.usual_head:_USUAL": (
        MATCH,
        ("GET /", "a", " HTTP/1.1\r\n"),
        ("GET / HTTP/1.1\r\n", "a: b\r\n", "x"),
        ("GET / HTTP/1.1\r\n", "accept-encodin: b\r\n", "x"),
        ("GET / HTTP/1.1\r\n", "x-forwarded-fo: b\r\n", "x"),
        ("GET / HTTP/1.1\r\naccept:", " ", "x\r"),
        ("GET / HTTP/1.1\r\nhost:", "a", ":x"),
        ("GET / HTTP/1.1\r\n", "a", ""),
    ),
    "reviewsd.http1.negotiation:_QUALITY": (FULL, ("0.", "0", "x")),
    "reviewsd.http1.hosts:_AUTHORITY": (FULL, ("", "a", "!"), ("[", ":", "!")),
    "reviewsd.http1.hosts:_ORIGIN": (FULL, ("http://", "a", ":"), ("http://[", ":", "!")),
    "reviewsd.web.index:_BROKEN_ESCAPE": (SEARCH, ("", "%20", "%")),
    "reviewsd.websub.outbound.response_parser:_CHUNK": (FULL, ("0", " ", "x"), ("0;", "a", "\n")),
    "reviewsd.websub.outbound.response_parser:_FIELD": (FULL, ("", "a", ""), ("a:", " ", "\n")),
    "reviewsd.websub.outbound.response_parser:_LENGTH": (FULL, ("", "0", "x")),
    "reviewsd.websub.outbound.response_parser:_STATUS": (FULL, ("HTTP/1.1 200 ", " ", "\n")),
    "reviewsd.websub.requests:_BROKEN_ESCAPE": (SEARCH, ("", "%20", "%")),
    "reviewsd.websub.requests:_DECIMAL": (FULL, ("", "0", "x"), ("0", "1", "x"), ("", "0", "1x")),
    "reviewsd.websub.requests:_RELATIVE": (FULL, ("", "../", "!")),
    "reviewsd.http1.proxy_header:_LINE": (
        FULL,
        ("PROXY TCP6 ", ":", "x"),
        ("PROXY TCP4 1.1.1.1 2.2.2.2 ", "1", "x"),
    ),
    "reviewsd.config.yaml_source:_BREAK": (SPLIT, ("", "\r\n", ""), ("", "\r", "")),
    "reviewsd.config.yaml_source:_CONTROL": (SEARCH, ("", "a", "")),
    "reviewsd.config.yaml_source:_INTEGER": (FULL, ("-", "1", "x")),
    "reviewsd.config.yaml_source:_NOT_YAML": (SEARCH, ("", "a", "")),
    "reviewsd.config.yaml_source:_NUMBER": (
        FULL,
        ("1.", "1", "e"),
        ("", "1", "x"),
        ("1e", "1", "x"),
    ),
    "reviewsd.config.yaml_source:_WORD": (SUB, ("", "a ", ""), ("", "://", "")),
    "reviewsctl.doctor.public:_LINK": (
        FIND,
        ("", "<", ""),
        ("", "<>", " "),
        ("<>", " ", "x"),
        ("<>;rel=", "a", ""),
    ),
    "reviewsctl.importing.readers.csv_file:_ODD": (FIND, ("", "aÄ", ""), ("", "a", "")),
    "reviewsctl.importing.readers.csv_file:_BREAK": (SPLIT, ("", "\r\n", "")),
    "reviewsctl.importing.platforms.google:_PLACE": (
        SEARCH,
        ("", "locations/", ""),
        ("locations/", "a", "/reviews/"),
        ("", "locations/a", ""),
    ),
    "reviewsctl.importing.business:_ID": (FULL, ("a", "a-", "a/")),
    "reviewsctl.importing.business:_WORD": (FIND, ("", "a", "/"), ("", "a/", "")),
    "reviewsctl.files.folders:_DRAFT": (FULL, (".", "-0", "x"), (".a-", "0", "x")),
    "reviewsctl.importing.history:_NAME": (FULL, ("reviews-2026", "0", "x")),
    "reviewsctl.importing.exports:_PART_NAME": (
        FULL,
        ("takeout-20261121T070000Z-", "1", "x"),
        ("takeout-20261121T070000Z-001", " (1)", "x"),
    ),
    "reviewsctl.importing.readers.parts:_LISTING": (
        SEARCH,
        ("", "/location-a", ""),
        ("location-", "a", "/data.jso"),
    ),
    "reviewsctl.importing.readers.parts:_MAPS": (SEARCH, ("", "/Reviews.json", "x")),
    "reviewsctl.importing.readers.parts:_TAKEOUT": (
        SEARCH,
        ("", "/location-a/reviews-", ""),
        ("location-a/reviews-", "-", ".jso"),
        ("", "location-", "/"),
    ),
    "reviewsctl.importing.platforms.special:_NAME": (
        FULL,
        ("places/", "a", ""),
        ("places/a/reviews/", "/reviews/", "\n"),
    ),
    "reviewsctl.importing.times:_ORDER": (FIND, ("", "%d", ""), ("", "%", "d")),
    "reviewsctl.importing.times:_FRACTION": (
        SUB,
        (".", "0", ""),
        ("", ".000000", "x"),
        ("", ".", ""),
    ),
    "reviewsctl.importing.ratings:_NUMBER": (
        FULL,
        ("5", " ", "x"),
        ("★", " ", "x"),
        ("5 /", " ", "x"),
        ("5/5", " ", "x"),
        ("5/5.", "0", "x"),
        ("1.", "1", "x"),
    ),
    "reviewsctl.importing.ratings:_SCALE": (FULL, ("1", " ", "x"), ("1-", " ", "x")),
    "reviewsctl.importing.settings:_DATE_LETTERS": (SUB, ("", "d", ""), ("", "d/", "")),
    "reviewsctl.importing.scales:_BEST": (FULL, ("1.", "0", "x")),
    "reviewsctl.importing.scales:_OUT_OF": (SEARCH, ("", "of ", ""), ("", "/1", "x")),
    "reviewsctl.importing.scales:_RANGE": (SEARCH, ("", "1-", ""), ("", "1 ", "x"), ("", "1", "x")),
    "reviewsctl.importing.times:_LETTERS": (SUB, ("", "a", "1"), ("", "a.", "")),
    "reviewsctl.importing.times:_CLOCK": (SUB, ("", "1h", "x")),
    "reviewsctl.importing.times:_HALF_DAY": (SUB, ("", " a.", "x"), ("", "a", "x"), ("", " ", "x")),
    "reviewsctl.importing.times:_ORDINAL": (SUB, ("", "1st", "x")),
    "reviewsctl.importing.times:_ZONE": (
        SEARCH,
        ("", "+01", "x"),
        ("+0100 (", "a", "x"),
        ("", "+0100 (", "x"),
        ("", "GMT", "x"),
    ),
    "reviewsctl.importing.times:_NUMBER": (FULL, ("99999.", "9", "x")),
    "reviewsctl.importing.ratings:_DRAWN": (FULL, ("★", "☆", "x")),
    "reviewsctl.importing.values:_EMAIL": (
        FULL,
        ("a@", ".", " "),
        ("a@", "a.", "@"),
        ("a@", "a", "."),
        ("", "a", "@"),
    ),
    "reviewsctl.importing.values:_HUMP": (SUB, ("", "aA", ""), ("", "a", "")),
    "reviewsctl.importing.values:_ORIGINAL_FIRST": (
        FULL,
        ("", "\n\n(Translated by Google)", ""),
        ("", "\n\n(Translated by Google)\n", ""),
        ("", "\n", ""),
    ),
    "reviewsctl.importing.values:_TRANSLATION_FIRST": (
        FULL,
        ("(Translated by Google) ", "\n\n(Original)", "x"),
        ("(Translated by Google) ", "\n", ""),
    ),
    "reviewsctl.importing.values:_BLANK": (SEARCH, ("", "a", "")),
    "reviewsctl.importing.values:_HOST": (
        MATCH,
        ("http://", "a", " "),
        ("http://a:", "1", "x"),
        ("http://[", ":", "!"),
    ),
    "reviewsctl.importing.values:_NO_ESCAPE": (SEARCH, ("", "%4", "1")),
    "reviewsctl.importing.values:_UNFIT": (SUB, ("", "%4", "1"), ("", "[", "")),
    "reviewsctl.sources.adding:_ITEM": (
        FIND,
        ("", "- a\n", ""),
        ("- a\n", " b\n", ""),
        ("", " ", "x"),
    ),
    "reviewsctl.terminal.columns:_COLOR": (SUB, ("\x1b[", "1;", "x"), ("", "\x1b[1", "")),
    "reviewsctl.commands.init:_TAG": (FULL, ("de", "-a", "!"), ("de-", "a", "!")),
    "reviewsctl.commands.subs:_ID": (FULL, ("p", "1", "x")),
    "reviewsctl.commands.sync:_TIME": (FULL, ("1", "0", "x")),
}

OF_OUR_OWN = {
    "reviewsctl.files.unit_text",
    "reviewsd.store.postgres",
}
"""Modules with patterns that match nothing but texts of the program."""


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


def asked(pattern: re.Pattern[typing.Any], method: str, attack: Attack) -> Making:
    """The pattern at its work."""
    begin, pump, end = attack
    binary = isinstance(pattern.pattern, bytes)

    def making(size: int) -> Thunk:
        text: typing.Any = begin + pump * (size // len(pump)) + end
        if binary:
            text = text.encode(errors="replace")
        work = getattr(pattern, method)
        return (lambda: work(b"" if binary else "", text)) if method == SUB else lambda: work(text)

    return making


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_takes_time_in_proportion(name: str) -> None:
    """Its own attacks are measured; any character, repeated, is tried besides."""
    method, *attacks = PATTERNS[name]
    begins = {"", *(begin for begin, _, _ in attacks)}
    for pattern in patterns_of(name):
        for attack in attacks:
            assert_linear(asked(pattern, method, attack))
        for begin, character in itertools.product(begins, COMMON):
            making = asked(pattern, method, (begin, character, "\0"))
            for size in (20, SCREENED):  # what doubles with each byte would never come back
                if cpu(making(size), 1) > QUICK:
                    assert_linear(making)


def test_every_pattern_is_listed_with_what_it_is_asked() -> None:
    """A new pattern is added here with inputs that would hurt it."""
    listed: set[str] = set()
    for module, path in SOURCES.items():
        text = path.read_text()
        if module in OF_OUR_OWN or ("re." not in text and "pattern=" not in text):
            continue
        lines, tree = text.splitlines(), ast.parse(text)
        names = {
            id(node): lines[statement.lineno - 1].partition(" ")[0].rstrip(":")
            for statement in tree.body
            if isinstance(statement, ast.Assign | ast.AnnAssign)
            for node in ast.walk(statement)
        }
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            if _makes_pattern(call):
                listed.add(f"{module}:{names.get(id(call), f'line {call.lineno}')}")
            if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
                asked_of = f"{module}:{call.func.value.id}"
                assert call.func.attr == PATTERNS.get(asked_of, [call.func.attr])[0], asked_of

    assert set(PATTERNS) == listed


def _makes_pattern(call: ast.Call) -> bool:
    """Whether a call makes a pattern: a function of ``re``, or a rule of msgspec's."""
    function = ast.unparse(call.func)
    return (function.startswith("re.") and function != "re.escape") or any(
        keyword.arg == "pattern" for keyword in call.keywords
    )
