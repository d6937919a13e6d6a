"""Lines and columns of JSON paths, as editors count them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.api.files import Diagnostic
from reviewsd.domain import json_location
from reviewsd.domain.data_errors import member
from reviewsd.domain.diagnostic_text import rendered
from reviewsd.domain.json_location import TextLocation, locate, place_at

TEXT = """\
{
  "business": {"name": "Ä", "phone": 7},
  "reviews": [
    {"id": 1, "odd name": [1, 2]},
\t{"id": 2,
     "owner_reply": {}}
  ]
}""".encode()


@pytest.mark.parametrize(
    ("path", "line", "column"),
    [
        ("$", 1, 1),
        ("$.business.phone", 2, 38),
        ("$.reviews[0].id", 4, 12),
        ('$.reviews[0]["odd name"][1]', 4, 31),
        ("$.reviews[1].id", 5, 9),
        ("$.reviews[1].owner_reply.date", 6, 21),
        ("$.reviews[1].author", 5, 2),
        ("$.reviews[7]", 3, 14),
        ("$.insights", 1, 1),
    ],
)
def test_a_path_has_a_line_and_a_column(path: str, line: int, column: int) -> None:
    """An absent member has the location of the object that should have it."""
    place = locate(TEXT, [path])[path]
    assert (line, column) == (place.line, place.column)


@pytest.mark.parametrize("name", ["a]b", "]", '"]', "\\]", "[0]", "ä.b"])
def test_path_through_any_name_has_a_location(name: str) -> None:
    path = f"{member('$', name)}.b"
    assert 8 == locate(json.dumps({name: {"b": 1}}, indent=1).encode(), [path])[path].column


def test_path_into_a_scalar_has_the_location_of_the_scalar() -> None:
    """The paths after it keep theirs."""
    paths = ["$.a.b", "$.a[0]", "$.c[0]"]
    places = locate(b'{"a": 1, "c": [2]}', paths)
    assert [7, 7, 16] == [places[path].column for path in paths]


def drawn(place: TextLocation) -> tuple[str, ...]:
    """Return the lines below the headline of a diagnostic at the location."""
    result = Diagnostic(file="f", line=place.line, column=place.column, reason="r")
    return rendered(result, place.source).lines[1:]


def test_the_place_is_drawn() -> None:
    """A tab stays one, so that the caret is right however wide it is shown."""
    place = locate(TEXT, ["$.reviews[1].id"])["$.reviews[1].id"]
    assert ('    5 | \t{"id": 2,', "      | \t       ^") == drawn(place)


def test_a_long_line_is_not_drawn() -> None:
    text = json.dumps({"a": "x" * 300, "b": 1}).encode()
    assert () == drawn(locate(text, ["$.b"])["$.b"])
    assert () == drawn(place_at(text, 1, 7))


def test_a_mark_and_windows_lines_do_not_count() -> None:
    place = locate(b'\xef\xbb\xbf{"a":\r\n 1}\r\n', ["$.a"])["$.a"]
    assert (2, 2, " 1}") == (place.line, place.column, place.source)


@pytest.mark.parametrize("path", ["", "no path", "$.a[", '$["cut...', '$["\\x"]'])
def test_invalid_path_has_no_location(path: str) -> None:
    assert {} == locate(TEXT, [path])


@pytest.mark.parametrize("text", [b"", b"{", b'{"a"', b'{"a": [1, ', b'{"a" 1}', b"[" * 100_000])
def test_broken_text_ends_the_search(text: bytes) -> None:
    assert {} == {path: p for path, p in locate(text, ["$.a[5].b"]).items() if p.line != 1}


def test_huge_files_are_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_location, "MAX_BYTES", 10)
    assert {} == locate(TEXT, ["$.business"])


def test_a_line_is_shown_without_its_end() -> None:
    place = place_at('{"é": x}\r\nzwei'.encode(), 1, 7)
    assert (1, 7, '{"é": x}') == (place.line, place.column, place.source)
    assert "zwei" == place_at(b"eins\nzwei", 2, 1).source


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)


def paths(value: object, here: str = "$") -> dict[str, object]:
    result = {here: value}
    if isinstance(value, dict):
        for name, inner in value.items():
            result |= paths(inner, member(here, name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            result |= paths(inner, f"{here}[{index}]")
    return result


@given(JSON, st.sampled_from([None, 1]))
def test_at_every_place_told_the_value_begins(document: object, indent: int | None) -> None:
    text = json.dumps(document, indent=indent, ensure_ascii=False)
    values = paths(document)
    places = locate(text.encode("utf-8", "surrogatepass"), values)
    assert values.keys() == places.keys()
    for path, place in places.items():
        rest = "\n".join(text.split("\n")[place.line - 1 :])[place.column - 1 :]
        assert values[path] == json.JSONDecoder().raw_decode(rest)[0]
