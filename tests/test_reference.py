"""The pages of docs that list things list all of them, as the code has them."""

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from reviewsctl.importing.platforms import maps
from reviewsctl.importing.recognize import FORMATS
from reviewsd.config.schema import Cache, HubConfig, Mcp, ServerConfig
from reviewsd.domain import insights, reviews
from reviewsd.domain.search_parameters import SEARCH_PARAMETERS
from reviewsd.http1 import problems, urls
from reviewsd.mcp.tools import TOOLS
from reviewsd.websub.form import MAX_SECRET
from tests.support.routes import ROUTES

DOCS = Path(__file__).parent.parent / "docs"


def text(name: str) -> str:
    """A page as one line."""
    return " ".join((DOCS / name).read_text().split())


def listed(name: str) -> set[str]:
    """What a page has between backquotes in its tables."""
    rows = [row for row in (DOCS / name).read_text().splitlines() if row.startswith("|")]
    return set(re.findall(r"`([^`]+)`", "\n".join(rows)))


@pytest.mark.parametrize(
    "struct",
    [
        *(reviews.Address, reviews.Geo, reviews.Business, reviews.AggregateRating),
        *(reviews.OwnerReply, reviews.Review),
        *(insights.DateRange, insights.OverallSentiment, insights.Entity, insights.Entities),
        *(insights.MonthlySentiment, insights.Temporal, insights.AspectMention),
        *(insights.PerReview, insights.FaqEntry, insights.Insights),
    ],
    ids=lambda each: each.__name__,
)
def test_data_has_every_member(struct: Any) -> None:  # noqa: ANN401  a struct type
    named = listed("data.md")
    inside = {word for each in named for word in re.findall(r'"(\w+)"', each)}
    tops = {each.rpartition(".")[2].removesuffix("[]") for each in named}
    missing = {field.encode_name for field in msgspec.structs.fields(struct)} - tops - inside
    assert set() == missing


def test_platforms_has_every_format() -> None:
    """With what it leaves, and with where ``verified`` comes from."""
    rows = [
        [cell.strip().strip("`") for cell in row.strip("|").split("|")]
        for row in (DOCS / "platforms.md").read_text().splitlines()
        if row.startswith("|") and row.count("|") == 8
    ]
    described = {row[1]: (row[6], row[3].startswith("false")) for row in rows[2:]}
    assert {
        each.name: (each.leaves, each.verification.startswith("false"))
        for each in FORMATS
        if each is not maps.FORMAT
    } == described


def test_http_has_every_address_and_parameter() -> None:
    named = listed("http.md") | listed("crawlers.md")
    twins = set(map(urls.twin, urls.DOCUMENTATION))
    paths = {route.path.replace("{part}", "{n}.xml") for route in ROUTES}
    assert paths - twins <= named
    assert {parameter.name for parameter in SEARCH_PARAMETERS} <= named


def test_http_has_every_status() -> None:
    """Those of errors; 403 and 500 are the admin socket's and our own fault."""
    everything = {
        each.status for each in vars(problems).values() if isinstance(each, problems.Problem)
    }
    rows = re.findall(r"^\| ([0-9, ]+) \|", (DOCS / "http.md").read_text(), re.MULTILINE)
    found = {int(status) for row in rows for status in row.split(",")}
    assert everything - {403, 415, 500} <= found


def test_agents_has_every_tool() -> None:
    assert {tool.name for tool in TOOLS} <= listed("agents.md")


def test_numbers_are_the_defaults() -> None:
    hub, mcp, server, cache = HubConfig(), Mcp(), ServerConfig(), Cache()
    assert 10 * 86_400 == hub.lease.default
    assert (60, 1800) == hub.delivery.retry_delays
    assert 30 * 86_400 == mcp.session_lifetime
    for page, said in (
        ("websub.md", f"({hub.lease.min} to {hub.lease.max:,})"),
        ("websub.md", "lasts 10 days"),
        ("websub.md", f"at most {MAX_SECRET} bytes"),
        ("websub.md", f"within {hub.delivery.timeout:.0f} seconds"),
        ("websub.md", "after a minute and after half an hour"),
        ("websub.md", f"ask {hub.limits.requests_per_minute} times a minute"),
        ("websub.md", f"may have {hub.limits.active_per_host} subscriptions"),
        ("agents.md", f"`mcp.answer_budget` bytes ({mcp.answer_budget:,})"),
        ("agents.md", f"`mcp.max_held` ({mcp.max_held >> 20} MiB)"),
        ("agents.md", f"{server.max_body.mcp >> 10} KiB (`server.max_body.mcp`)"),
        ("agents.md", "`mcp.session_lifetime` (30 days)"),
        ("http.md", f"`cache.max_age` ({cache.max_age} s)"),
        ("http.md", f"`cache.stale_while_revalidate` ({cache.stale_while_revalidate} s)"),
        ("operating.md", f"`server.idle` ({server.idle:.0f} s)"),
    ):
        assert said in text(page), (page, said)
