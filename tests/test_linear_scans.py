"""Each scan written by hand takes time in proportion to its input, even a hostile one.

Strict JSON, files of the data directory, requests, answers of subscribers, exports: what reads a byte
again for each byte lets one small message stand for a minute of work. Patterns are in
``test_linear_patterns``.
"""

import contextlib
import datetime
import io
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, AnyStr

import pytest

from reviewsctl.corrections import deciding
from reviewsctl.importing import business, doubts, pairs, ratings, times, values
from reviewsctl.importing.errors import ImportRefusedError, RowRefusedError
from reviewsctl.importing.publicity import signs
from reviewsctl.importing.readers import csv_file
from reviewsctl.importing.readers.json_file import decoded
from reviewsctl.importing.readers.json_lists import around, layouts_of, lists_at
from reviewsctl.importing.readers.parts import Part
from reviewsd.api import spelling
from reviewsd.api.texts import merge_key, printable
from reviewsd.config import syntax, yaml_source
from reviewsd.domain import clients, data_errors, json_location, parameters, strict_json
from reviewsd.domain.corrections import Corrections
from reviewsd.domain.dataset import Dataset, load
from reviewsd.domain.insights import slug
from reviewsd.domain.issues import InvalidParametersError
from reviewsd.domain.search_parameters import SEARCH_PARAMETERS
from reviewsd.http1 import body as bodies
from reviewsd.http1 import parser, preconditions
from reviewsd.mcp import arguments, jsonrpc
from reviewsd.mcp.results import ToolError
from reviewsd.offline.corrections import ReviewsWithCorrections
from reviewsd.pages import text
from reviewsd.publish import documents
from reviewsd.snapshot import mentions, suffix_array
from reviewsd.websub.delivery import retry_after
from reviewsd.websub.outbound import response_parser
from tests.support.growth import Thunk, assert_linear
from tests.support.requests import conditional_request

Scan = tuple[Callable[[int], Any], Callable[[Any], object]]
"""Makes an input of about so many bytes, and reads it."""

REFUSED = (
    data_errors.DataError,
    jsonrpc.JsonRpcError,
    ToolError,
    InvalidParametersError,
    ImportRefusedError,
    RowRefusedError,
)


def repeated(begin: AnyStr, pump: AnyStr, end: AnyStr | None = None) -> Callable[[int], AnyStr]:
    """Inputs that repeat a part."""
    return lambda n: begin + pump * (n // len(pump)) + (begin[:0] if end is None else end)


_PAIR = b'"%07d":1'
_CHUNK = b"1\r\na\r\n"
_HEADER = b"date,rating\n"


def members(pair: bytes, size: int) -> bytes:
    """Return a JSON object with numbered member names."""
    return b"{%b}" % b",".join(pair % number for number in range(size // len(pair) + 1))


def reviews(more: bytes = b"", extra: bytes = b"1", size: int = 0) -> bytes:
    """Return a reviews.json with more members, and an unknown member in its reviews."""
    review_members = (
        b'"author":"A","rating":5,"date":"2025-01-01","source":"g","verified":true,"x":%b' % extra
    )
    records = (
        b'{"id":"r%d",%b}' % (number, review_members)
        for number in range(size // len(review_members) + 1)
    )
    return b'{"business":{"name":"A"},"reviews":[%b]%b}' % (b",".join(records), more)


def load_alone(text: bytes) -> object:
    """Load reviews without insights."""
    return load(text, None)


def load_insights(text: bytes) -> object:
    """Load an insights.json beside reviews that are in order."""
    return load(reviews(), text)


def one_name(size: int) -> Dataset:
    """Entities of one name, and many more reviews that mention it."""
    count = size // 4
    mentions = b",".join(b'"r%d":{"technicians":["x"]}' % number for number in range(count))
    names = b",".join(b'"x"' for _ in range(count // 16))
    insights = b'{"per_review":{%b},"entities":{"technicians":[%b]}}' % (mentions, names)
    return load(reviews(size=80 * count), insights)


def many_names(size: int) -> Dataset:
    """Entities that share a first word, an alias and a label, each with an alias of its own."""
    people = (
        b'{"label":"Sam %b","aliases":["boss","a%d"]}' % (b"Jones" if n % 2 else b"%d" % n, n)
        for n in range(size // 40)
    )
    insights = b'{"entities":{"technicians":[%b]}}' % b",".join(people)
    return load(reviews(size=80), insights)


def mentioned(dataset: Dataset) -> object:
    """Return the reviews of each mentioned name."""
    assert dataset.insights is not None
    return mentions.mention_positions(dataset.insights, dataset.records.places)


_PARAMETERS = {parameter.name: parameter for parameter in SEARCH_PARAMETERS}


def read_arguments(text: bytes) -> object:
    """Read the arguments of a tool."""
    return arguments.read(_PARAMETERS, (), text)


def client_behind(hops: str) -> object:
    """Read the address of a client behind proxies."""
    return clients.client_address("127.0.0.1", [hops], LOOPBACK)


def read_meta(params: bytes) -> object:
    """Read the parameters of a request, and the members of their ``_meta``."""
    body = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":%b}' % params
    message = jsonrpc.read_body(body)
    assert isinstance(message, jsonrpc.JsonRpcRequest)
    return message.params.meta


def read_bytewise(body: bodies.BodyReader, data: bytes) -> bytes:
    """A body of which each read brings one byte."""
    for at in range(len(data)):
        body.feed(data[at : at + 1])
    return body.content()


def take_all(data: bytes) -> None:
    """All requests that came at once."""
    taker = parser.RequestParser(lambda *_: parser.Cap(0, problem=None))  # type: ignore[arg-type]
    taker.buffer = data
    while taker.next_request() is not None:
        pass


def read_answer(head: bytes, data: bytes, step: int) -> None:
    """Parse a subscriber's response in pieces."""
    reader = response_parser.ResponseParser(1000)
    reader.feed(head)
    for at in range(0, len(data), step):
        reader.feed(data[at : at + step])


def indexed(texts: bytes) -> None:
    """The index of texts of one length."""
    size = texts.index(b"\xff") + 1
    with TemporaryDirectory() as place:
        suffix_array.write(Path(place), "index", texts, [size] * (len(texts) // size))


def tags(tail: bytes) -> Scan:
    """The scan of an If-None-Match with many tags, and ours among them."""
    return (
        lambda n: conditional_request({b"if-none-match": (b'"a" , , ' * (n // 8) + tail,)}),
        lambda request: preconditions.evaluate(request, b'"z"', last_modified=1, now=1),
    )


def read_document(text: bytes) -> None:
    """Read an export in JSON."""
    value, _ = decoded(text, "x")
    layouts = layouts_of(value, lambda _: False)
    for layout in layouts:
        list(lists_at(value, layout))
    around(value, layouts)


def read_table(text: bytes) -> None:
    """Read an export as CSV."""
    part = Part(name="x", size=0, room=0, open=lambda: io.BytesIO(text))
    for _ in csv_file.rows(part, csv_file.dialect_of(part)):
        pass


NOW = datetime.datetime(2026, 5, 1, tzinfo=datetime.UTC)
LOOPBACK = [syntax.network("127.0.0.0/8")]
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
PLAIN = b"HTTP/1.1 200 OK\r\n\r\n"


def edited_reviews(**members: str) -> Scan:
    """Reviews that are hidden, and rows that may be them; ``kind`` is old or new."""

    def facts_of(kind: str, number: int) -> pairs.Facts:
        facts = {"author": "Anonymous", "source": "x", "date": "2026-03-14", "rating": 1}
        facts |= {name: text.format(kind=kind, number=number) for name, text in members.items()}
        action = "hide" if kind == "old" else ""
        return pairs.facts_of(facts, f"{kind}{number}", action=action)

    def found(reviews: list[list[pairs.Facts]]) -> None:
        old, new = reviews
        doubts.find_doubts(old, new, pairs.find_pairs(old, new), are_typed=False)

    return (
        lambda n: [
            [facts_of(kind, number) for number in range(n // 200)] for kind in ("old", "new")
        ],
        found,
    )


def hidden_together(reviews: ReviewsWithCorrections) -> None:
    """Hide all reviews of a file, each named by its id."""
    chosen = deciding.named([entry.review.id for entry in reviews.reviews], reviews)
    reviews.with_correction(chosen, "hide", "spam", NOW)


def reviews_with_own_ids(size: int) -> ReviewsWithCorrections:
    """Reviews of 64 times as many bytes: looking at all for each is noticed from some hundreds on."""
    dataset = load(reviews(size=64 * size), None)
    return ReviewsWithCorrections(dataset, Corrections(), set(map(merge_key, dataset.records.ids)))


SCANS: dict[str, Scan] = {
    "zeros of Retry-After": (repeated(b"", b"0", b"x"), lambda value: retry_after(value, 0)),
    # strict JSON, before it is known to be JSON
    "quotes after brackets": (repeated(b"[" * 65, b'\\"'), strict_json.too_deep),
    "open strings after brackets": (repeated(b"[" * 65, b'"['), strict_json.too_deep),
    "quotes in a message": (repeated(b'["', b'\\"', b'"]'), jsonrpc.check_strict),
    "quotes in a deep message": (repeated(b"[" * 65, b'\\"'), jsonrpc.check_strict),
    "arrays in a message": (repeated(b"[", b"[],", b"[]]"), jsonrpc.check_strict),
    "members in a message": (lambda n: members(_PAIR, n), jsonrpc.check_strict),
    "digits in a message": (repeated(b"[", b"1", b"]"), jsonrpc.check_strict),
    "digits of a fraction": (repeated(b"[1.", b"1", b"e5]"), jsonrpc.check_strict),
    "members of _meta": (lambda n: b'{"_meta":%b}' % members(_PAIR, n), read_meta),
    "unknown arguments": (lambda n: members(_PAIR, n), read_arguments),
    "a long argument": (repeated(b'{"', b"aB", b'":1}'), read_arguments),
    "digits of an argument": (repeated(b'{"min_rating":1.', b"1", b"}"), read_arguments),
    # the data directory
    "a name that comes again at last": (
        lambda n: members(_PAIR, n)[:-1] + b',"%07d":1}' % (n // 8),
        strict_json.fault,
    ),
    "reviews": (lambda n: reviews(size=n), load_alone),
    "reviews that are hidden together": (reviews_with_own_ids, hidden_together),
    "members of a file": (lambda n: reviews(b"," + members(_PAIR, n)[1:-1]), load_alone),
    "brackets in a string": (lambda n: reviews(extra=b'"%b"' % (b'[{\\"' * (n // 4))), load_alone),
    "digits of a number": (lambda n: reviews(extra=b"1" * n), load_alone),
    "lines before a fault": (repeated(b'{"a":\n', b"\n"), load_alone),
    "faults of insights": (repeated(b'{"aspects":[', b"1,", b"1]}"), load_insights),
    "faults below a long name": (
        lambda n: b'{"per_review":{"%b":{"topics":[%b1]}}}' % (b"a" * 32 * n, b"1," * (n // 2)),
        load_insights,
    ),
    "paths to places": (
        lambda n: reviews(size=n),
        lambda text: json_location.locate(text, ["$.reviews[0].rating", "$.x", "$.reviews[7].id"]),
    ),
    "steps of a path": (repeated("$", '["a"]'), lambda path: json_location.locate(b"{}", [path])),
    "line breaks before a place": (
        repeated(b"", b"\n"),
        lambda text: json_location.place_at(text, len(text), 1),
    ),
    "a name that is shown": (repeated("", "\x1b"), data_errors.show),
    "a name that is like another": (
        repeated("", "ab"),
        lambda name: spelling.nearest(name, ["abab", "base_url"]),
    ),
    "nameless reviews of a day": edited_reviews(text="They stole my wallet {kind}"),
    "nameless reviews of a day without words": edited_reviews(text=""),
    "corrected names of a day": edited_reviews(author="A{number} {kind}", text="Broken {number}"),
    "names of one short form": edited_reviews(
        author="Jane D{number}{kind}", text="Broken {number}{kind}", date="{number}{kind}"
    ),
    "marks of a label": (repeated("", "é★ "), slug),
    "members that are rendered": (lambda n: members(b'"%07d":{"a":[1]}', n), documents.complete),
    "the same letter in many texts": (lambda n: 8 * (b"a" * (n // 8 - 1) + b"\xff"), indexed),
    "many texts alike": (repeated(b"", b"so good\xff"), indexed),
    # the configuration
    "keys of a configuration": (
        lambda n: b"".join(b"a%06d: 1\n" % i for i in range(n // 11)),
        yaml_source.read,
    ),
    "keys below a long key": (
        lambda n: b"? %b\n:\n%b" % (b"a" * 128 * n, b"  a: 1\n" * (n // 7)),
        yaml_source.read,
    ),
    "addresses of a configuration": (repeated("", "://"), yaml_source.masked),
    # requests
    "requests at once": (repeated(b"", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"), take_all),
    "chunks": (repeated(b"", _CHUNK), lambda data: bodies.Chunked().feed(data)),
    "chunks, byte by byte": (
        repeated(b"", _CHUNK),
        lambda data: read_bytewise(bodies.Chunked(), data),
    ),
    "a body, byte by byte": (
        repeated(b"", b"a"),
        lambda data: read_bytewise(bodies.Sized(len(data)), data),
    ),
    "parameters": (repeated(b"", b"a=b&"), parameters.read_query),
    "escapes of a parameter": (repeated(b"query=", b"%41"), parameters.read_query),
    "digits of a parameter": (repeated(b"min_rating=1.", b"1"), parameters.read_query),
    "a cursor": (repeated(b"cursor=", b"MjAy"), parameters.read_query),
    "entity tags": tags(b'"z"'),
    "entity tags and a fault": tags(b'"z" x'),
    "proxies": (repeated("", "127.0.0.1,"), client_behind),
    "a long hop": (repeated("", ":"), client_behind),
    "entities of one name": (one_name, mentioned),
    "names that several have": (many_names, mentioned),
    # answers of subscribers
    "chunks of an answer": (
        repeated(b"", _CHUNK),
        lambda data: read_answer(CHUNKED, data, len(data)),
    ),
    "an answer, byte by byte": (repeated(b"", b"a"), lambda data: read_answer(PLAIN, data, 1)),
    "interim answers": (
        repeated(b"", b"HTTP/1.1 100 a\r\n\r\n"),
        lambda data: read_answer(data, b"", 1),
    ),
    # exports
    "rows of JSON": (repeated(b"[", b"{},", b"1]"), read_document),
    "lines of JSON": (repeated(b"", b"{}\n"), read_document),
    "members beside the rows": (lambda n: members(_PAIR, n), read_document),
    "blanks of JSON": (repeated(b"[", b" \n", b"1]"), read_document),
    "a long string": (repeated(b'["', b'\\"', b'"]'), read_document),
    "a long number": (repeated(b"[1", b"e"), read_document),
    "rows of a table": (repeated(_HEADER, b"1,2\n"), read_table),
    "quotes of a cell": (repeated(_HEADER + b'"', b'""', b'"'), read_table),
    "lines of a cell": (repeated(_HEADER + b'"', b"\n"), read_table),
    "digits of a date": (repeated("", "9"), times.moment),
    "blanks of a date": (lambda n: [("date", "1%sx" % (" " * n))], times.reading_of),
    "a name": (repeated("", "a "), values.short_name),
    "a translation": (repeated("(Translated by Google) ", "\n\n(Original)"), values.original),
    "a rating": (repeated("5 of", " ", "x"), ratings.stars),
    "a rating on a scale": (
        lambda n: "5" + " " * n + "/" + " " * n,
        lambda text: ratings.Scale(best=10).stars(text),
    ),
    "a name of a column": (repeated("", "é-"), values.normal),
    "the name of a sign": (repeated("", "a.", "status"), signs.sign_of),
    "the names of two businesses": (
        lambda n: ("a " * (n // 4), "b " * (n // 4)),
        lambda names: business.likeness(*names),
    ),
    "control characters": (repeated("", "\x1b"), printable),
    "digits of a list in Markdown": (repeated("", "1", "."), text.escaped),
    "blanks before a line of Markdown": (repeated("", " ", "-"), text.escaped),
    "ampersands in Markdown": (repeated("", "&"), text.escaped),
    "matches in a text": (repeated("", "a"), lambda long: text.highlighted(long, "aa")),
    "matches that nearly are": (
        repeated("", "a"),
        lambda long: text.highlighted(long, "a" * 99 + "b"),
    ),
    "characters that fold to several": (
        repeated("", "ß"),
        lambda long: text.highlighted(long, "t"),
    ),
    "lines in Markdown": (repeated("", "\n"), text.quotation),
}


@pytest.mark.parametrize("name", SCANS)
def test_a_scan_takes_time_in_proportion(name: str) -> None:
    make, read = SCANS[name]

    def making(size: int) -> Thunk:
        content = make(size)

        def work() -> None:
            with contextlib.suppress(*REFUSED):
                read(content)

        return work

    assert_linear(making)
