import pytest

from reviewsd.analysis.patterns import (
    BARRIER,
    OTHER_WORD,
    PatternMatcher,
    noun_forms,
    parse,
    verb_forms,
)
from reviewsd.analysis.text import BARRIERS, tokenise


def _found(pattern: str, text: str) -> list[str]:
    matcher = PatternMatcher({"staff": ("tech", "crew")})
    matcher.add(pattern, "p")
    kinds = matcher.vocabulary({"great": 3.1, "awful": -2.0})
    kinds |= dict.fromkeys(BARRIERS, BARRIER)
    tokens = tokenise(text)
    number = {word: kinds["#"] for word in tokens.words if word[0].isdigit()}
    matches = matcher.find([(kinds | number).get(word, OTHER_WORD) for word in tokens.words])
    return [tokens.cut(match.start, match.end) for match in matches]


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("on time", "Right on time, on the time", ["on time"]),
        ("(on|in) time", "on time, in time, at time", ["on time", "in time"]),
        (
            "very (very|) late",
            "very late, very very late",
            ["very late", "very very late", "very late"],
        ),
        ("peel(ing|ed)", "peeling and peeled, peel", ["peeling", "peeled"]),
        ("{staff} was rude", "The crew was rude", ["crew was rude"]),
        ("{pos} job", "great job, awful job", ["great job"]),
        ("# hours late", "2 hours late and two hours late", ["2 hours late", "two hours late"]),
        ("left ~ mess", "left us a big mess", ["left us a big mess"]),
        ("left ~ mess", "left a very big old mess", []),
        ("left ~ mess", "left. A mess", []),
        ("call/v back", "called back, calling back", ["called back", "calling back"]),
        ("fee/n", "a fee and fees", ["fee", "fees"]),
        ("late late", "late late late", ["late late", "late late"]),
    ],
)
def test_pattern(pattern: str, text: str, expected: list[str]) -> None:
    assert _found(pattern, text) == expected


@pytest.mark.parametrize(
    "pattern", ["", "~ late", "late ~", "(late|)", "(late", "(very (late))", "{nobody} late"]
)
def test_malformed_patterns_are_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"pattern|brackets|class"):
        PatternMatcher({}).add(pattern, "p")


def test_a_copy_leaves_the_original_alone() -> None:
    first = PatternMatcher({})
    first.add("late", "one")
    second = first.copy()
    second.add("late", "two")
    payloads = []
    for matcher in (first, second):
        kind = matcher.vocabulary({})["late"]
        payloads.append([match.payload for match in matcher.find([kind])])
    assert payloads == [["one"], ["one", "two"]]


def test_forms() -> None:
    assert noun_forms("company") == ("company", "companies")
    assert noun_forms("box") == ("box", "boxes")
    assert verb_forms("replace") == ("replace", "replaces", "replaced", "replacing")
    assert verb_forms("try") == ("try", "tries", "tried", "trying")
    assert verb_forms("call") == ("call", "calls", "called", "calling")
    assert parse("fee/n (a|b c)") == [[("fee",), ("fees",)], [("a",), ("b", "c")]]
