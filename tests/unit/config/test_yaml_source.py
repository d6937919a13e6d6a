"""YAML with places, and what the excerpt of a line may show."""

import pytest

from reviewsd.config.yaml_source import Mark, read, read_value

_COLON = 'unexpected ":"; a text with a colon needs quotation marks, and each key a line of its own'
_LINE = "the line does not fit those above; check the indentation and the quotation marks"


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("a: [1\nb: 2", Mark(2, 2)),
        ("a: b: c", Mark(1, 5)),
        ("a: 'x", Mark(1, 6)),
        ("a:\n\tb: 1", Mark(2, 1)),
        ("a: 1\n b: 2", Mark(2, 3)),
        ("a: [", Mark(1, 5)),
        ("a: \x00", Mark(1, 4)),
        ("a: é\x00", Mark(1, 5)),
        ("a: 1\r\nb: \x7f", Mark(2, 4)),
    ],
)
def test_bad_syntax_has_a_place(text: str, mark: Mark) -> None:
    document = read(text.encode())
    assert document.fatal
    assert [mark] == [(fault.line, fault.column) for fault in document.faults]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: b: c", _COLON),
        ("a\nb: 1", _COLON),
        ("a: 1\n b: 2", _COLON),
        ("a:\n - b: 1\n  c: [x", _LINE),
        ("- a\nb: 1", _LINE),
        ('a: "b" c', _LINE),
        ("a:\n  b: [1, 2\n", 'the "[" in line 2 is not closed, or a comma is missing'),
        ("{a: 1\nb: 2}", 'the "{" in line 1 is not closed, or a comma is missing'),
        ("a: 'x\nb: 1\n", "the quotation mark in line 1 is not closed"),
        ("a: @x", 'a text that begins with "@" needs quotation marks'),
        ("a: *x", 'a text that begins with "*" needs quotation marks'),
        ("a: }", 'a text that begins with "}" needs quotation marks'),
        ("? a\n: - b\n  c\n", "a key without a colon in line 3"),
        ('a: "C:\\qux"', 'a backslash is written "\\\\", or the text in single quotation marks'),
        ("a: 1\n---\nb: 1", "a second document; remove the line ---"),
    ],
)
def test_bad_syntax_is_explained_without_words_of_yaml(text: str, reason: str) -> None:
    """An owner who names his staff in insights.yaml knows no block collections and indicators."""
    (fault,) = read(text.encode()).faults
    assert f"no valid YAML: {reason}" == fault.reason


def test_values_and_keys_know_their_place() -> None:
    document = read("a:\n  - b: 1\n    c d: é\n".encode())
    assert document.value == {"a": [{"b": 1, "c d": "é"}]}
    assert document.keys == {"$.a": (1, 1), "$.a[0].b": (2, 5), '$.a[0]["c d"]': (3, 5)}
    assert document.values['$.a[0]["c d"]'] == (3, 10)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("Null", None),
        ("true", True),
        ("FALSE", False),
        ("yes", "yes"),
        ("off", "off"),
        ("0", 0),
        ("-12", -12),
        ("+7", 7),
        ("0660", 660),
        ("0x10", "0x10"),
        ("0o17", "0o17"),
        ("1_000", "1_000"),
        ("1:30", "1:30"),
        ("1.5", 1.5),
        (".5", 0.5),
        ("2.", 2.0),
        ("1e3", 1000.0),
        ("1e999", "1e999"),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("9" * 18, int("9" * 18)),
        ("9" * 19, 1e19),
        ("٣", "٣"),
        ("2025-01-01", "2025-01-01"),
        ("50%", "50%"),
    ],
)
def test_plain_scalars_follow_yaml_1_2(text: str, value: object) -> None:
    from_file = read(f"a: {text}".encode()).value
    assert from_file == {"a": value}
    assert type(value) is type(read_value(text).value)
    assert value == read_value(text).value


def test_quoted_scalars_are_text() -> None:
    assert read(b"['1', \"true\", '']").value == ["1", "true", ""]


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("a: &x 1\nb: *x\nc: 2\nd: *x", [Mark(2, 1), Mark(4, 1)]),
        ("a: &x {b: 1}\nc:\n  - 2\n  - d: *x", [Mark(4, 5)]),
        ("- &x 1\n- 2\n- *x", [Mark(1, 3)]),
        ("a: &x [*x]", [Mark(1, 4)]),
        ("a: &x 1\n*x : 2", [Mark(1, 4)]),
    ],
)
def test_alias_is_refused_at_its_key_else_at_its_anchor(text: str, marks: list[Mark]) -> None:
    assert marks == [(fault.line, fault.column) for fault in read(text.encode()).faults]


def test_aliases_of_a_billion_laughs_are_refused() -> None:
    levels = "".join(f"a{n}: &a{n} [{f'*a{n - 1}, ' * 9}]\n" for n in range(1, 9))
    document = read(f"a0: &a0 ha\n{levels}".encode())
    assert len(document.faults) == 72
    assert {"aliases are not supported; write the value out"} == {
        fault.reason for fault in document.faults
    }


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? "])
def test_depth_is_bounded_before_the_stack_is(opening: str) -> None:
    document = read((opening * 100_000).encode())
    assert document.faults


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("a: postgresql://u:p@h/d", "a: postgresql://***@h/d"),
        ("a: x://u:p@q@h y://w@z", "a: x://*****@h y://*@z"),
        ("a: me@example.com", "a: me@example.com"),
        ("a: http://example.com", "a: http://example.com"),
    ],
)
def test_an_excerpt_hides_passwords_and_keeps_columns(line: str, shown: str) -> None:
    head, excerpt, caret = read(line.encode(), "F").fault("$.a", "no").lines
    assert ("F:1:4: a: no", f"    1 | {shown}", "      |    ^") == (head, excerpt, caret)


def test_an_excerpt_sends_no_control_characters_to_a_terminal() -> None:
    lines = read("a: \x1b]0;title\x07\u202e".encode() + b"\xff").faults[0].lines
    assert lines[1] == "    1 | a: ?]0;title???"
