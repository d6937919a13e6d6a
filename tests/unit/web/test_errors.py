"""Errors of reads: always of the one shape, never HTML or a traceback (contract 2 and 3; S7, S8, S15, S16, F18).

Malformed HTTP is in tests/wire_corpus, the grammar of parameters in tests/unit/domain.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from twisted.internet.task import Clock
from twisted.logger import capturedLogs

from reviewsd.http1.responses import Responses
from reviewsd.snapshot.snapshots import Snapshots
from reviewsd.web.probes import Probes
from reviewsd.web.reads import Reads
from tests.support.budgets import budgets
from tests.support.connections import ask, exchanged, serving
from tests.support.daemon import BASE_URL, Answer, Daemon
from tests.support.raw import responses

pytestmark = pytest.mark.processes

SEARCH = "/api/reviews/search"
SINCE = "/api/reviews/since/"
REPLIES = Responses(BASE_URL, "public, max-age=60", lambda: 1_760_000_000.0)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon for all tests, none of which may make it log an error."""
    with Daemon(tmp_path_factory.mktemp("daemon")) as running:
        yield running
        start = ("published", "serving", "notify systemd", "to be delivered", "in the last minute")
        assert [] == [line for line in running.lines if not any(word in line for word in start)]


def check_problem(answer: Answer, status: int, *, issues: bool = False) -> Any:
    """Check the shape of an error, and return it; test_reads has the headers."""
    assert status == answer.status
    problem = answer.json()
    members = {"type", "title", "status", "detail"} | ({"issues"} if issues else set())
    assert members == problem.keys()
    assert status == problem["status"]
    assert problem["type"].startswith(f"{BASE_URL}/developers/errors#")
    return problem


def paths_of(problem: Any) -> list[list[str]]:
    return [issue["path"] for issue in problem["issues"]]


# Parameters ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "code", "path"),
    [
        ("rating=6", "too_big", "rating"),
        ("rating%00=1", "unrecognized_keys", "rating\0"),
        ("cursor=" + 5000 * "A", "invalid_format", "cursor"),
    ],
)
def test_invalid_parameter_is_named_in_400(
    daemon: Daemon, query: str, code: str, path: str
) -> None:
    problem = check_problem(daemon.get(f"{SEARCH}?{query}"), 400, issues=True)
    assert f"{BASE_URL}/developers/errors#invalid-query" == problem["type"]
    assert [(code, [path])] == [(issue["code"], issue["path"]) for issue in problem["issues"]]
    assert problem["issues"][0]["message"].replace('"', "").startswith(f"{path} ")


@pytest.mark.parametrize(
    "query", ["%ff=1&%zz=2&=&&&", "a=" + 10_000 * "b", "&".join(f"p{n}=1" for n in range(1500))]
)
def test_unknown_and_empty_parameters_are_ignored(daemon: Daemon, query: str) -> None:
    assert 200 == daemon.get(f"{SEARCH}?{query}").status


@pytest.mark.parametrize("date", ["2025-02-30", "2025-01-01%0a", "%3Cscript%3E"])
def test_invalid_date_in_the_path_is_named_in_400(daemon: Daemon, date: str) -> None:
    problem = check_problem(daemon.get(SINCE + date), 400, issues=True)
    assert [["date"]] == paths_of(problem)
    assert "invalid_format" == problem["issues"][0]["code"]


# Paths --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/nope", "/<script>alert(1)</script>", "/" + 5_000 * "a/"])
def test_inexact_address_is_404_with_the_main_addresses(daemon: Daemon, path: str) -> None:
    problem = check_problem(daemon.get(path), 404)
    assert f"{BASE_URL}/developers/errors#not-found" == problem["type"]
    for address in ("/reviews.json", "/feed.xml", SEARCH, "/.well-known/openapi.json"):
        assert address in problem["detail"]
    assert "script" not in problem["detail"]


@pytest.mark.parametrize("path", ["/%zz", "/%ff"])
def test_broken_escape_in_the_path_is_400(daemon: Daemon, path: str) -> None:
    problem = check_problem(daemon.get(path), 400)
    assert f"{BASE_URL}/developers/errors#bad-request" == problem["type"]
    assert "percent-escape" in problem["detail"]


# Texts and media types ---------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", '"}<b>', "\r\nX: y", "\u2028", "\0"])
def test_request_text_is_repeated_only_in_json_strings(daemon: Daemon, text: str) -> None:
    problem = check_problem(daemon.get(f"{SEARCH}?since={quote(text)}"), 400, issues=True)
    assert f'since must be a date as YYYY-MM-DD, got "{text}"' == problem["issues"][0]["message"]


@pytest.mark.parametrize("path", ["/nope", f"{SEARCH}?limit=x", "/%zz"])
def test_problem_json_is_sent_if_accept_prefers_it(daemon: Daemon, path: str) -> None:
    answer = daemon.get(path, {"Accept": "application/problem+json, */*;q=0.1"})
    assert "application/problem+json" == answer.headers["Content-Type"]
    assert "Accept" == answer.headers["Vary"]
    assert {"type", "title", "status", "detail"} <= answer.json().keys()


@pytest.mark.parametrize("accept", ["text/html,application/xhtml+xml,*/*;q=0.8", "text/html"])
def test_browser_gets_a_page_for_404_and_json_for_other_errors(daemon: Daemon, accept: str) -> None:
    answers = [
        daemon.get(path, {"Accept": accept}) for path in ("/nope", "/%zz", f"{SEARCH}?limit=x")
    ]
    kinds = ["text/html; charset=utf-8", "application/json", "application/json"]
    assert kinds == [answer.headers["Content-Type"] for answer in answers]
    assert {"Accept"} == {answer.headers["Vary"] for answer in answers}


@pytest.mark.parametrize(
    ("path", "media_type"),
    [("/api/websub/hub", "application/x-www-form-urlencoded"), ("/mcp", "application/json")],
)
def test_client_that_only_sends_gets_413(daemon: Daemon, path: str, media_type: str) -> None:
    """``http.client`` sends all bytes before it reads, and would only see a reset connection."""
    answer = daemon.request("POST", path, {"Content-Type": media_type}, 8 * 1024 * 1024 * b"x")
    assert (413, "close") == (answer.status, answer.headers["Connection"])


# Without data -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "status"),
    [("/reviews.json", 503), ("/api/reviews/search?limit=1", 503), ("/healthz", 200)],
)
def test_read_is_503_before_the_first_publication(tmp_path: Path, path: str, status: int) -> None:
    clock = Clock()
    reads = Reads(Snapshots(tmp_path), REPLIES, budgets(clock))
    server = serving(clock, reads, Probes(REPLIES), responses=REPLIES)
    with capturedLogs() as events:
        (response,) = responses(exchanged(server, ask(path)))
    assert status == response.status
    assert (["5"] if status == 503 else []) == response.values("Retry-After")
    assert [] == [event for event in events if "log_failure" in event]
