"""Refusals by the rows of data-model.md 5, and the content of a Dataset (data-model.md 1, 2).

A row of ``refused.txt`` breaks one value of a valid data set, and has the exact words that the operator reads.
What is no strict JSON is refused in ``test_strict_json``.
"""

import datetime
import json
from array import array
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.domain.data_errors import MAX_FINDINGS, DataError
from reviewsd.domain.dataset import Dataset, load
from tests.support.broken import (
    GONE,
    INSIGHTS,
    REVIEWS,
    Document,
    both,
    encoded,
    finding,
    nearly,
    refused,
)

ROWS = Path(__file__).parent / "refused.txt"


def check_refused(path: str, text: str, reason: str) -> None:
    """The one thing said of a data set with this text at a path is this."""
    identified = path.startswith("$.reviews[1].") and not path.endswith("].id")
    expected = [finding(path, reason, "r1" if identified else None)]
    assert expected == refused(*both(path, text))


KINDS = {
    "null": "null",
    "true": "boolean true",
    "7": "integer 7",
    "4.0": "number 4.0",
    '"5"': 'string "5"',
    "[]": "array",
    "{}": "object",
}
"""A value of each JSON type, as it is spelled and as a finding calls it."""


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("$.business", "object"),
        ("$.business.id", "string or null"),
        ("$.business.name", "string"),
        ("$.business.geo.latitude", "number"),
        ("$.aggregate_rating.rating_value", "number or null"),
        ("$.aggregate_rating.review_count", "integer or null"),
        ("$.updated_at", "string or null"),
        ("$.reviews", "array"),
        ("$.reviews[1]", "object"),
        ("$.reviews[1].rating", "integer"),
        ("$.reviews[1].date", "string"),
        ("$.reviews[1].verified", "boolean"),
        ("$.reviews[1].added_at", "string or null"),
        ("$.aspects[0]", "string or object"),
        ("$.per_review", "object"),
        ("$.per_review.r1.technicians[0]", "string"),
    ],
)
def test_a_value_of_another_type_is_refused(path: str, expected: str) -> None:
    allowed = {*expected.split(" or "), "integer" if "number" in expected else ""}
    wrong = {text: got for text, got in KINDS.items() if got.split()[0] not in allowed}
    for text, got in wrong.items():
        check_refused(path, text, f"expected {expected}, got {got}")


NINES = "9" * 5000  # more digits than Python makes an integer of

REFUSED = [
    *filter(lambda line: line.startswith("$"), ROWS.read_text("utf-8").splitlines()),
    f'$.business.name: "{"x" * 201}" => expected 1..200 characters, got 201',
    f"$.business.geo.latitude: {NINES[:400]} => expected -90..90, got {NINES[:37]}...",
    f"$.reviews[1]: {NINES} => expected object, got integer {NINES[:37]}...",
    f"$.reviews[1].rating: -{NINES} => expected 1..5, got -{NINES[:36]}...",
    f"$.version: {NINES} => Integer value out of range",
]


@pytest.mark.parametrize("row", REFUSED)
def test_a_value_that_breaks_a_rule_is_refused(row: str) -> None:
    path, _, fault = row.partition(": ")
    text, reason = fault.split(" => ")
    check_refused(path, GONE if text == "(gone)" else text, reason)


DATES = ["$.reviews[1].date", "$.reviews[1].owner_reply.date", "$.date_range.latest"]
NO_DATES = ["", "2025-02-30", "2025-02-29", "2025-13-01", "2025-00-01", "2025-01-00", "0000-01-01"]
NO_DATES += ["10000-01-01", "20250101", "2025-1-1", "+2025-01-01", " 2025-01-01", "2025-01-01 "]
NO_DATES += ["2025-W01-1", "2025-001", "01/02/2025", "2025-01", "2025-01-01T00:00:00Z"]
NO_DATES += [r"2025-01-01\n", "\uff12\uff10\uff12\uff15-01-01", "2025\u201001\u201001", "today"]


@pytest.mark.parametrize("text", NO_DATES)
def test_a_date_is_a_real_day_in_one_spelling(text: str) -> None:
    for path in DATES:
        check_refused(path, f'"{text}"', f'expected YYYY-MM-DD, got "{text}"')


URLS = ["$.reviews[1].source_url", "$.reviews[1].author_avatar_url", "$.business.logo_url"]
URLS += ["$.business.url", "$.business.social_urls[0]"]
NO_URLS = ["", "javascript:alert(1)", "JavaScript:alert(1)", "data:text/html,x", "ftp://x", "//x"]
NO_URLS += ["/x", "x.example", "http:x", "http:/x", "http://", "https:///x", "https://?x"]
NO_URLS += ["https://#x", "httpss://x", r"\nhttps://x", r"java\nscript:https://x", r"https://\tx"]
NO_URLS += [
    "https://a b",
    "https://a:b/",
    "https://a[b/",
    "https://[a/",
    "https://@/",
    "https://<x>",
]


@pytest.mark.parametrize("text", NO_URLS)
def test_an_address_is_absolute_http_or_https(text: str) -> None:
    for path in URLS:
        check_refused(path, f'"{text}"', f'expected http(s) URL, got "{text}"')
    path = "$.business.reports"
    check_refused(path, f'"{text}"', f'expected e-mail address or http(s) URL, got "{text}"')


@pytest.mark.parametrize("text", [*NO_URLS, "http://g.example/r"])
def test_address_to_write_a_review_at_is_https(text: str) -> None:
    """A customer follows it with the account of the platform open."""
    path = "$.business.review_urls.google"
    check_refused(path, f'"{text}"', f'expected https URL, got "{text}"')


@pytest.mark.parametrize("text", ["me@", "a b@c.example", "a@b@c", f"{'x' * 400}@c.example"])
def test_contact_is_an_address_of_mail_or_http(text: str) -> None:
    shown = f'"{text}"' if len(text) < 40 else f'"{text[:36]}...'
    reason = f"expected e-mail address or http(s) URL, got {shown}"
    check_refused("$.business.reports", f'"{text}"', reason)


@pytest.mark.parametrize(
    ("text", "character", "escape"),
    [
        ("https://x/<2>", "<", "%3C"),
        ("https://x/2>", ">", "%3E"),
        (r"https://x?\"", r"\"", "%22"),
        ("https://x#`", "`", "%60"),
        ("https://x/ ", " ", "%20"),
        ("https://x/{}", "{", "%7B"),
        ("https://x/|", "|", "%7C"),
        (r"https://x/\\", r"\\", "%5C"),
        ("https://x/^", "^", "%5E"),
        (r"https://x/\n", r"\n", "%0A"),
        (r"https://x/\u0000", r"\u0000", "%00"),
        (r"https://x/\u0085", r"\u0085", "%C2%85"),
        (r"https://x/\u202e", r"\u202e", "%E2%80%AE"),
        (r"https://x/\uffff", r"\uffff", "%EF%BF%BF"),
        ("https://x/?a[]=1", "[", "%5B"),
        ("https://x/100%", "%", "%25"),
        ("https://x/%2", "%", "%25"),
        ("https://x/#a#b", "#", "%23"),
    ],
)
def test_invalid_character_of_an_address_is_named(text: str, character: str, escape: str) -> None:
    """Both feeds, JSON-LD and pages link it unchanged (RFC 3987 2.2, RFC 4287 4.2.7)."""
    reason = f'expected http(s) URL, got "{text}"; write "{character}" as {escape}'
    for path in URLS:
        check_refused(path, f'"{text}"', reason)


@pytest.mark.parametrize("path", URLS)
@pytest.mark.parametrize(
    "text",
    [
        "HTTP://x",
        "https://x:/",
        "https://u:p@x:1/a;b,c?d=$&e='()*+!/?:@~._-%3c#/?%3E",
        "https://[::1]/",
        "https://müller.example/straße?修=理#好",
    ],
)
def test_an_address_may_be_in_any_language(path: str, text: str) -> None:
    load(*both(path, f'"{text}"'))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "expected RFC 3339 date and time"),
        ("2025-01-01", "expected RFC 3339 date and time"),
        ("2025-01-01T00:00:00", "expected RFC 3339 date and time"),
        ("2025-02-30T00:00:00Z", "expected RFC 3339 date and time"),
        ("2025-01-01T00:00:00+25:00", "expected RFC 3339 date and time"),
        ("0001-01-01T00:00:00+00:01", "not in the years 1..9999 UTC"),
        ("9999-12-31T23:59:59-00:01", "not in the years 1..9999 UTC"),
    ],
)
def test_time_that_cannot_be_spelled_in_utc_is_refused(text: str, reason: str) -> None:
    for path in ("$.updated_at", "$.reviews[1].added_at", "$.reviews[1].changed_at"):
        check_refused(path, f'"{text}"', f'{reason}, got "{text}"')


@pytest.mark.parametrize(
    ("value", "value_text"),
    [
        ("", '""'),
        ("a b", '"a b"'),
        ("a\n", r'"a\n"'),
        ("a\tb\x1b[1m", r'"a\tb\u001b[1m"'),
        ("a\x7f\x9b\u2028", r'"a\u007f\u009b\u2028"'),
        ("é", '"é"'),
        ("x" * 129, f'"{"x" * 36}...'),
    ],
)
def test_an_id_is_128_printable_characters_at_most(value: str, value_text: str) -> None:
    """Another one is quoted only: it must not break the line or color the terminal."""
    reason = f"expected 1..128 printable characters, got {value_text}"
    check_refused("$.reviews[1].id", json.dumps(value), reason)
    assert load(*both("$.reviews[1].id", f'"{"~" * 128}"')).records


@pytest.mark.parametrize("day", ["2025-03-14", "2020-01-01"])
def test_a_duplicate_id_names_the_first(day: str) -> None:
    reviews = [*REVIEWS["reviews"], REVIEWS["reviews"][0] | {"date": day, "author": "Al"}]
    lines = refused(encoded(REVIEWS | {"reviews": reviews}))
    assert [finding("$.reviews[2].id", "duplicate of $.reviews[0].id", "r0")] == lines


def test_every_fault_of_both_files_is_told() -> None:
    """In the order of the file, but reviews last; an object's in the order of the data model."""
    reviews = {
        "reviews": ["", {"id": "r1", "rating": 6, "owner_reply": {}}, {"verified": 1, "id": " "}],
        "updated_at": 0,
        "business": {"geo": {"latitude": 91}, "hours": [{"day": "Mo"}]},
    }
    insights = {"version": None, "per_review": {"r1": 1}}
    expected = [
        finding("$.updated_at", "expected string or null, got integer 0"),
        finding("$.business.name", "missing"),
        finding("$.business.geo.latitude", "expected -90..90, got 91"),
        finding("$.business.geo.longitude", "missing"),
        finding(
            "$.business.hours[0].day", 'expected monday..sunday, got "Mo"; did you mean "monday"?'
        ),
        finding("$.business.hours[0].opens", "missing"),
        finding("$.business.hours[0].closes", "missing"),
        finding("$.reviews[0]", 'expected object, got string ""'),
        finding("$.reviews[1].author", "missing", "r1"),
        finding("$.reviews[1].rating", "expected 1..5, got 6", "r1"),
        *(finding(f"$.reviews[1].{name}", "missing", "r1") for name in ("date", "source")),
        finding("$.reviews[1].owner_reply.text", "missing", "r1"),
        finding("$.reviews[1].owner_reply.date", "missing", "r1"),
        finding("$.reviews[1].verified", "missing", "r1"),
        finding("$.reviews[2].id", 'expected 1..128 printable characters, got " "'),
        *(finding(f"$.reviews[2].{n}", "missing") for n in ("author", "rating", "date", "source")),
    ]
    assert MAX_FINDINGS == len(expected)
    assert [*expected, "... and at least 3 more"] == refused(encoded(reviews), encoded(insights))


def test_both_files_are_one_unit() -> None:
    expected = ["reviews.json:1:2: invalid JSON: it ends too early"]
    expected += ["insights.json: $: expected object, got array"]
    assert expected == refused(b"{", b"[]")


def faulty(count: int, **wrong: object) -> bytes:
    """A file with so many faulty reviews."""
    reviews = [REVIEWS["reviews"][0] | {"id": f"r{n}", **wrong} for n in range(count)]
    return encoded(REVIEWS | {"reviews": reviews})


@pytest.mark.parametrize(
    ("count", "rest"),
    [(19, []), (20, []), (21, ["... and at least 1 more"]), (500, ["... and at least 480 more"])],
)
def test_first_faults_are_told_and_other_records_counted(count: int, rest: list[str]) -> None:
    lines = refused(faulty(count, rating=7))
    assert rest == lines[20:]
    assert f"reviews.json: $.reviews[{min(count, 20) - 1}].rating" in lines[min(count, 20) - 1]


def test_faults_of_one_part_are_told_as_far_as_they_are_shown() -> None:
    many = REVIEWS["business"] | {"service_areas": [1] * 100_000}
    lines = refused(encoded(REVIEWS | {"business": many}))
    last = "reviews.json: $.business.service_areas[19]: expected string, got integer 1"
    assert f'{last}; for example: service_areas: ["Dover", "Deal"]' == lines[19]
    assert ["... and at least 1 more"] == lines[20:]


def test_duplicates_are_counted_exactly() -> None:
    reviews = [REVIEWS["reviews"][0]] * 31
    assert "... and 10 more" == refused(encoded(REVIEWS | {"reviews": reviews}))[20]


def test_reviews_are_newest_first_then_by_descending_id() -> None:
    days = {"b": 2, "a": 1, "c": 2, "Z": 3, "z": 3, "a2": 2}
    review = REVIEWS["reviews"][0]
    given = {name: review | {"id": name, "date": f"2025-01-0{days[name]}"} for name in days}
    records = load(encoded(REVIEWS | {"reviews": list(given.values())}), None).records
    assert ["z", "Z", "c", "b", "a2", "a"] == records.ids
    for review_id, day, raw in zip(records.ids, records.days, records, strict=True):
        assert given[review_id] == json.loads(raw)
        assert datetime.date(2025, 1, days[review_id]).toordinal() == day


def test_a_dataset_holds_what_was_given() -> None:
    dataset = load(b"\xef\xbb\xbf" + encoded(REVIEWS), encoded(INSIGHTS))
    assert dataset.stars == {5: 1, 4: 1}
    assert dataset.business.name == "Acme"
    assert dataset.members.keys() == REVIEWS.keys() - {"reviews"}
    assert all(json.loads(bytes(raw)) == REVIEWS[name] for name, raw in dataset.members.items())
    insights = dataset.insights
    assert insights is not None
    assert insights.members.keys() == INSIGHTS.keys()
    assert insights.spellings.lists["technicians"] == {"sam": array("I", [0])}
    assert (insights.analysed, insights.typed.model) == (3, "lexicon-1")
    assert insights.typed.per_review == {}


def test_the_least_data_set_is_a_name() -> None:
    least = b'{"business": {"name": "A"}, "reviews": []}'
    dataset = load(least, b"{}")
    assert (list(dataset.records), dataset.stars) == ([], {})
    assert dataset.insights is not None
    assert dataset.insights.analysed == 0
    assert load(least, None).insights is None


def test_progress_goes_from_none_to_all() -> None:
    steps: list[tuple[str, int, int]] = []
    reviews = [REVIEWS["reviews"][0] | {"id": str(number)} for number in range(20_001)]
    load(encoded(REVIEWS | {"reviews": reviews}), None, lambda *step: steps.append(step))
    assert [("validating", done, 20_001) for done in (0, 10_000, 20_000, 20_001)] == steps


def outcome(reviews: bytes, insights: bytes) -> Dataset | DataError:
    try:
        return load(reviews, insights)
    except DataError as error:
        return error


def check_outcome(reviews: bytes, insights: bytes) -> None:
    """It is loaded, or refused with findings of one line each."""
    result = outcome(reviews, insights)
    if isinstance(result, DataError):
        assert result.total >= len(result.findings) >= 1
        assert all(len(line.splitlines()) == 1 for line in result.lines())


@given(reviews=nearly(REVIEWS), insights=nearly(INSIGHTS))
def test_nearly_valid_document_is_loaded_or_refused(reviews: Document, insights: Document) -> None:
    check_outcome(encoded(reviews), encoded(insights))


@given(
    cut=st.integers(0, 1200),
    removed_bytes=st.integers(0, 5),
    inserted_bytes=st.binary(max_size=5) | st.sampled_from([b'"', b"{", b"}", b"1e999"]),
)
def test_a_file_that_is_damaged_is_loaded_or_refused(
    cut: int, removed_bytes: int, inserted_bytes: bytes
) -> None:
    for file_text in (encoded(REVIEWS), encoded(INSIGHTS)):
        damaged = file_text[:cut] + inserted_bytes + file_text[cut + removed_bytes :]
        check_outcome(damaged, damaged)
