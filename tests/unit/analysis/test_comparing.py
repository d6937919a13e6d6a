"""Comparison of the rules with a file of another program (insights.md 8)."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw

from reviewsd.analysis.comparing import Agreement, Comparison, Figures, Row, compare
from reviewsd.domain.insights import Insights
from reviewsd.domain.insights_file import InsightsFile, Spellings

RULES = {
    "aspects": [{"id": "work_quality", "label": "Quality of work", "mention_count": 2}],
    "entities": {"technicians": [{"id": "ann-lee", "name": "Ann Lee", "mention_count": 1}]},
    "temporal": {"trend": "stable"},
    "per_review": {
        "a": {
            "sentiment": "positive",
            "aspects": [{"id": "work_quality", "sentiment": "positive"}],
            "technicians": ["ann-lee"],
        },
        "b": {
            "sentiment": "negative",
            "aspects": [{"id": "work_quality", "sentiment": "positive"}],
        },
    },
}


def insights_file(members: Mapping[str, Any]) -> InsightsFile:
    return InsightsFile(
        members={name: Raw(msgspec.json.encode(value)) for name, value in members.items()},
        typed=msgspec.convert({**members, "per_review": {}}, Insights),
        spellings=Spellings(),
        analysed=0,
    )


def compared(file: Mapping[str, Any]) -> Comparison:
    return compare(insights_file(file), insights_file(RULES))


def test_entity_is_matched_by_any_of_its_names() -> None:
    comparison = compared(
        {
            "aspects": ["Quality of work", {"id": "speed", "label": "Speed", "positive_pct": 0}],
            "entities": {"technicians": [{"id": "t1", "name": "Ann Lee"}]},
            "per_review": {
                "a": {"aspects": ["Quality of work"], "technicians": ["Ann Lee", "Bo"]},
                "b": {
                    "sentiment": "negative",
                    "aspects": [{"id": "work_quality", "sentiment": "negative"}],
                },
                "c": {"sentiment": "positive"},
            },
        }
    )
    assert (
        Row(
            id="Quality of work",
            label="Quality of work",
            file=Figures(),
            rules=Figures(mention_count=2),
        ),
        Row(id="speed", label="Speed", file=Figures(positive_pct=0), rules=None),
    ) == comparison.aspects
    assert ["t1"] == [row.id for row in comparison.technicians]
    assert 2 == comparison.reviews  # the third is in the file alone
    assert Agreement(file=2, rules=2, both=2, same_sentiment=0) == comparison.mentions["aspects"]
    assert Agreement(file=2, rules=1, both=1) == comparison.mentions["technicians"]
    assert Agreement(file=1, rules=2, both=1, same_sentiment=1) == comparison.mentions["reviews"]


def test_empty_file_has_no_figures() -> None:
    comparison = compared({})
    assert (None, "stable") == comparison.trend
    assert (0, [None]) == (comparison.reviews, [row.file for row in comparison.aspects])
