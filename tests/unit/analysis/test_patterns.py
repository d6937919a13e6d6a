import pytest

from reviewsd.analysis.language_data import Endings, LanguageData, load
from reviewsd.analysis.patterns import BARRIER, OTHER_WORD, PatternMatcher, parse
from reviewsd.analysis.text import BARRIERS, tokenise


def _found(pattern: str, text: str) -> list[str]:
    english = load("en")
    matcher = PatternMatcher(
        LanguageData(
            words=english.words, endings=english.endings, classes={"staff": ("tech", "crew")}
        )
    )
    matcher.add(pattern, "p")
    kinds = matcher.vocabulary({"great": 3.1, "awful": -2.0})
    kinds |= dict.fromkeys(BARRIERS, BARRIER)
    tokens = tokenise(text)
    number = {word: kinds["#"] for word in tokens.words if word[0].isdigit()}
    matches = matcher.find([(kinds | number).get(word, OTHER_WORD) for word in tokens.words])
    return [tokens.cut(start, end) for start, end, _ in matches]


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
        (
            "(far too|way too|a bit) late",
            "far too late, way too late, a bit late, too late",
            ["far too late", "way too late", "a bit late"],
        ),
        ("late late", "late late late", ["late late", "late late"]),
        ("(clean|tid)(s|ied) up", "tidied up, cleans up, clean s up", ["tidied up", "cleans up"]),
        (
            "(not (very|so)|never) late",
            "not so late, not late, never late",
            ["not so late", "never late"],
        ),
    ],
)
def test_pattern(pattern: str, text: str, expected: list[str]) -> None:
    assert _found(pattern, text) == expected


@pytest.mark.parametrize(
    "pattern",
    ["", "~ late", "late ~", "(late|)", "(late", "late) (very", "{nobody} late", "late/n"],
)
def test_malformed_patterns_are_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"pattern|brackets|class|forms"):
        PatternMatcher(LanguageData()).add(pattern, "p")


def test_a_copy_leaves_the_original_alone() -> None:
    first = PatternMatcher(LanguageData())
    first.add("late", "one")
    second = first.copy()
    second.add("late", "two")
    payloads = []
    for matcher in (first, second):
        kind = matcher.vocabulary({})["late"]
        payloads.append([payload for _, _, payload in matcher.find([kind])])
    assert payloads == [["one"], ["one", "two"]]


@pytest.mark.parametrize(
    ("word", "kind", "forms"),
    [
        ("company", "n", ("company", "companies")),
        ("delay", "n", ("delay", "delays")),
        ("box", "n", ("box", "boxes")),
        ("replace", "v", ("replace", "replaces", "replaced", "replacing")),
        ("try", "v", ("try", "tries", "tried", "trying")),
        ("call", "v", ("call", "calls", "called", "calling")),
    ],
)
def test_english_forms(word: str, kind: str, forms: tuple[str, ...]) -> None:
    assert forms == load("en").endings.forms(word, kind)


def test_form_may_have_letters_before_the_stem() -> None:
    endings = Endings({"v": {"en": ("en", "te", "ge~t")}})
    assert ("putzen", "putzte", "geputzt") == endings.forms("putzen", "v")


def test_forms_stand_in_the_place_of_their_word() -> None:
    assert [[("fee",), ("fees",)], [("a",), ("b", "c")]] == parse(
        "fee/n (a|b c)", load("en").endings
    )


def test_lines_of_one_name_are_one_class() -> None:
    assert {"duck", "arena"} <= set(load("en").classes["ware"])


@pytest.mark.parametrize("language", ["de", "en", "es", "fr", "it", "nl", "pt"])
def test_no_bracket_has_more_alternatives_than_fit(language: str) -> None:
    """Brackets within a bracket multiply: one macro had 130,000, and each process took a second more to start."""
    data = load(language)
    sizes = {pattern: max(map(len, parse(pattern, data.endings))) for pattern, _ in data.patterns}
    assert [] == [pattern for pattern, size in sizes.items() if size > 2_000]
