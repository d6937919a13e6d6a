"""Sources at Google and Trustpilot: complete reads, tokens, and what their errors mean (sources.md 3)."""

import datetime
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from reviewsctl.sources.faults import ReadFailedError, SourceStoppedError
from reviewsctl.sources.oauth import GoogleTokens, Tokens, parsed_client
from reviewsctl.sources.paging import SourceReader
from reviewsctl.sources.run import Outcome, RunOptions, SourceRun
from reviewsctl.sources.state import SourceState
from reviewsctl.sources.wire import Wire
from reviewsd.config.source_schema import ReviewSource, SourceImport
from tests.support.platforms import (
    Google,
    Trustpilot,
    google_reader,
    google_review,
    google_tokens,
    trustpilot_reader,
    trustpilot_review,
)
from tests.support.source_stub import Stub, response

NOW = datetime.datetime(2026, 11, 26, 3, tzinfo=datetime.UTC)
TRUSTPILOT = ReviewSource(
    name="trustpilot", type="trustpilot", import_=SourceImport(name="Harbor Plumbing")
)
GOOGLE = ReviewSource(
    name="google", type="google-business", import_=SourceImport(name="Harbor Plumbing")
)
SECRETS = ("s3cret", "acc3ss", "r3fresh", "jane@example.com")


def google_at(count: int) -> Google:
    return Google({f"g{number}": google_review(number) for number in range(count)})


def trustpilot_at(count: int) -> Trustpilot:
    """The business's own view of its reviews has the addresses of customers."""
    email = {"referralEmail": "jane@example.com"}
    return Trustpilot({f"t{number}": trustpilot_review(number, **email) for number in range(count)})


class Place:
    """A business that reads one platform."""

    def __init__(self, folder: Path, stub: Stub, source: ReviewSource) -> None:
        self.folder = folder
        self.stub = stub
        self.source = source
        self.state = SourceState()
        self.now = NOW
        self.budget = 2_000
        self.max_seconds = 60.0
        self.google().save(
            Tokens(
                refresh_token="r3fresh-0",
                access_token="acc3ss-0",
                expires_at=NOW.replace(year=2027),
            )
        )

    def wire(self) -> Wire:
        return Wire(
            allow_private=True,
            requests_left=self.budget,
            now=lambda: self.now,
            sleep=lambda _: None,
        )

    def google(self) -> GoogleTokens:
        return google_tokens(self.wire(), self.folder / "state", lambda: self.now, self.stub.url)

    def reader(self) -> SourceReader:
        if self.source.type == "trustpilot":
            return trustpilot_reader(self.wire(), self.stub.url)
        return google_reader(self.google())

    def sync(self, *, accept_loss: bool = False) -> Outcome:
        run = SourceRun(
            source=self.source,
            before=self.state,
            target=self.folder / "reviews.json",
            spool=self.folder / "spool" / self.source.name,
            options=RunOptions(accept_loss=accept_loss),
            now=self.now,
            max_seconds=self.max_seconds,
        )
        outcome = run.run(self.reader())
        self.state = outcome.state
        kept = (self.folder / "reviews.json").read_text() if self.authors else ""
        output = f"{outcome}{kept}"
        assert [] == [secret for secret in SECRETS if secret in output]
        assert [] == list((self.folder / "spool").iterdir())
        return outcome

    @property
    def authors(self) -> Sequence[str]:
        file = self.folder / "reviews.json"
        if not file.exists():
            return []
        return [review["author"] for review in json.loads(file.read_text())["reviews"]]


@pytest.fixture
def google(tmp_path: Path, stub: Stub) -> Place:
    return Place(tmp_path, stub, GOOGLE)


@pytest.fixture
def trustpilot(tmp_path: Path, stub: Stub) -> Place:
    return Place(tmp_path, stub, TRUSTPILOT)


def test_all_pages_of_google_are_read(google: Place, stub: Stub) -> None:
    stub.answer = google_at(120)
    outcome = google.sync()
    assert ("ok", 120) == (outcome.state.state, outcome.state.reviews)
    assert 120 == len(google.authors)
    assert (("google", "2"),) == outcome.state.places
    assert 3 == len(stub.asked)


def test_unchanged_first_page_ends_the_read(google: Place, stub: Stub) -> None:
    stub.answer = google_at(120)
    google.sync()
    stub.asked.clear()
    assert (google.sync()).is_unchanged
    assert 1 == len(stub.asked)
    google.now += datetime.timedelta(days=1)
    assert not (google.sync()).is_unchanged


@pytest.mark.parametrize("name", ["google", "trustpilot"])
def test_refused_row_of_a_platform_holds_back_its_own_review_alone(
    request: pytest.FixtureRequest, stub: Stub, name: str
) -> None:
    """Nobody can correct a row of a platform, so that else nothing would be removed any more."""
    place: Place = request.getfixturevalue(name)
    platform = google_at(60) if name == "google" else trustpilot_at(60)
    stub.answer = platform
    place.sync()
    removed, refused = place.authors[:2]
    for key, row in list(platform.reviews.items()):
        if f"'{refused}'" in str(row):
            row.update(createTime="soon", createdAt="soon")
        if f"'{removed}'" in str(row):
            del platform.reviews[key]
    for _ in range(2):
        place.now += datetime.timedelta(days=1)
        outcome = place.sync()
    assert (59, False, True) == (
        len(place.authors),
        removed in place.authors,
        refused in place.authors,
    )
    assert outcome.state.detail.startswith("1 of 59 rows was refused (")
    assert "if they are yours" in outcome.state.remedy


@pytest.mark.parametrize(
    ("name", "platform", "spoiled", "detail"),
    [
        ("google", google_at(120), {"total": 121}, "120 reviews came, and the platform tells"),
        ("google", google_at(120), {"next": lambda _: "next-50"}, "sent a page twice"),
        ("trustpilot", trustpilot_at(120), {"total": 130}, "120 reviews came"),
    ],
    ids=["total", "token", "total of Trustpilot"],
)
def test_incomplete_list_changes_nothing(
    request: pytest.FixtureRequest,
    stub: Stub,
    name: str,
    platform: Google | Trustpilot,
    spoiled: Mapping[str, object],
    detail: str,
) -> None:
    place: Place = request.getfixturevalue(name)
    vars(platform).update(spoiled)
    stub.answer = platform
    outcome = place.sync()
    assert "failed" == outcome.state.state
    assert detail in outcome.state.detail
    assert [] == place.authors


@pytest.mark.parametrize("body", ["<html>Sign in", '{"reviews": [{"na', "[]", '{"reviews": 3}', ""])
def test_answer_that_is_no_page_changes_nothing(google: Place, stub: Stub, body: str) -> None:
    stub.answer = google_at(3)
    google.sync()
    stub.answer = lambda _: response(body)
    assert "is not the JSON of its API" in (google.sync()).state.detail
    assert 3 == len(google.authors)


def test_read_that_cannot_end_today_is_not_begun(google: Place, stub: Stub) -> None:
    google.budget = 2
    stub.answer = google_at(120)
    assert "it takes 2 more requests, and 1" in (google.sync()).state.detail
    assert 1 == len(stub.asked)


def test_business_without_reviews_is_well(google: Place, stub: Stub) -> None:
    stub.answer = google_at(0)
    assert ("ok", 0) == ((google.sync()).state.state, google.state.reviews)


def test_token_that_ends_is_renewed_and_kept_before_use(google: Place, stub: Stub) -> None:
    platform = stub.answer = google_at(3)
    tokens = google.google().load()
    google.google().save(
        Tokens(
            refresh_token=tokens.refresh_token,
            access_token=tokens.access_token,
            expires_at=NOW + datetime.timedelta(seconds=59),
        )
    )
    assert "ok" == (google.sync()).state.state
    assert "r3fresh-1" == google.google().load().refresh_token
    assert 1 == platform.refreshes
    assert 0o600 == (google.folder / "state/tokens/google").stat().st_mode & 0o777
    assert 0o700 == (google.folder / "state/tokens").stat().st_mode & 0o777


def test_refused_token_is_renewed_once(google: Place, stub: Stub) -> None:
    platform = stub.answer = google_at(3)
    platform.accepted = "another"
    assert "ok" == (google.sync()).state.state
    assert 1 == platform.refreshes


@pytest.mark.parametrize(
    ("grant", "state", "detail", "is_login"),
    [
        (response('{"error": "invalid_grant"}', 400), "stopped", "invalid_grant", True),
        (response('{"error": "invalid_client"}', 401), "stopped", "invalid_client", False),
        (response('{"error": "invalid_request"}', 400), "failed", "400 from", False),
        (response('{"access_token": "acc3ss-x", "expires_in": 3599}'), *("stopped", "401: ", True)),
    ],
    ids=["invalid grant", "invalid client", "other", "refused again"],
)
def test_only_a_lost_login_asks_for_a_new_one(
    google: Place, stub: Stub, grant: bytes, state: str, detail: str, *, is_login: bool
) -> None:
    platform = stub.answer = google_at(3)
    platform.accepted, platform.grant = "another", lambda _: grant
    outcome = google.sync()
    assert state == outcome.state.state
    assert detail in outcome.state.detail
    assert is_login == ("sources login google" in outcome.state.remedy)


@pytest.mark.parametrize(
    ("status", "body", "states"),
    [
        (403, '{"error": {"status": "PERMISSION_DENIED"}}', ["stopped"]),
        (403, '{"error": {"status": "RESOURCE_EXHAUSTED"}}', ["failed"]),
        (404, "{}", ["failed", "failed", "failed"]),
        (418, "s3cret", ["failed"]),
    ],
)
def test_meaning_of_a_refusal(
    google: Place, stub: Stub, status: int, body: str, states: list[str]
) -> None:
    stub.answer = lambda _: response(body, status)
    assert states == [(google.sync()).state.state for _ in states]


def test_reviews_of_google_leave_after_thirty_days_and_return(google: Place, stub: Stub) -> None:
    """More than five were a question, which nobody answers in a sync, so they stayed."""
    platform = stub.answer = google_at(12)
    google.sync()
    before = json.loads((google.folder / "reviews.json").read_text())["reviews"]
    stub.answer = lambda _: response(status=403)
    google.now += datetime.timedelta(days=30)
    outcome = google.sync()
    assert ([], 12) == (google.authors, outcome.removed_for_age)
    stub.answer = platform
    google.sync()
    after = json.loads((google.folder / "reviews.json").read_text())["reviews"]
    assert [review["id"] for review in before] == [review["id"] for review in after]


def test_login_keeps_tokens_of_the_right_scope(google: Place, stub: Stub) -> None:
    platform = stub.answer = google_at(3)
    (google.folder / "state/tokens/google").unlink()
    assert "nobody has logged in" == (google.sync()).state.detail
    google.google().log_in("c0de", "v3rifier")
    (asked,) = stub.asked
    assert "v3rifier" == asked.form["code_verifier"]
    assert "ok" == (google.sync()).state.state

    grant = {"access_token": "a", "expires_in": 1, "refresh_token": "r", "scope": "openid"}
    platform.grant = lambda _: response(json.dumps(grant))
    with pytest.raises(ReadFailedError, match="permission to read the business was not given"):
        google.google().log_in("c0de", "v3rifier")
    assert "r" != google.google().load().refresh_token


@pytest.mark.parametrize("text", ['{"web": {"client_id": "a", "client_secret": "b"}}', "", "[]"])
def test_other_client_files_are_refused(text: str) -> None:
    with pytest.raises(SourceStoppedError, match="Desktop app"):
        parsed_client(text)


def test_logout_revokes_and_removes(google: Place, stub: Stub) -> None:
    google.google().log_out()
    assert [("/revoke", {"token": "r3fresh-0"})] == [(a.path, a.form) for a in stub.asked]
    assert not (google.folder / "state/tokens/google").exists()


def test_all_pages_of_trustpilot_are_read(trustpilot: Place, stub: Stub) -> None:
    platform = stub.answer = trustpilot_at(250)
    platform.reviews["t7"]["status"] = "reported"
    outcome = trustpilot.sync()
    assert ("ok", 249) == (outcome.state.state, outcome.state.reviews)
    assert 249 == len(trustpilot.authors)
    assert (trustpilot.sync()).is_unchanged


def test_refused_key_of_trustpilot_stops_the_source(trustpilot: Place, stub: Stub) -> None:
    platform = stub.answer = trustpilot_at(3)
    platform.key = "another"
    outcome = trustpilot.sync()
    assert "stopped" == outcome.state.state
    assert "key_file and secret_file" in outcome.state.remedy


def test_read_ends_in_time(google: Place, stub: Stub) -> None:
    """Also where the server sends something now and then."""
    google.max_seconds = 0.2
    stub.answer = lambda _: response("x" * 500, cut=400)
    stub.linger = 5
    assert "it could not be read within" in google.sync().state.detail
    assert 1 == len(stub.asked)
