"""An owner hides and erases reviews of a running daemon; each interface obeys (corrections.md).

One daemon serves all tests. Each decides about a review of its own; the last one loses the corrections.
"""

import json
from collections.abc import Iterator

import pytest

from tests.support.agents import call, opened
from tests.support.daemon import DEMO, Daemon

pytestmark = pytest.mark.processes

EMBEDS = (
    "/embed",
    "/embed?layout=grid&count=12",
    "/embed?layout=grid&theme=dark&count=12&min_rating=4&accent=ffb400",
)
"""A published document, one of its usual options, and one that is made for the request."""

NAMES = [review["id"] for review in json.loads((DEMO / "reviews.json").read_bytes())["reviews"]]


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("daemon"), "data: {poll_interval: 60}\n") as daemon:
        yield daemon


def reviews_command(daemon: Daemon, *arguments: str) -> str:
    done = daemon.ctl("reviews", *arguments, "--data", str(daemon.data))
    assert 0 == done.returncode, done.stderr
    return done.stdout


def test_every_door_tells_that_a_review_is_hidden(daemon: Daemon) -> None:
    hidden, *_ = NAMES
    assert 200 == daemon.get(f"/r/{hidden}").status
    tags = []
    for path in EMBEDS:
        shown = daemon.get(path)
        assert hidden in shown.body.decode(), path
        tags.append(shown.headers["ETag"])
    reviews_command(daemon, "hide", hidden, "--reason", "spam", "--yes")
    assert "published" == daemon.reload()["outcome"]
    for path in (f"/r/{hidden}", f"/r/{hidden}.md", f"/api/reviews/{hidden}"):
        assert 410 == daemon.get(path).status
    served = daemon.get("/reviews.json").json()
    assert {"count": 1, "reasons": {"spam": 1}} == served["withheld"]
    assert [hidden] == [removal["id"] for removal in served["removed"]]
    total = len(NAMES)
    for path in ("/", "/reviews"):
        page = daemon.get(path).body.decode()
        assert f"1 of {total} reviews is not shown (spam: 1)." in page
        assert "All ratings are shown" not in page
    for path, tag in zip(EMBEDS, tags, strict=True):  # other sites show them
        answer = daemon.get(path, {"If-None-Match": tag})
        assert f"1 of {total} reviews is not shown" in answer.body.decode(), path
        assert hidden not in answer.body.decode(), path
    sentence = f"1 of {total} reviews is not shown by the owner (1 spam)"
    assert f"{sentence}." in daemon.get("/llms.txt").body.decode()
    assert f"review:{hidden}" in daemon.get("/feed.xml").body.decode()
    session = opened(daemon)
    for tool in ("get_business", "get_summary", "search_reviews"):
        assert sentence in call(daemon, session, tool).body.decode(), tool
    reviews_command(daemon, "restore", hidden)
    assert "published" == daemon.reload()["outcome"]
    assert 200 == daemon.get(f"/r/{hidden}").status
    assert "withheld" not in daemon.get("/reviews.json").json()


def test_erased_review_is_gone_when_the_command_ends(daemon: Daemon) -> None:
    erased = NAMES[3]
    text = daemon.get(f"/api/reviews/{erased}").json()["text"]
    out = reviews_command(daemon, "erase", erased, "--reason", "request", "--yes")
    assert "published: their pages answer 410" in out
    assert 410 == daemon.get(f"/r/{erased}").status
    snapshot = daemon.state / "snapshots" / "current"
    words = json.dumps(text).strip('"').encode()
    for file in snapshot.resolve().iterdir():
        assert words not in file.read_bytes(), file.name


def test_erasure_beside_faults_of_the_configuration_is_published_soon(daemon: Daemon) -> None:
    """No reload is done with them, but the files are watched."""
    good = daemon.config.read_text()
    daemon.config.write_text(f"{good}nonsense: 1\n")
    out = reviews_command(daemon, "erase", NAMES[4], "--reason", "request", "--yes")
    daemon.config.write_text(good)
    assert "not published yet: the daemon reads the files by itself soon" in out
    assert "NOT published" not in out


def test_lost_corrections_show_nothing_again_until_the_owner_says_so(daemon: Daemon) -> None:
    hidden = NAMES[5]
    reviews_command(daemon, "hide", hidden, "--reason", "fake", "--yes")
    daemon.reload()
    (daemon.data / "corrections.json").unlink()
    refused = daemon.ctl("reload")
    assert 1 == refused.returncode
    assert "corrections.json: missing, though you have decided about reviews" in refused.stderr
    assert 1 == daemon.ctl("reload", "--force").returncode
    assert 0 == daemon.stop()
    daemon.start()
    assert 410 == daemon.get(f"/r/{hidden}").status
    assert 0 == daemon.ctl("reload", "--without-corrections").returncode
    assert 200 == daemon.get(f"/r/{hidden}").status
