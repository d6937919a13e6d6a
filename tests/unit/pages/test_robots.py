from typing import get_args
from urllib.robotparser import RobotFileParser

import pytest

from reviewsd.config.schema import Crawlers
from reviewsd.pages import robots
from reviewsd.pages.robots import ANSWERING, TRAINING

BASE = "https://reviews.example.com"
NOBODY = "SomeCrawler"


@pytest.mark.parametrize(
    ("crawlers", "refused", "signal"),
    [
        ("all", set(), "search=yes, ai-input=yes, ai-train=yes"),
        ("no-training", set(TRAINING), "search=yes, ai-input=yes, ai-train=no"),
        ("no-ai", {*TRAINING, *ANSWERING}, "search=yes, ai-input=no, ai-train=no"),
        ("none", {*TRAINING, *ANSWERING, NOBODY}, "search=no, ai-input=no, ai-train=no"),
    ],
)
def test_policy_decides_on_agents(crawlers: Crawlers, refused: set[str], signal: str) -> None:
    lines = robots.render(BASE, crawlers).decode().splitlines()
    parser = RobotFileParser()
    parser.parse(lines)
    agents = {*TRAINING, *ANSWERING, NOBODY}
    assert refused == {item for item in agents if not parser.can_fetch(item, f"{BASE}/r/1")}
    assert ([f"{BASE}/sitemap.xml"] if crawlers != "none" else None) == parser.site_maps()
    assert {signal} == {line.partition("Signal: ")[2] for line in lines if "Signal" in line}


@pytest.mark.parametrize("crawlers", get_args(Crawlers))
def test_every_group_of_robots_txt_has_all_rules(crawlers: Crawlers) -> None:
    """A crawler reads the group that names it, and no other (RFC 9309 2.2.1)."""
    content = robots.render(BASE, crawlers).decode()
    groups = [item.splitlines() for item in content.split("\n\n") if item.startswith("User")]
    for group in groups:
        rules = [line for line in group if not line.startswith("User-agent: ")]
        assert rules[0].startswith("Content-Signal: search=")
        assert rules[1:] in (["Allow: /", "Disallow: /reviews?"], ["Disallow: /"])
    named = [line for group in groups for line in group if line.startswith("User-agent: ")]
    assert len(named) == len(set(named))
