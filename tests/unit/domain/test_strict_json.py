"""Strict JSON, seen from the operator (data-model.md 5) and rule by rule.

What msgspec says of broken text is pinned here: another version must be as strict.
"""

import json
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from reviewsd.domain import strict_json
from reviewsd.domain.data_errors import show
from reviewsd.domain.dataset import load
from tests.support.broken import REVIEWS, both, encoded, finding, refused

QUOTE = 'is not the quotation mark of JSON; write " instead, as in "text"'
UNQUOTED = "a phone number, a postal code, a day or a time is a text; write"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (b"", ":1:1: invalid JSON: it ends too early"),
        (b" \n ", ":2:2: invalid JSON: it ends too early"),
        (b"\xef\xbb\xbf", ":1:1: invalid JSON: it ends too early"),
        (b'{\n "a": {},\n "reviews": [1 2]\n}', ':3:15: invalid JSON: expected "," or "]"'),
        (b'{"a": {"b": 1}\n "c": {}}', ':1:15: invalid JSON: expected "," or "}"'),
        (b'{"a": {"b": 1\n}}}', ":2:3: invalid JSON: trailing characters"),
        (b'{"a": {"b": 1\n]', ':2:1: invalid JSON: expected "," or "}"'),
        (b'\xef\xbb\xbf{\r\n"a" 1}', ':2:5: invalid JSON: expected ":"'),
        (b"\xef\xbb\xbf\xef\xbb\xbf{}", ":1:1: invalid JSON: invalid character"),
        (b'{"reviews":\n[{"id": "r', ":2:11: invalid JSON: it ends too early"),
        (b'{"a": 1,}', ":1:9: invalid JSON: trailing comma in object"),
        (b'{"a": [1,]}', ":1:10: invalid JSON: trailing comma in array"),
        (b"{} x", ":1:4: invalid JSON: trailing characters"),
        (b"{}\n\n{}", ":3:1: invalid JSON: trailing characters"),
        (b"{'a': 1}", f":1:2: invalid JSON: ' {QUOTE}"),
        (b"{a: 1}", ':1:2: invalid JSON: expected a name of a member, as in "text"'),
        ('{"a": “x”}'.encode(), f":1:7: invalid JSON: “ {QUOTE}"),
        ('{"a": 1,\n “b”: 1}'.encode(), f":2:2: invalid JSON: “ {QUOTE}"),
        ('{"a": «x»}'.encode(), f":1:7: invalid JSON: « {QUOTE}"),
        (b'{"a": "1\n2"}', ":1:9: invalid JSON: a text without a quotation mark at its end"),
        (b'{"a": "\\x"}', ":1:9: invalid JSON: invalid escaped character"),
        (b'{"a": 1.}', ":1:9: invalid JSON: invalid number"),
        (b'{"a": 091555012}', f':1:7: invalid JSON: {UNQUOTED} "091555012"'),
        (b'{"a": 091 555 012 , "b": 1}', f':1:7: invalid JSON: {UNQUOTED} "091 555 012"'),
        (b'{"a": +353 91-55}', f':1:7: invalid JSON: {UNQUOTED} "+353 91-55"'),
        (b'{"a": (091) 55,', f':1:7: invalid JSON: {UNQUOTED} "(091) 55"'),
        (b'{"a": (091)}', f':1:7: invalid JSON: {UNQUOTED} "(091)"'),
        (b'{"a": [{"b": 09:30}]}', f':1:14: invalid JSON: {UNQUOTED} "09:30"'),
        (b'{"a": 2026-01-01\n}', f':1:7: invalid JSON: {UNQUOTED} "2026-01-01"'),
        (b'{"a": H91 X2P3}', f':1:7: invalid JSON: {UNQUOTED} "H91 X2P3"'),
        (b'{"rating": 05}', ":1:13: invalid JSON: invalid number"),
        (b'{"rating": 5/5}', ':1:13: invalid JSON: expected "," or "}"'),
        (b'{"rating": 5 stars}', ':1:13: invalid JSON: expected "," or "}"'),
        (b'{"a": 12 "b": 1}', ':1:9: invalid JSON: expected "," or "}"'),
        (b'{"a": // 1\n1}', ":1:7: invalid JSON: invalid character"),
        (b'{"a": NaN}', ":1:7: invalid JSON: invalid character"),
        (b'{"a": {"b": -Infinity}}', ":1:14: invalid JSON: invalid character"),
        (
            b'{"\\ud800 lone": 1}',
            ":1:9: invalid JSON: unexpected end of escaped utf-16 surrogate pair",
        ),
        (b'{"a": ["\\ud800 lone"]}', ":1:15: invalid JSON: unexpected end of hex escape"),
        (
            b'{"reviews": [{"text": "\\udc00"}]}',
            ":1:30: invalid JSON: invalid utf-16 surrogate pair",
        ),
        (b"[1,", ":1:4: invalid JSON: it ends too early"),
        (b"123abc", ":1:4: invalid JSON: trailing characters"),
        ('{"é€😀": x}'.encode(), ":1:9: invalid JSON: invalid character"),
        (
            '{\n"é": "€", x}'.encode(),
            ':2:11: invalid JSON: expected a name of a member, as in "text"',
        ),
        (b"[]", ": $: expected object, got array"),
        (b" null", ": $: expected object, got null"),
        (b'"text"', ': $: expected object, got string "text"'),
        (b"1e400", ": $: expected object, got number inf"),
        (b"9" * 5000, f": $: expected object, got integer {'9' * 37}..."),
        (b"[" * 100_000, ": $: nesting deeper than 64"),
        (b'{"a":' * 100_000, ": $: nesting deeper than 64"),
        ('{"a": 1}'.encode("utf-16"), ": not UTF-8 at byte 0"),
        (b'{"a": "\xff"}', ": not UTF-8 at byte 7"),
        (b"\xef\xbb\xbf\xff", ": not UTF-8 at byte 3"),
        (b'{"a": "\xed\xa0\x80"}', ": not UTF-8 at byte 7"),
        (b'{"a": "\xe2\x82', ": not UTF-8 at byte 7"),
    ],
)
def test_a_text_that_is_no_json_object_is_refused(text: bytes, line: str) -> None:
    assert [f"reviews.json{line}"] == refused(text)
    assert [f"insights.json{line}"] == refused(encoded(REVIEWS), text)


MIB = 1 << 20  # the check for UTF-8 goes in steps of this


@pytest.mark.parametrize("offset", [0, 1, MIB - 2, MIB - 1, MIB, MIB + 1, 3 * MIB])
@pytest.mark.parametrize("wrong", [b"\xff", b"\xe2\x82", b"\x80" * 5, b"\xf0\x9f\x98", b"\xc0\xaf"])
def test_the_first_byte_that_is_not_utf8_is_named(offset: int, wrong: bytes) -> None:
    text = b" " * offset + wrong + b" " * 10 + wrong
    assert [f"reviews.json: not UTF-8 at byte {offset}"] == refused(text)


@pytest.mark.parametrize("offset", range(MIB - 4, MIB + 1))
@pytest.mark.parametrize("character", ["é", "€", "😀"])
def test_a_character_may_lie_across_a_step(offset: int, character: str) -> None:
    head = b'{"business": {"name": "A"}, "reviews": [], "x": "'
    text = head + b"." * (offset - len(head)) + character.encode() * 5 + b'"}'
    assert not load(text, None).records


@pytest.mark.parametrize(
    ("path", "text", "where", "review_id", "name"),
    [
        ("$.extra", '1, "business": {"name": "A"}', "$", None, "business"),
        ("$.extra", '[], "extra": 1', "$", None, "extra"),
        ("$.extra", '12, "extra": 1', "$", None, "extra"),
        ("$.extra", '[1,2], "extra": 10', "$", None, "extra"),
        ("$.extra", '1, "{}": 1, "{}": {}', "$", None, "{}"),
        ("$.extra", '{"y": [{"a": 1, "b": 2, "a": 3}]}', "$.extra", None, "a"),
        ("$.business.x", '1, "name": "B"', "$.business", None, "name"),
        ("$.business.geo.x", '1, "latitude": 1', "$.business", None, "latitude"),
        ("$.reviews[1].x", '1, "rating": 4', "$.reviews[1]", "r1", "rating"),
        ("$.reviews[1].x", r'1, "\u0072ating": 4', "$.reviews[1]", "r1", "rating"),
        ("$.reviews[1].x", '1, "id": "r0"', "$.reviews[1]", "r0", "id"),
        ("$.reviews[1].x", '{"\\n": 1, "\\n": 2}', "$.reviews[1]", "r1", "\\n"),
        ("$.reviews[1].owner_reply.x", '1, "text": ""', "$.reviews[1]", "r1", "text"),
        ("$.aspects[1].x", '1, "x": 1', "$.aspects", None, "x"),
        ("$.entities.x", '1, "services": []', "$.entities", None, "services"),
        ("$.per_review.x", '{}, "x": {}', "$.per_review", None, "x"),
        ("$.per_review.r1.x", '1, "score": 1, "score": 0', "$.per_review.r1", None, "score"),
    ],
)
def test_no_object_has_two_members_of_one_name(
    path: str, text: str, where: str, review_id: str | None, name: str
) -> None:
    assert [finding(where, f'member "{name}" twice', review_id)] == refused(*both(path, text))


def test_insights_have_no_member_twice() -> None:
    lines = refused(encoded(REVIEWS), b'{"x": 1, "x": 2}')
    assert lines == ['insights.json: $: member "x" twice']


ANYTHING = [
    r'1, "{}": 1, "0": 2',
    '"[", "]": 1, "y": [", "]',
    r'"\\\"{", "y": {}',
    "[1e400, -1e400, -0, 1.10]",
    "9" * 5000,
    r'["\ud83d\ude00", 1e400]',
    r'"\\ud800"',
    r'"\"' + "[{" * 99 + '"',
    '"\x7f\u2028"',
]


@pytest.mark.parametrize("text", ANYTHING)
@pytest.mark.parametrize(
    "path",
    ["$.extra", "$.business.x", "$.reviews[1].x", "$.more", "$.aspects[1].x", "$.per_review.r1.x"],
)
def test_a_member_that_is_not_known_may_be_any_json(path: str, text: str) -> None:
    """Numbers greater than any machine has, brackets in strings, escapes: kept, so not judged."""
    load(*both(path, text))


@pytest.mark.parametrize(
    ("path", "levels", "where", "review_id"),
    [
        ("$.extra", 63, "$.extra", None),
        ("$.business.x", 62, "$.business", None),
        ("$.reviews[1].x", 61, "$.reviews[1]", "r1"),
        ("$.aspects[1].x", 61, "$.aspects", None),
        ("$.per_review.r1.x", 61, "$.per_review.r1", None),
        (f'$.per_review["{"[." * 9}"]', 62, f'$.per_review["{"[." * 9}"]', None),
    ],
)
def test_nesting_ends_at_64_levels(
    path: str, levels: int, where: str, review_id: str | None
) -> None:
    """The file's own object is the first level."""
    load(*both(path, '{"x":' * levels + "1" + "}" * levels))
    load(*both(path, '{"x":' + "[" * (levels - 1) + "]" * (levels - 1) + "}"))
    for deep in (levels + 1, 900):
        text = '{"x":' * deep + "1" + "}" * deep
        assert [finding(where, "nesting deeper than 64", review_id)] == refused(*both(path, text))
    assert [finding("$", "nesting deeper than 64")] == refused(
        *both("$.extra", "[" * 100_000 + "]" * 100_000)
    )


# Against Python's own decoder

TOKENS = [*'"\\{}[],:10-.eE+u/ \n\t\x01a', "null", "true", "NaN", "Infinity", '"a":', '"b": {', "é"]
TOKENS += [r"\u0041", r"\ud83d\ude00", r"\ud83d", r"\ude00", r"\\", "[]", "{}", '""', "1.5"]
NAMES = ["", "a", "b", "{}", "[", "]", '"', "\\", "\n", "é", "😀", ", "]
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.sampled_from(NAMES)
)
VALUES = st.recursive(
    LEAVES,
    lambda part: (
        st.lists(part, max_size=3) | st.dictionaries(st.sampled_from(NAMES), part, max_size=3)
    ),
)


def refuse(constant: str) -> None:
    raise ValueError(constant)


def strict(text: str) -> object:
    """Decode with Python, and refuse what only Python accepts."""
    decoded = json.loads(text, parse_constant=refuse)
    json.dumps(decoded, ensure_ascii=False).encode()
    return decoded


@given(text=st.lists(st.sampled_from(TOKENS)).map("".join) | VALUES.map(json.dumps))
def test_split_takes_apart_what_is_an_object_and_nothing_else(text: str) -> None:
    try:
        expected = strict(text)
    except ValueError:
        with pytest.raises(strict_json.NotJsonError) as error:
            strict_json.split(text.encode())
        assert 0 <= error.value.offset <= len(text.encode())
        return
    if isinstance(expected, dict):
        members = strict_json.split(text.encode())
        assert expected == {name: strict(bytes(raw).decode()) for name, raw in members.items()}
    else:
        with pytest.raises(msgspec.ValidationError):
            strict_json.split(text.encode())


@given(pairs=st.lists(st.tuples(st.sampled_from(NAMES), VALUES)), random=st.randoms())
def test_a_walk_finds_each_value_and_each_name_that_comes_again(
    pairs: list[tuple[str, object]], random: Random
) -> None:
    def gap() -> str:
        return random.choice(["", " ", "\n", "\t\r "])

    def spelled(value: object) -> str:
        spelling = json.dumps(value, ensure_ascii=random.random() < 0.5, indent=1)
        return f"{gap()}{spelling}{gap()}"

    members = ",".join(f"{spelled(name)}:{spelled(value)}" for name, value in pairs)
    text = f"{gap()}{{{members}{gap()}}}{gap()}".encode()
    names = [name for name, _ in pairs]
    again = {name for name in names if names.count(name) > 1}
    if again:
        expected = {f"member {show(name)} twice" for name in again}
        with pytest.raises(strict_json.UnfitError) as error:
            list(strict_json.walk(text, strict_json.split(text)))
        assert str(error.value) in expected
        assert strict_json.fault(text) in expected
    else:
        result = list(strict_json.walk(memoryview(text), strict_json.split(text)))
        assert pairs == [(name, json.loads(text[begin:end])) for name, begin, end in result]
        assert strict_json.fault(text) is None


def levels(value: object) -> int:
    match value:
        case dict():
            return 1 + max(map(levels, value.values()), default=0)
        case list():
            return 1 + max(map(levels, value), default=0)
    return 0


@given(value=VALUES)
def test_fault_counts_levels_and_nothing_else(value: object) -> None:
    text, depth = encoded(value), strict_json.MAX_DEPTH - levels(value)
    assert None is strict_json.fault(Raw(text), depth)
    if levels(value):
        assert strict_json.fault(Raw(text), depth + 1) == "nesting deeper than 64"
