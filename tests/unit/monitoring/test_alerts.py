"""The shipped alert rules and the runbook (O13)."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[3]
RULES: list[dict[str, Any]] = [
    rule
    for group in yaml.safe_load((ROOT / "config" / "alerts.yaml").read_text())["groups"]
    for rule in group["rules"]
]
RUNBOOK = (ROOT / "docs" / "how-to" / "runbook.md").read_text()

every_rule = pytest.mark.parametrize("rule", RULES, ids=[rule["alert"] for rule in RULES])


def test_ten_rules_have_names_of_their_own() -> None:
    assert 10 == len(RULES) == len({rule["alert"] for rule in RULES})


@every_rule
def test_rule_has_duration_severity_and_summary(rule: dict[str, Any]) -> None:
    assert {"alert", "expr", "for", "labels", "annotations"} == set(rule)
    assert re.fullmatch(r"[0-9]+[mh]", rule["for"])
    assert rule["labels"]["severity"] in {"warning", "critical"}
    assert {"summary", "runbook"} == set(rule["annotations"])
    for opening, closing in ("()", "{}", "[]"):
        assert rule["expr"].count(opening) == rule["expr"].count(closing)


@every_rule
def test_rule_has_a_section_of_the_runbook(rule: dict[str, Any]) -> None:
    name = rule["alert"]
    assert rule["annotations"]["runbook"].endswith(f" docs/how-to/runbook.md#{name.lower()}")
    _, _, section = RUNBOOK.partition(f"\n## {name}\n")
    section = section.partition("\n## ")[0]
    for part in (
        "**Means.**",
        "**Look.**",
        "**Do.**" if name != "ReviewsdDown" else "| exit code |",
    ):
        assert part in section


def test_runbook_has_only_sections_of_rules() -> None:
    assert [rule["alert"] for rule in RULES] == re.findall("^## (.*)", RUNBOOK, re.MULTILINE)


def test_links_of_the_runbook_lead_to_its_sections() -> None:
    sections = {name.lower() for name in re.findall("^## (.*)", RUNBOOK, re.MULTILINE)}
    assert sections >= set(re.findall(r"\(#([a-z]+)\)", RUNBOOK))
