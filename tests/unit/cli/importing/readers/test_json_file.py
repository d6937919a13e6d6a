"""Rows of JSON, and the faults of what is none."""

import json
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.readers.json_file import Document, decoded
from reviewsctl.importing.readers.json_lists import EACH, Layout, around, layouts_of, lists_at

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def layouts(text: str) -> list[Layout]:
    """Return the lists with rows that have an ``a`` of 5."""
    document, _ = decoded(text.encode(), "x")
    return list(layouts_of(document, lambda rows: any(row.get("a") == 5 for row in rows)))


@given(st.lists(VALUES), st.sampled_from([None, 1]), st.booleans())
def test_the_elements_of_an_array_are_those_of_a_decoder(
    values: list[object], indent: int | None, ascii_only: bool
) -> None:
    text = json.dumps(
        {"before": 1, "reviews": values, "after": [2]}, indent=indent, ensure_ascii=ascii_only
    )
    document = Document(text.encode(), "x.json")
    elements = document.elements("reviews")
    assert values == [document.value(raw) for raw in elements]
    assert values == [json.loads(bytes(raw)) for raw in elements]


@given(st.lists(st.dictionaries(st.text(), VALUES), min_size=2, max_size=4))
def test_lines_are_values_one_after_the_other(values: list[dict[str, object]]) -> None:
    text = "\n".join(json.dumps(row) for row in values).encode()
    assert (values, True) == decoded(text, "x")


@pytest.mark.parametrize(
    ("text", "layout"),
    [
        ('{"reviews": [{"a": 1}], "total": 2}', ("reviews", EACH)),
        ('{"total": 2, "reviews": []}', ("reviews", EACH)),
        ('[{"a": 1}]', (EACH,)),
        ("[]", (EACH,)),
        ('{"data": [[{"name": "x", "reviews_data": [{"a": 1}]}]]}', ("data", EACH, EACH, "reviews_data", EACH)),
        ('[[{"reviews_data": []}]]', (EACH, EACH, "reviews_data", EACH)),
        ('[{"title": "x", "reviews": [{"a": [1]}]}]', (EACH, "reviews", EACH)),
        ('{"data": [{"uid": 1}], "metadata": {}}', ("data", EACH)),
    ],
)  # fmt: skip
def test_layout_leads_to_the_rows(text: str, layout: tuple[str, ...]) -> None:
    assert [layout] == layouts(text)


@pytest.mark.parametrize(
    ("text", "lists"),
    [
        ('{"x": {"y": {"z": [{"a": 5}]}}}', ["x.y.z"]),
        ('{"data": [{"a": 1}], "props": {"list": [{"a": 5}]}}', ["props.list"]),
        ('{"p": {"edges": [{"node": {"a": 5}}], "reviews": {"edges": []}}}', ["p.edges"]),
        ('{"A": {"reviews": [{"a": 5}]}, "B": {"reviews": [{"a": 1}, {"a": 5}]}}', ["A.reviews", "B.reviews"]),
        ('{"places": [{"a": 5, "reviews": [{"a": 5, "reviews": []}]}]}', ["places.reviews"]),
        ('[{"a": 5, "answers": [{"a": 5}]}]', [""]),
        ('{"empty": [], "list": [{"b": 1}]}', ["list"]),
        ('{"photos": [{"b": 1}], "reviews": []}', ["reviews"]),
        ('{"x": {"list": [{"b": 1}]}}', ["x.list"]),
        ('{"business": {"hours": [{"day": 1}]}}', []),
        ('{"deep": [[[1, {"x": [{"a": 5}]}]]]}', ["deep.x"]),
    ],
)  # fmt: skip
def test_lists_of_reviews_are_found_at_any_depth(text: str, lists: list[str]) -> None:
    """Most lists below the top were "holds no reviews"."""

    def likely(rows: Sequence[Mapping[str, object]]) -> bool:
        return any(5 in (row.get("a"), *_values(row.get("node"))) for row in rows)

    layouts = layouts_of(decoded(text.encode(), "x")[0], likely)

    assert lists == [".".join(name for name in layout if name != EACH) for layout in layouts]


def _values(value: object) -> list[object]:
    return list(value.values()) if isinstance(value, dict) else []


def test_rows_of_several_lists_are_read_in_their_order() -> None:
    """An element with another shape than the first one of its list is no row, and no fault."""
    text = b'{"A": {"reviews": [1, 2]}, "b": 3, "C": {"reviews": [4], "d": 5}, "e": [{"x": [6]}, null, {"x": {}, "y": 7}]}'
    document, _ = decoded(text, "x")
    layouts = [("A", "reviews", EACH), ("C", "reviews", EACH), ("e", EACH, "x", EACH)]
    assert [[1, 2], [4], [6]] == [
        rows for layout in layouts for rows, _ in lists_at(document, layout)
    ]
    assert {"b": 3, "d": 5, "y": 7} == around(document, layouts)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b'{"reviews": [\n  {"a": 1},\n  {"a" 1}]}', 'x.json:3:8: invalid JSON: expected ":"'),
        (b'{"reviews": [{"a": 1}', "x.json:1:22: invalid JSON: it ends too early"),
        (b'{"reviews": [' + b"[" * 100_000, "x.json: nested too deeply"),
        (b'{"reviews": [' + b"1" * 4301 + b"]}", "x.json: Exceeds the limit"),
        (b"\xef\xbb\xbf[1]", "x.json: it is no object of JSON"),
        (b'{"reviews": ["\xff"]}', "x.json: not UTF-8: invalid start byte"),
    ],
)  # fmt: skip
def test_fault_is_reported_with_its_position(text: bytes, reason: str) -> None:
    def read() -> None:
        document = Document(text, "x.json")
        list(map(document.value, document.elements("reviews")))

    with pytest.raises(ImportRefusedError) as caught:
        read()

    assert caught.value.detail.startswith(reason)


def test_half_characters_and_nan_are_replaced() -> None:
    """Programs write them, and JSON has neither; a number may have more than 64 bits."""
    text = b'{"reviews": [{"\\ud800": ["a\\udc00", NaN, "\xf0\x9f\x98\x80", 123456789012345678901234]}]}'
    document = Document(text, "x")
    (raw,) = document.elements("reviews")
    value = document.value(raw)
    assert {"\ufffd": ["a\ufffd", None, "\U0001f600", 123456789012345678901234]} == value
    assert value == json.loads(bytes(raw))
