"""Every read of a real daemon: headers, methods, shapes, order, search (contract 2, 3).

All headers are compared: one that is new or missing is a change of the contract.
"""

import datetime
import gzip
import json
import re
from collections.abc import Callable, Iterator
from email.utils import parsedate_to_datetime
from operator import itemgetter
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest

from tests.support.daemon import BASE_URL, DEMO, HAND_MADE, Answer, Daemon
from tests.support.raw import SECURITY, exchange

pytestmark = pytest.mark.processes

SEARCH = "/api/reviews/search"
SINCE = "/api/reviews/since/2026-01-01"
FIXED = {
    "/reviews.json": "application/json",
    "/insights.json": "application/json",
    "/api/feed.json": "application/json",
    "/feed.xml": "application/atom+xml; charset=utf-8",
    "/.well-known/openapi.json": "application/json",
}
COMPUTED = {
    SEARCH: "application/json",
    f"{SEARCH}?limit=5": "application/json",
    SINCE: "application/json",
}
READS = FIXED | COMPUTED
TOPICS = {"/reviews.json", "/api/feed.json", "/feed.xml"}
HEALTH = "/healthz"

ALLOW = "GET, HEAD, OPTIONS"
TAG = re.compile(r'"[A-Za-z0-9_-]{22}(-gzip)?"')

ON_EVERY_ANSWER = SECURITY | {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "ETag, Last-Modified, Link, Retry-After",
}
ON_DATA = ON_EVERY_ANSWER | {
    "Cache-Control": "public, max-age=60, stale-while-revalidate=300, stale-if-error=86400",
    "Accept-Ranges": "none",
}
ON_ERRORS = ON_EVERY_ANSWER | {
    "Cache-Control": "no-store",
    "Vary": "Accept",
    "Content-Type": "application/json",
}
SERVICE_DESC = f'<{BASE_URL}/.well-known/openapi.json>; rel="service-desc"'

DATA: dict[str, Any] = json.loads((DEMO / "reviews.json").read_bytes())
INSIGHTS: dict[str, Any] = json.loads(HAND_MADE.read_bytes())
NEWEST_FIRST = [
    review["id"] for review in sorted(DATA["reviews"], key=itemgetter("date", "id"), reverse=True)
]
BY_ID = {review["id"]: review for review in DATA["reviews"]}


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon without insights, with a base_url of http and other cache settings."""
    directory = tmp_path_factory.mktemp("bare")
    (directory / "data").mkdir()
    (directory / "data" / "reviews.json").write_bytes((DEMO / "reviews.json").read_bytes())
    environ = {"REVIEWSD_BASE_URL": "http://reviews.internal.example:8080"}
    settings = "cache: {max_age: 5}\n"
    settings += "data: {insights: file}\n"
    with Daemon(directory, settings, environ=environ) as running:
        yield running


def constant(answer: Answer) -> dict[str, str]:
    """Return the headers without matching that differ from start to start."""
    varying = {"Date", "ETag", "Last-Modified", "Content-Length", "Link"}
    assert len(answer.headers) == len(set(answer.headers)), "a header came twice"
    return {name: value for name, value in answer.headers.items() if name not in varying}


def ids(answer: Answer) -> list[str]:
    assert 200 == answer.status
    return [review["id"] for review in answer.json()["reviews"]]


def searched(daemon: Daemon, **parameters: object) -> list[str]:
    """Return the ids of the first hundred matches."""
    answer = daemon.get(f"{SEARCH}?{urlencode({'limit': 100, **parameters})}")
    page = answer.json()
    assert page["matched"] >= page["returned"] == len(page["reviews"])
    return ids(answer)


def matching(accepts: Callable[[dict[str, Any]], bool]) -> list[str]:
    """Return the ids of the demo's reviews that a predicate accepts, in the order of the service."""
    return [review_id for review_id in NEWEST_FIRST if accepts(BY_ID[review_id])]


def moment(answer: Answer, header: str) -> datetime.datetime:
    return parsedate_to_datetime(answer.headers[header])


# Headers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", READS)
def test_read_has_exactly_these_headers(daemon: Daemon, path: str) -> None:
    answer = daemon.get(path)
    expected = ON_DATA | {"Content-Type": READS[path]}
    expected |= {"Vary": "Accept-Encoding"}
    dated = {"Last-Modified"} if not path.startswith(SEARCH) else set()
    assert 200 == answer.status
    assert expected == constant(answer)
    assert {"Date", "ETag", "Content-Length", "Link", *dated, *expected} == set(answer.headers)
    assert str(len(answer.body)) == answer.headers["Content-Length"]
    assert TAG.fullmatch(answer.headers["ETag"])


@pytest.mark.parametrize("path", READS)
def test_gzipped_read_has_its_own_tag(daemon: Daemon, path: str) -> None:
    plain = daemon.get(path)
    packed = daemon.get(path, {"Accept-Encoding": "gzip, br"})

    assert constant(plain) | {"Content-Encoding": "gzip"} == constant(packed)
    assert plain.body == gzip.decompress(packed.body)
    assert len(packed.body) < len(plain.body) / 1.5
    assert plain.headers["ETag"][:-1] + '-gzip"' == packed.headers["ETag"]
    for name in ("Last-Modified", "Link"):
        assert plain.headers.get(name) == packed.headers.get(name)
    both = f"{plain.headers['ETag']}, {packed.headers['ETag']}"
    for tag, accepted, status in (
        (packed.headers["ETag"], "identity", 200),
        (plain.headers["ETag"], "gzip", 200),
        (both, "identity", 304),
        (both, "gzip", 304),
    ):
        fields = {"Accept-Encoding": accepted, "If-None-Match": tag}
        assert status == daemon.get(path, fields).status


def test_small_answer_is_not_compressed(daemon: Daemon) -> None:
    """The limit is 1 KiB (decision 9)."""
    answer = daemon.get(f"{SEARCH}?query=nothing+says+this", {"Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in answer.headers
    assert ("Accept-Encoding", 0) == (answer.headers["Vary"], answer.json()["matched"])


def test_health_is_never_stored(daemon: Daemon) -> None:
    answer = daemon.get(HEALTH)
    own = {"Cache-Control": "no-store", "Content-Type": "application/json"}
    assert (200, {"status": "ok"}) == (answer.status, answer.json())
    assert ON_EVERY_ANSWER | own == constant(answer)
    assert {"Date", "Content-Length", *ON_EVERY_ANSWER, *own} == set(answer.headers)


@pytest.mark.parametrize("path", [*READS, HEALTH, "/nope", f"{SEARCH}?limit=x"])
@pytest.mark.parametrize("accepted", ["identity", "gzip"])
def test_head_has_the_headers_of_get_and_no_body(daemon: Daemon, path: str, accepted: str) -> None:
    accept = {"Accept-Encoding": accepted}
    get, head = daemon.get(path, accept), daemon.request("HEAD", path, accept)
    assert get.status == head.status
    assert without_date(get) == without_date(head)
    assert b"" == head.body


def without_date(answer: Answer) -> list[tuple[str, str]]:
    return [(name, value) for name, value in answer.headers.items() if name != "Date"]


@pytest.mark.parametrize("path", [*READS, HEALTH])
def test_options_answers_a_preflight(daemon: Daemon, path: str) -> None:
    fields = {
        "Origin": "https://app.example",
        "Access-Control-Request-Method": "GET",
        "Access-Control-Request-Headers": "if-none-match, authorization, x-custom",
    }
    answer = daemon.request("OPTIONS", path, fields)

    preflight = {
        "Allow": ALLOW,
        "Access-Control-Allow-Methods": ALLOW,
        "Access-Control-Allow-Headers": "*, Authorization, If-None-Match, If-Modified-Since",
        "Access-Control-Max-Age": "86400",
    }
    assert (204, b"") == (answer.status, answer.body)
    assert ON_EVERY_ANSWER | preflight == constant(answer)
    assert {"Date", *ON_EVERY_ANSWER, *preflight} == set(answer.headers)


@pytest.mark.parametrize("method", ["POST", "QUERY"])
@pytest.mark.parametrize("path", [*READS, HEALTH])
def test_other_known_method_is_405_with_allow(daemon: Daemon, path: str, method: str) -> None:
    answer = daemon.request(method, path)
    assert (405, 405) == (answer.status, answer.json()["status"])
    assert ON_ERRORS | {"Allow": ALLOW} == constant(answer)


@pytest.mark.parametrize(
    ("path", "status"),
    [("/nope", 404), ("/%zz", 400), (f"{SEARCH}?limit=x", 400), ("/api/reviews/since/x", 400)],
)
def test_error_has_exactly_these_headers(daemon: Daemon, path: str, status: int) -> None:
    answer = daemon.get(path)
    assert status == answer.status
    assert ON_ERRORS == constant(answer)
    assert {"Date", "Content-Length", *ON_ERRORS} == set(answer.headers)


@pytest.mark.parametrize("path", [*READS, HEALTH, "/reviews", "/r/a%20b", "/developers/api"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_trailing_slash_of_a_read_is_redirected(daemon: Daemon, path: str, method: str) -> None:
    """Clients and people add the slash. The query is kept, and the address has no host name."""
    bare, mark, query = path.partition("?")
    answer = daemon.request(method, f"{bare}/{mark}{query}")
    assert (308, path, b"") == (answer.status, answer.headers["Location"], answer.body)
    assert ON_DATA == {name: constant(answer)[name] for name in ON_DATA}
    assert {"Location", "Date", "Content-Length", *ON_DATA} == set(answer.headers)


@pytest.mark.parametrize("path", READS)
def test_links_are_topic_hub_and_description(daemon: Daemon, path: str) -> None:
    """The npm library pubsubhubbub reads only the first link."""
    links = daemon.get(path).headers["Link"].split(", ")
    hub = f'<{BASE_URL}/api/websub/hub>; rel="hub"'
    expected = [SERVICE_DESC]
    if path in TOPICS:
        expected = [f'<{BASE_URL}{path}>; rel="self"', hub, SERVICE_DESC]
    assert expected == [link for link in links if 'rel="next"' not in link]


@pytest.mark.parametrize("path", [*FIXED, SINCE])
def test_last_modified_is_recent_and_past(daemon: Daemon, path: str) -> None:
    answer = daemon.get(path)
    changed = moment(answer, "Last-Modified")
    assert datetime.timedelta(0) <= moment(answer, "Date") - changed < datetime.timedelta(minutes=5)


def test_urls_do_not_depend_on_the_request(daemon: Daemon) -> None:
    claims = {
        "Host": "localhost",
        "X-Forwarded-Host": "evil.example",
        "X-Forwarded-Proto": "gopher",
        "Forwarded": "host=evil.example",
        "X-Original-URL": "/healthz",
    }
    for path in (*READS, "/nope", f"{SEARCH}?limit=x"):
        connection = exchange(
            daemon.port,
            f"GET {path} HTTP/1.1\r\n".encode()
            + b"".join(f"{name}: {value}\r\n".encode() for name, value in claims.items())
            + b"Connection: close\r\n\r\n",
        )
        assert b"evil" not in connection
        assert daemon.get(path).body == connection.partition(b"\r\n\r\n")[2]


@pytest.mark.parametrize("path", [*READS, HEALTH, "/nope"])
def test_credentials_are_ignored_and_no_cookie_is_set(daemon: Daemon, path: str) -> None:
    plain = daemon.get(path)
    credentials = {"Authorization": "Bearer x", "Cookie": "session=1; TWISTED_SESSION=2"}
    answer = daemon.get(path, credentials)
    assert plain.status == answer.status
    assert plain.body == answer.body
    assert without_date(plain) == without_date(answer)
    assert not {"Set-Cookie", "WWW-Authenticate"} & set(answer.headers)


def test_caching_and_hsts_follow_the_configuration(bare: Daemon) -> None:
    answer = bare.get("/reviews.json")
    control = "public, max-age=5, stale-while-revalidate=300, stale-if-error=86400"
    assert control == answer.headers["Cache-Control"]
    assert "Strict-Transport-Security" not in answer.headers
    assert (
        "<http://reviews.internal.example:8080/feed.xml>" in bare.get("/feed.xml").headers["Link"]
    )


# Documents ----------------------------------------------------------------------------------------


def test_reviews_json_has_business_rating_and_reviews_newest_first(daemon: Daemon) -> None:
    answer = daemon.get("/reviews.json")
    document = answer.json()

    assert ["business", "aggregate_rating", "updated_at", "reviews"] == list(document)
    assert DATA["business"].items() <= document["business"].items()
    assert NEWEST_FIRST == ids(answer)
    stars = [review["rating"] for review in DATA["reviews"]]
    rating = document["aggregate_rating"]
    assert len(stars) == rating["review_count"]
    assert round(sum(stars) / len(stars), 2) == rating["rating_value"]
    assert {str(n): stars.count(n) for n in range(1, 6)} == rating["distribution"]
    latest = max(review["date"] for review in DATA["reviews"])
    assert "updated_at" not in DATA
    assert f"{latest}T12:00:00Z" == document["updated_at"]
    for review in document["reviews"]:
        assert BY_ID[review["id"]].items() <= review.items()


def test_insights_json_is_the_operators_file(daemon: Daemon) -> None:
    assert INSIGHTS == daemon.get("/insights.json").json()


def test_json_feed_is_application_json_for_any_accept(daemon: Daemon) -> None:
    answer = daemon.get("/api/feed.json", {"Accept": "application/feed+json, text/html"})
    assert "application/json" == answer.headers["Content-Type"]


# Search -------------------------------------------------------------------------------------------


def test_search_without_parameters_lists_the_newest_twenty(daemon: Daemon) -> None:
    answer = daemon.get(SEARCH)
    page = answer.json()
    assert ["matched", "returned", "reviews", "next_cursor"] == list(page)
    assert (len(NEWEST_FIRST), 20) == (page["matched"], page["returned"])
    assert NEWEST_FIRST[:20] == ids(answer)
    assert daemon.get("/reviews.json").json()["reviews"][:20] == page["reviews"]


@pytest.mark.parametrize("limit", [1, 7, 50, 100])
@pytest.mark.parametrize("filters", ["", "min_rating=4&since=2024-01-01", "query=THE"])
def test_pages_of_a_search_list_every_match_once(daemon: Daemon, limit: int, filters: str) -> None:
    first_hundred = searched(daemon, **dict(parse_qsl(filters)))
    matched = daemon.get(f"{SEARCH}?{filters}").json()["matched"]
    path: str | None = f"{SEARCH}?{filters}&limit={limit}"
    listed: list[str] = []
    while path is not None:
        answer = daemon.get(path)
        page = answer.json()
        listed += ids(answer)
        assert matched == page["matched"]
        link = re.search(r'<([^>]*)>; rel="next"', answer.headers["Link"])
        assert (link is None) == (page["next_cursor"] is None)
        assert limit == page["returned"] or link is None
        path = None
        if link is not None:
            assert f"cursor={page['next_cursor']}" in link[1]
            path = link[1].removeprefix(BASE_URL)
    assert matched == len(listed) == len(set(listed))
    assert first_hundred == listed[:100]


def test_equal_searches_have_equal_tags(daemon: Daemon) -> None:
    queries = ("limit=20", "", "utm_source=x", "query=&limit=20.0")
    assert 1 == len({daemon.get(f"{SEARCH}?{query}").headers["ETag"] for query in queries})


# Since --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("date", ["0001-01-01", "2024-02-29", "2026-11-10", "9999-12-31"])
def test_since_lists_every_review_from_its_day_on(daemon: Daemon, date: str) -> None:
    answer = daemon.get(f"/api/reviews/since/{date}")
    result = answer.json()
    expected = matching(lambda review: review["date"] >= date)
    assert ["since", "matched", "returned", "reviews"] == list(result)
    counts = (result["since"], result["matched"], result["returned"])
    assert (date, len(expected), len(expected)) == counts
    assert expected == ids(answer)


# Without insights ---------------------------------------------------------------------------------


def test_insights_json_is_404_without_insights(bare: Daemon) -> None:
    answer = bare.get("/insights.json")
    assert 404 == answer.status
    assert {"type", "title", "status", "detail"} == answer.json().keys()
    assert "No insights are published" in answer.json()["detail"]
    documented = bare.get("/.well-known/openapi.json").json()["components"]["responses"]
    example = documented["NotPublished"]["content"]["application/json"]["example"]
    assert example["type"] == answer.json()["type"]
    assert 204 == bare.request("OPTIONS", "/insights.json").status
    assert 405 == bare.request("POST", "/insights.json").status


def test_other_reads_work_without_insights(bare: Daemon) -> None:
    assert [200] * 6 == [bare.get(path).status for path in READS if path not in {"/insights.json", SEARCH}]  # fmt: skip
    assert NEWEST_FIRST[:20] == ids(bare.get(SEARCH))


# Across a restart ---------------------------------------------------------------------------------


def test_restart_keeps_tags_and_dates(tmp_path: Path) -> None:
    """The state has the time at which bytes first appeared (contract 2), which is made a day older here."""
    day = 86_400
    with Daemon(tmp_path) as daemon:
        before = [daemon.get(path) for path in READS]
        assert 0 == daemon.stop()
        file = daemon.state / "snapshots" / "current" / "seen.json"
        times = json.loads(file.read_bytes())
        times["first_seen"] = {path: at - day for path, at in times["first_seen"].items()}
        file.write_text(json.dumps(times))
        daemon.start()
        after = [daemon.get(path) for path in READS]
    assert [old.headers["ETag"] for old in before] == [new.headers["ETag"] for new in after]
    dated = [n for n, path in enumerate(READS) if not path.startswith(SEARCH)]
    assert [day] * 6 == [
        (moment(before[n], "Last-Modified") - moment(after[n], "Last-Modified")).total_seconds()
        for n in dated
    ]
