"""The pages of docs that are lists name everything that is in the code."""

import ast
import json
import re
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import typer
import yaml

from reviewsctl.commands.root import app
from reviewsctl.importing.platforms.tables import FORMATS
from reviewsctl.manual.keys import reference
from reviewsd.analysis.settings import InsightSettings
from reviewsd.config import show
from reviewsd.config.hub_schema import HubConfig
from reviewsd.config.schema import Cache, Config, ServerConfig
from reviewsd.domain import insights, reviews
from reviewsd.domain.data_errors import example_of, explain
from reviewsd.domain.search_parameters import SEARCH_PARAMETERS
from reviewsd.domain.subscription import MAX_LEASE, MIN_LEASE
from reviewsd.http1 import problems, urls
from reviewsd.mcp.results import ANSWER_BUDGET
from reviewsd.mcp.sessions import LIFETIME
from reviewsd.mcp.tools import TOOLS
from reviewsd.web.budgets import TOTAL
from reviewsd.websub.delivery import TIMEOUT
from reviewsd.websub.requests import MAX_SECRET
from tests.support.routes import ROUTES

DOCS = Path(__file__).parent.parent / "docs"


def text(name: str) -> str:
    """A page as one line."""
    return " ".join((DOCS / name).read_text().split())


def listed(name: str) -> set[str]:
    """Return the words between backquotes in the tables of a page."""
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
    ids=lambda struct: struct.__name__,
)
def test_data_has_every_member(struct: Any) -> None:
    named = listed("reference/data.md")
    inside = {word for name in named for word in re.findall(r'"(\w+)"', name)}
    tops = {name.rpartition(".")[2].removesuffix("[]") for name in named}
    missing = {field.encode_name for field in msgspec.structs.fields(struct)} - tops - inside
    assert set() == missing


def test_platforms_has_every_format() -> None:
    rows = [
        [cell.strip().strip("`") for cell in row.strip("|").split("|")]
        for row in (DOCS / "reference/platforms.md").read_text().splitlines()
        if row.startswith("|") and row.count("|") == 8
    ]
    assert {format_.name for format_ in FORMATS} - {"maps"} == {row[1] for row in rows[2:]}


def test_messages_of_tables_are_printed_by_imports() -> None:
    """A reader searches the page for the words that the import has printed."""
    rows = re.findall(r"^\| (`.*?) \|", (DOCS / "how-to" / "tables.md").read_text(), re.MULTILINE)
    messages = re.findall(r"`([^`]+)`", "\n".join(rows))
    pieces = [piece for message in messages for piece in re.split(r'\.{3}|"[^"]*"', message)]
    printed = "\n".join(printed_by_imports())
    assert len(messages) > 20
    assert [] == [piece for piece in pieces if piece.strip(" ,:") not in printed]


def printed_by_imports() -> Iterator[str]:
    """Yield the constant parts of all strings of the import."""
    for file in (DOCS.parent / "cli" / "reviewsctl" / "importing").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def test_http_has_every_address_and_parameter() -> None:
    named = listed("reference/http.md") | listed("reference/crawlers.md")
    twins = set(map(urls.twin, urls.DOCUMENTATION))
    paths = {route.path.replace("{part}", "{n}.xml") for route in ROUTES}
    assert paths - twins <= named
    assert {parameter.name for parameter in SEARCH_PARAMETERS} <= named


def test_http_has_every_status() -> None:
    """The statuses of errors; 403 and 500 are the admin socket's and our own faults."""
    everything = {
        problem.status
        for problem in vars(problems).values()
        if isinstance(problem, problems.Problem)
    }
    rows = re.findall(r"^\| ([0-9, ]+) \|", (DOCS / "reference/http.md").read_text(), re.MULTILINE)
    statuses = {int(status) for row in rows for status in row.split(",")}
    assert everything - {403, 415, 500} <= statuses


def test_agents_has_every_tool() -> None:
    assert {tool.name for tool in TOOLS} <= listed("reference/mcp.md")


def test_commands_has_every_command() -> None:
    tool: Any = typer.main.get_command(app)
    named = listed("reference/commands.md") - {"reviewsd"}
    assert commands(tool) == {name for name in named if re.fullmatch("[a-z]+( [a-z]+)?", name)}


def commands(group: Any, prefix: str = "") -> set[str]:
    """Return the names of all commands below a group."""
    names = {prefix.strip()} if group.invoke_without_command and prefix else set()
    for name in group.commands:
        command = group.get_command(None, name)
        full = f"{prefix}{name}"
        names |= commands(command, f"{full} ") if hasattr(command, "commands") else {full}
    return names


def test_configuration_has_every_key_with_its_default() -> None:
    """The JSON Schema and reviewsd.yaml(5) have the descriptions from here."""
    keys = list(reference())
    assert sorted(rows("Config")) == sorted((key, default) for key, default, _text in keys)
    assert all(text.endswith(".") for _key, _default, text in keys)


@pytest.mark.parametrize(
    ("settings", "page"),
    [(Config, "reference/configuration.md"), (InsightSettings, "how-to/insights.md")],
)
def test_example_of_each_list_and_section_is_valid_and_in_its_document(
    settings: type[msgspec.Struct], page: str
) -> None:
    """Messages about values of another type show it."""
    members = list(lists_and_sections(settings))
    assert members
    for name, kind in members:
        example = yaml.safe_load(example_of(kind) or "null")
        assert isinstance(example, dict | list), name
        assert [] == list(explain(example, kind)), name
        for word in re.findall(r"[^\[\]{}:, '\"]+", example_of(kind)):
            assert word in text(page), name


def lists_and_sections(struct: type[msgspec.Struct]) -> Iterator[tuple[str, object]]:
    """Yield the names and types of the lists, mappings and sections, those of entries included."""
    for name, kind in typing.get_type_hints(struct, include_extras=True).items():
        parts = list(parts_of(kind))
        structs = [p for p in parts if isinstance(p, type) and issubclass(p, msgspec.Struct)]
        if name in struct.__struct_fields__ and (
            structs or any(typing.get_origin(part) in {tuple, dict} for part in parts)
        ):
            yield name, kind
        for entry in structs:
            yield from lists_and_sections(entry)


def parts_of(kind: object) -> Iterator[object]:
    """Yield a type and those that it is made of."""
    yield kind
    for part in typing.get_args(kind):
        yield from parts_of(part)


def rows(section: str, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the keys and defaults of a section, with those of its sections and entries."""
    definitions: Any = show.schema()["$defs"]
    for name, member in definitions[section]["properties"].items():
        entry = member.get("items") or {}
        if "$ref" in member:
            yield from rows(member["$ref"].rpartition("/")[2], f"{prefix}{name}.")
            continue
        yield (
            f"{prefix}{name}",
            json.dumps(member["default"]) if "default" in member else "required",
        )
        if "$ref" in entry:
            yield from rows(entry["$ref"].rpartition("/")[2], f"{prefix}{name}[].")


def test_numbers_are_the_defaults() -> None:
    hub, server, cache = HubConfig(), ServerConfig(), Cache()
    assert 10 * 86_400 == hub.lease.default
    assert (60, 1800) == hub.delivery.retry_delays
    assert 30 * 86_400 == LIFETIME
    for page, sentence in (
        ("reference/websub.md", f"({MIN_LEASE} to {MAX_LEASE:,})"),
        ("reference/websub.md", "lasts 10 days"),
        ("reference/websub.md", f"at most {MAX_SECRET} bytes"),
        ("reference/websub.md", f"within {TIMEOUT:.0f} seconds"),
        ("reference/websub.md", "after a minute and after half an hour"),
        ("reference/websub.md", f"ask {hub.limits.requests_per_minute} times a minute"),
        ("reference/websub.md", f"may have {hub.limits.active_per_host} subscriptions"),
        ("reference/mcp.md", f"at most {ANSWER_BUDGET:,} bytes"),
        ("reference/mcp.md", f"may hold {TOTAL >> 20} MiB"),
        ("reference/mcp.md", f"may have {problems.MCP_MAX_BODY >> 10} KiB"),
        ("reference/mcp.md", "ends after 30 days"),
        ("reference/http.md", f"`cache.max_age` ({cache.max_age} s)"),
        ("how-to/proxy.md", f"`server.idle` ({server.idle:.0f} s)"),
    ):
        assert sentence in text(page), (page, sentence)
