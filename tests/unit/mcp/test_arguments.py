"""Arguments as language models write them, and the errors for wrong ones (mcp.md 5.3)."""

import datetime
import json
from typing import cast

import pytest

from reviewsd.domain.parameters import MAX_COMPARED
from reviewsd.domain.search_parameters import SEARCH_PARAMETERS
from reviewsd.domain.search_query import Cursor
from reviewsd.mcp.arguments import ABSENT, IGNORED, MAX_NOTED, MAX_PROBLEMS, read
from reviewsd.mcp.results import ToolError
from reviewsd.mcp.tools import TOOLS, Tool

DAY = datetime.date(2025, 1, 31)
CURSOR = Cursor(DAY, "01J9ZK3V5Q8R2N7M4T6W1X0YAB")
KNOWN = ", ".join(parameter.name for parameter in SEARCH_PARAMETERS)


def read_values(text: str, tool: str = "search_reviews") -> dict[str, object]:
    return read_with_notes(text, tool)[0]


def read_with_notes(
    text: str, tool: str = "search_reviews"
) -> tuple[dict[str, object], dict[str, object]]:
    """Return the values, and the members of the result's ``_meta``."""
    definition = next(definition for definition in TOOLS if definition.name == tool)
    values, notes = read(definition.by_name, definition.required, text.encode(), definition.order)
    return values, json.loads(b"{%b}" % notes)


def error_of(text: str, tool: str = "search_reviews") -> str:
    with pytest.raises(ToolError) as caught:
        read_values(text, tool)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", {}),
        ('{"rating": 5}', {"rating": 5}),
        ('{"rating": 5.0}', {"rating": 5}),
        ('{"rating": "5.0"}', {"rating": 5}),
        ('{"rating": 5e0}', {"rating": 5}),
        ('{"min_rating": 45e-1}', {"min_rating": 4.5}),
        ('{"rating": null, "query": null}', {}),
        ('{"query": "", "mentions_service": ""}', {}),
        ('{"query": "\\u00eb\\n"}', {"query": "ë\n"}),
        ('{"since": "2025-01-31T00:00:00Z"}', {"since": DAY}),
        ('{"since": "2025-01-31T23:59:60.123456+14:00"}', {"since": DAY}),
        ('{"since": "2025-01-31t23:59:00-12:00"}', {"since": DAY}),
        ('{"since": "2025-01-31 10:00"}', {"since": DAY}),
        ('{"since": "2025-01-31T10:00:00"}', {"since": DAY}),
        ('{"sentiment": "Negative"}', {"sentiment": "negative"}),
        ('{"sentiment": " POSITIVE\\n"}', {"sentiment": "positive"}),
        ('{"verified": true, "has_reply": false}', {"verified": True, "has_reply": False}),
        ('{"verified": "False", "sort": "Oldest"}', {"verified": False, "sort": "oldest"}),
        ('{"verified": null, "has_reply": "none"}', {}),
        ('{"query": "none"}', {"query": "none"}),
        ('{"query": "Null"}', {"query": "Null"}),
        (json.dumps({"cursor": CURSOR.encode()}), {"cursor": CURSOR}),
    ],
)
def test_lenient_spelling_is_read(text: str, expected: object) -> None:
    values = read_values(text)
    assert expected == values
    assert [type(value) for value in cast("dict[str, object]", expected).values()] == [
        type(value) for value in values.values()
    ]


INTEGER = "rating must be an integer from 1 to 5, got "
NUMBER = "min_rating must be a number from 1 to 5, got "
DATE = "since must be a date as YYYY-MM-DD, got "
TEXT = "query must be a string, got "
AGAIN = "cursor must be the next_cursor of an earlier answer; leave it out to start again."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"rating": 9}', f"{INTEGER}9."),
        ('{"rating": 9.0}', f"{INTEGER}9.0."),
        ('{"rating": 4.5}', f"{INTEGER}4.5."),
        ('{"rating": "five"}', f"{INTEGER}five."),
        ('{"rating": " 5"}', f'{INTEGER}" 5".'),
        ('{"rating": true}', f"{INTEGER}true."),
        ('{"rating": [5]}', f"{INTEGER}[5]."),
        ('{"rating": {"gte": 4}}', f'{INTEGER}{{"gte": 4}}.'),
        ('{"rating": 1e999}', f"{INTEGER}1e999."),
        ('{"rating": 12345678901234567890}', f"{INTEGER}12345678901234567890."),
        ('{"rating": ' + "9" * 4_000 + "}", f"{INTEGER}{'9' * 40}...."),
        ('{"min_rating": 0.5}', f"{NUMBER}0.5."),
        ('{"since": "2025-02-30T00:00:00Z"}', f'{DATE}"2025-02-30".'),
        ('{"since": "2025-01-31T"}', f'{DATE}"2025-01-31T".'),
        ('{"since": "2025-01-31T25:00:00Z"}', f'{DATE}"2025-01-31T25:00:00Z".'),
        ('{"since": "2025-01-31T00:00:00Zulu"}', f'{DATE}"2025-01-31T00:00:00Zulu".'),
        ('{"since": 20250131}', f"{DATE}20250131."),
        ('{"query": 5}', f"{TEXT}5."),
        ('{"query": false}', f"{TEXT}false."),
        ('{"query": ["a"]}', f'{TEXT}["a"].'),
        ('{"verified": 1}', "verified must be true or false, got 1."),
        ('{"has_reply": [true]}', 'has_reply must be true or false, got "[true]".'),
        ('{"cursor": 7}', AGAIN),
    ],
)
def test_wrong_value_is_reported_with_the_rule(text: str, expected: str) -> None:
    assert expected == error_of(text)


def test_all_problems_are_reported_at_once() -> None:
    assert (
        'rating must be an integer from 1 to 5, got 9; "stars" is not an argument '
        f'(did you mean "rating"? known: {KNOWN}).'
    ) == error_of('{"stars": 5, "rating": 9}')


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_argument_of_a_gateway_is_ignored_and_noted(tool: Tool) -> None:
    """n8n's client adds toolCallId to every call; others add data of the conversation."""
    needed = dict.fromkeys(tool.required, "2025-01-31")
    added = {
        "toolCallId": "c",
        "sessionId": 7,
        "action": ["x"],
        "chatInput": {"a": 1},
        "user_id": 1,
    }
    values, notes = read_with_notes(json.dumps(needed | added), tool.name)
    assert ([*needed], {IGNORED: [*added]}) == ([*values], notes)


def test_argument_that_no_tool_has_is_ignored_beside_others() -> None:
    text = '{"rating": 5, "zzz": 1, "limit": 7}'
    assert ({"rating": 5, "limit": 7}, {IGNORED: ["zzz"]}) == read_with_notes(text)


NOTHING: tuple[object, ...] = (None, "", [], {}, "null", "undefined", "None")
EMPTY_NUMBER = (*NOTHING, 0, 0.0, -0.0, "0", "0.0", " ", "N/A", "nil", "NONE", "Undefined")


@pytest.mark.parametrize(
    ("tool", "name", "values"),
    [
        ("search_reviews", "rating", EMPTY_NUMBER),
        ("search_reviews", "min_rating", EMPTY_NUMBER),
        ("search_reviews", "max_rating", EMPTY_NUMBER),
        ("search_reviews", "limit", EMPTY_NUMBER),
        ("search_reviews", "since", (*NOTHING, " ", "none")),
        ("search_reviews", "sentiment", (*NOTHING, " ", "nil")),
        ("search_reviews", "cursor", (*NOTHING, "NULL")),
        ("search_reviews", "query", NOTHING),
        ("search_reviews", "mentions_technician", NOTHING),
        ("get_sentiment_trend", "months", EMPTY_NUMBER),
        ("get_topics", "kind", NOTHING),
    ],
)
def test_value_that_stands_for_nothing_counts_as_absent(
    tool: str, name: str, values: tuple[object, ...]
) -> None:
    """Gateways and models fill in optional arguments without meaning a filter."""
    for value in values:
        outcome = read_with_notes(json.dumps({name: value}), tool)
        assert ({}, {ABSENT: [name]}) == outcome, value


def test_offset_of_zero_is_the_beginning() -> None:
    assert ({"offset": 0}, {}) == read_with_notes('{"offset": 0}', "get_topics")


def test_absent_values_do_not_hide_the_others() -> None:
    text = '{"rating": 0, "min_rating": 4, "max_rating": 0, "since": "", "query": "late"}'
    values, notes = read_with_notes(text)
    assert {"min_rating": 4, "query": "late"} == values
    assert {ABSENT: ["rating", "max_rating", "since"]} == notes


@pytest.mark.parametrize("text", ['{"stars": null}', '{"stars": 0}', '{"q": "", "page": []}'])
def test_near_miss_without_a_value_is_ignored(text: str) -> None:
    assert ({}, {IGNORED: [*json.loads(text)]}) == read_with_notes(text)


def test_every_absent_argument_is_noted() -> None:
    filled = dict.fromkeys((parameter.name for parameter in SEARCH_PARAMETERS), "")
    assert ({}, {ABSENT: [*filled]}) == read_with_notes(json.dumps(filled))


def test_notes_are_short() -> None:
    """The result must not grow with 64 KiB of unknown arguments."""
    _, notes = read_with_notes(json.dumps({f"zzz{number}" + 60 * "z": 1 for number in range(500)}))
    names = cast("list[str]", notes[IGNORED])
    assert (MAX_NOTED + 1, "450 more") == (len(names), names[-1])
    assert max(map(len, names)) < 50


def test_unknown_arguments_are_compared_up_to_a_limit() -> None:
    strange = {f"zzz{number}": 1 for number in range(MAX_COMPARED)}
    assert {} == read_values(json.dumps({**strange, "stars": 5}))
    strange.pop("zzz0")
    assert '"stars" is not an argument' in error_of(json.dumps({**strange, "stars": 5}))


def test_error_for_ambiguous_near_miss_names_both_arguments() -> None:
    assert error_of('{"date": "2025-01-01"}') == (
        f'"date" is not an argument (did you mean "since" or "until"? known: {KNOWN}).'
    )


def test_problem_of_two_arguments_comes_before_unknown_ones() -> None:
    assert error_of('{"min_rating": "4", "max_rating": 2, "stars": 1}').startswith(
        'min_rating must not be greater than max_rating, got 4 and 2; "stars" is not an argument'
    )


@pytest.mark.parametrize(
    ("tool", "order"),
    [
        ("get_reviews_since", "newest first"),
        ("get_topics", "most mentioned first"),
        ("get_sentiment_trend", "oldest first"),
        ("get_faq", "as published"),
    ],
)
@pytest.mark.parametrize("name", ["sort", "sortBy", "order_by", "ORDER", "sort-direction"])
def test_error_for_sorting_argument_states_the_order(tool: str, order: str, name: str) -> None:
    message = error_of(json.dumps({name: "x"}), tool)
    assert f'"{name}" is not an argument (the order is always {order}; known: ' in message


def test_choice_must_be_one_of_its_values() -> None:
    assert {"kind": "problems"} == read_values('{"kind": "problems"}', "get_topics")
    assert {} == read_values('{"kind": ""}', "get_topics")
    rule = "kind must be "
    kinds = "topics, aspects, technicians, services, problems, service_areas"
    assert f"{rule}one of {kinds}, got Topic." == error_of('{"kind": "Topic"}', "get_topics")
    assert {"kind": "topics"} == read_values('{"kind": "Topics"}', "get_topics")
    assert f"{rule}a string, got 7." == error_of('{"kind": 7}', "get_topics")


@pytest.mark.parametrize(
    ("tool", "name", "expected"),
    [
        ("search_reviews", "minRating", "min_rating"),
        ("get_topics", "cursor", "offset"),
        ("get_topics", "type", "kind"),
        ("get_faq", "search", "query"),
        ("get_sentiment_trend", "limit", "months"),
        ("get_review", "review_id", "id"),
        ("get_review", "offset", "text_offset"),
        ("get_reviews_since", "since", "date"),
    ],
)
def test_near_miss_is_recognized_in_every_tool(tool: str, name: str, expected: str) -> None:
    """The table of spellings is in tests/unit/domain/test_near_misses.py."""
    assert f'"{name}" is not an argument (did you mean "{expected}"?' in error_of(
        json.dumps({name: 1}), tool
    )


@pytest.mark.parametrize(
    "text", ["{}", '{"name": null}', '{"name": ""}', '{"name": "undefined", "toolCallId": "c"}']
)
def test_missing_required_argument_is_reported(text: str) -> None:
    assert ("name is missing: Id, name, given name or alias of the technician.") == error_of(
        text, "get_technician"
    )


def test_error_counts_arguments_beyond_the_limit() -> None:
    """The error must not grow with 64 KiB of unknown arguments."""
    strange = {f"rating{'_' * number}": 1 for number in range(1, MAX_PROBLEMS + 6)}
    message = error_of(json.dumps({**strange, "x" * 60_000: 1}))
    assert MAX_PROBLEMS == message.count("is not an argument")
    assert message.endswith("; and 5 more are not arguments.")
    assert len(message) < 1_500
