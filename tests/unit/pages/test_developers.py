"""The documentation says all that there is, and every link in it leads somewhere (pages.md 1)."""

import importlib
import pkgutil
from collections.abc import Iterator
from itertools import chain
from urllib.parse import urldefrag

import msgspec
import pytest

import reviewsd
from reviewsd.domain.parameters import Issue
from reviewsd.domain.reviews import Business
from reviewsd.domain.search_parameters import SEARCH_PARAMETERS
from reviewsd.http1 import problems, urls
from reviewsd.http1.problems import Problem
from reviewsd.mcp.revisions import HANDSHAKE, STATELESS
from reviewsd.mcp.tools import LISTING, TOOLS
from reviewsd.pages.catalogs import REVISIONS
from reviewsd.pages.developers import blocks, markdown
from reviewsd.pages.developers.blocks import Code, DeveloperPage, Items, Paragraph, Table, TextPart
from reviewsd.pages.developers.openapi import read_description
from reviewsd.pages.developers.pages import Interfaces, pages
from reviewsd.publish.openapi import document
from tests.support import routes

BASE = "https://reviews.example.com"
NAME = 'Bob & "Sons" <b>]]>'
OPENAPI = document.render(BASE, Business(name=NAME))
PAGES = {
    page.path: page
    for page in pages(Interfaces(openapi=OPENAPI, tools=LISTING, revisions=REVISIONS), BASE, NAME)
}


def all_blocks(page: DeveloperPage) -> Iterator[blocks.ContentBlock]:
    yield from page.blocks
    yield from chain.from_iterable(section.blocks for section in page.sections)


def all_parts(page: DeveloperPage) -> Iterator[TextPart]:
    for block in all_blocks(page):
        match block:
            case Paragraph():
                yield from block.parts
            case Items():
                yield from chain(*block.lines)
            case Table():
                yield from chain(*chain(*block.cells))


def words(path: str) -> str:
    return " ".join(part.text for part in all_parts(PAGES[path]))


def anchors(path: str) -> list[str]:
    return [section.anchor for section in PAGES[path].sections]


def all_problems() -> Iterator[Problem]:
    """Every problem that is defined anywhere in the service, the operator's socket included."""
    for module in pkgutil.walk_packages(reviewsd.__path__, "reviewsd."):
        if not module.name.endswith("__main__"):
            yield from (
                each
                for each in vars(importlib.import_module(module.name)).values()
                if isinstance(each, Problem)
            )


def test_every_type_of_a_problem_has_its_anchor() -> None:
    found = [each for each in all_problems() if not each.plain]
    issue = Issue(code="invalid_type", path=("rating",), message="")

    assert {problems.NOT_FOUND, problems.UNAVAILABLE} <= set(found)
    for each in found:
        rendered = msgspec.json.decode(problems.render(BASE, each, [issue]))
        address, fragment = urldefrag(rendered["type"])
        assert f"{BASE}/developers/errors" == address
        assert fragment in anchors("/developers/errors"), each


@pytest.mark.parametrize("path", PAGES)
def test_anchors_are_there_once(path: str) -> None:
    assert len(set(anchors(path))) == len(anchors(path))


@pytest.mark.parametrize("path", PAGES)
def test_each_table_has_a_name_of_its_own(path: str) -> None:
    """They are landmarks for who cannot see them (WAI-ARIA 1.2, region)."""
    labels = [block.label for block in all_blocks(PAGES[path]) if isinstance(block, Table)]
    assert len(set(labels)) == len(labels)


@pytest.mark.parametrize("path", PAGES)
def test_links_lead_to_pages_and_anchors_that_exist(path: str) -> None:
    for part in all_parts(PAGES[path]):
        target, fragment = urldefrag(part.href)
        assert routes.find(target.partition("?")[0].encode() or path.encode()) is not None, part
        if fragment:
            assert fragment in anchors(target or path), part


@pytest.mark.parametrize("path", PAGES)
def test_code_is_closed_and_no_markup_is_left(path: str) -> None:
    """An odd backquote would turn the rest of a text into code."""
    for part in all_parts(PAGES[path]):
        assert "`" not in part.text
        assert "**" not in part.text


def test_the_api_has_every_operation_with_its_parameters() -> None:
    description = read_description(OPENAPI)
    operations = [each for methods in description.paths.values() for each in methods.values()]

    assert {each.operation_id for each in operations} <= set(anchors("/developers/api"))
    told = words("/developers/api")
    assert [] == [each.name for each in SEARCH_PARAMETERS if each.name not in told]


def test_the_tools_are_there_with_every_argument() -> None:
    assert [tool.name for tool in TOOLS] == anchors("/developers/mcp/tools")
    for tool, section in zip(TOOLS, PAGES["/developers/mcp/tools"].sections, strict=True):
        arguments, answers = (
            {
                row[0][0].text
                for block in section.blocks
                if isinstance(block, Table) and block.label.startswith(label)
                for row in block.cells
            }
            for label in ("Arguments of ", "Answer of ")
        )
        assert {each.name for each in tool.parameters} == arguments
        assert {each.encode_name for each in msgspec.structs.fields(tool.output)} == answers


def test_the_revisions_are_those_that_are_served() -> None:
    """OpenAPI and the server card take them from one list, the server from another."""
    assert REVISIONS == (*(each.name for each in HANDSHAKE), STATELESS.name)
    assert REVISIONS[0] in words("/developers/mcp")


@pytest.mark.parametrize("name", ["Business", "Review", "Insights"])
def test_the_data_model_has_every_schema_that_it_refers_to(name: str) -> None:
    """What a page names without a link would be described nowhere."""
    described = {
        section.title
        for path in PAGES
        if path.startswith("/developers/data-model/")
        for section in PAGES[path].sections
    }
    description = read_description(OPENAPI)
    left, seen = [name], set[str]()
    while left:
        schema = description.components.schemas[left.pop()]
        for member in schema.properties.values():
            for each in (member, *member.any_of, *filter(None, [member.items])):
                for inner in (each, *each.any_of):
                    if inner.ref and inner.name not in seen:
                        seen.add(inner.name)
                        left.append(inner.name)

    assert seen <= described


def test_webhooks_say_what_a_subscriber_sends_and_is_sent() -> None:
    told = words("/developers/webhooks")

    for each in ("hub.callback", "hub.secret", "hub.challenge", "X-Hub-Signature", *urls.TOPICS):
        assert each in told


def test_the_overview_leads_everywhere() -> None:
    linked = {part.href for part in all_parts(PAGES["/developers"])}

    assert set(PAGES) - {"/developers"} <= linked


def test_what_is_to_be_copied_is_escaped_for_where_it_goes() -> None:
    codes = [block.text for block in all_blocks(PAGES["/developers"]) if isinstance(block, Code)]

    (badge,) = [each for each in codes if "badge.svg" in each]
    assert 'alt="Customer reviews of Bob &amp; &quot;Sons&quot; &lt;b&gt;]]&gt;"' in badge


@pytest.mark.parametrize("path", PAGES)
def test_markdown_has_the_same_headings(path: str) -> None:
    page = PAGES[path]
    lines = markdown.render(page, BASE).decode().splitlines()

    headings = [line.replace("\\", "") for line in lines if line.startswith("#")]
    assert [f"# {page.title}"] == headings[:1]
    assert [f"{'#' * each.level} {each.title}" for each in page.sections] == headings[1:]


@pytest.mark.parametrize("path", PAGES)
def test_tables_of_markdown_have_as_many_cells_in_each_row(path: str) -> None:
    text = markdown.render(PAGES[path], BASE).decode()
    for table in (each for each in text.split("\n\n") if each.startswith("| ")):
        counts = {line.replace("\\|", "").count("|") for line in table.splitlines()}
        assert 1 == len(counts), table


def test_the_two_languages_of_the_example_read_all_pages_of_a_search() -> None:
    (python, script) = [
        block
        for block in all_blocks(PAGES["/developers/api"])
        if isinstance(block, Code) and block.language in {"python", "javascript"}
    ]

    compile(python.text, "example", "exec")
    assert "next_cursor" in script.text
