"""The documentation is complete, and every link in it leads somewhere (pages.md 1)."""

import functools
import importlib
import pkgutil
import re
from collections.abc import Iterator
from urllib.parse import urldefrag

import msgspec
import pytest

import reviewsd
from reviewsd.domain.issues import Issue
from reviewsd.domain.search_parameters import SEARCH_PARAMETERS
from reviewsd.http1 import problems, urls
from reviewsd.http1.problems import Problem
from reviewsd.mcp.revisions import HANDSHAKE, STATELESS
from reviewsd.mcp.tools import LISTING, TOOLS
from reviewsd.pages import embed, reviews
from reviewsd.pages.catalogs import REVISIONS
from reviewsd.pages.developers import html
from reviewsd.pages.developers.pages import documents
from reviewsd.pages.environment import Bytecode
from reviewsd.pages.rendering import Renderer
from reviewsd.publish.openapi import document
from tests.support.pages import Html
from tests.support.site import BASE_URL, site

NAME = 'Bob & "Sons" <b>]]>\n```\n# Injected'
SITE = site({"name": NAME})
OPENAPI = document.render(BASE_URL, SITE.business)
PATHS = (*urls.DOCUMENTATION, urls.DEVELOPERS_EMBED)
REFERENCE = re.compile('"#/components/schemas/([^"]+)"')
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@functools.cache  # not while every worker imports this
def texts() -> dict[str, str]:
    """Return the documents by their paths."""
    renderer = Renderer(SITE)
    pages = documents(renderer, OPENAPI, LISTING.decode())
    frames = embed.documents(renderer, reviews.frames(renderer))
    return {page.path: page.content.decode() for page in (*pages, *frames)}


@functools.cache
def parsed(path: str) -> Html:
    return Html(texts()[path])


def anchors(path: str) -> list[str]:
    """The ids of the headings of a page."""
    headings = [*parsed(path).named("h2"), *parsed(path).named("h3")]
    return [heading["id"] for heading in headings if "id" in heading]


def tables(text: str) -> dict[str, list[list[str]]]:
    """The cells of each table of a Markdown text, by its section and first column."""
    by_name: dict[str, list[list[str]]] = {}
    section = rows = None
    for line in text.splitlines():
        if line.startswith("#"):
            section = line.strip("# ").partition(" {: #")[0]
        elif line.startswith("| "):
            cells = re.split(r" (?<!\\)\| ", f" {line.strip('|')} ".replace("|  |", "| - |"))
            rows = (
                by_name.setdefault(f"{section}: {cells[0].strip()}", []) if rows is None else rows
            )
            rows.append([cell.strip(" `") for cell in cells])
            continue
        rows = None
    return by_name


def all_problems() -> Iterator[Problem]:
    """Every problem that the service defines, the operator's socket included."""
    for module in pkgutil.walk_packages(reviewsd.__path__, "reviewsd."):
        if not module.name.endswith("__main__"):
            values = vars(importlib.import_module(module.name)).values()
            yield from (value for value in values if isinstance(value, Problem))


def test_every_type_of_a_problem_has_its_anchor() -> None:
    sent = [problem for problem in all_problems() if not problem.plain]
    issue = Issue(code="invalid_type", path=("rating",), message="")
    assert {problems.NOT_FOUND, problems.UNAVAILABLE} <= set(sent)
    for problem in sent:
        rendered = msgspec.json.decode(problems.render(BASE_URL, problem, [issue]))
        address, fragment = urldefrag(rendered["type"])
        assert f"{BASE_URL}/developers/errors" == address
        assert fragment in anchors("/developers/errors"), problem


@pytest.mark.parametrize("path", PATHS)
def test_ids_of_a_page_are_unique(path: str) -> None:
    ids = [
        element.attributes["id"] for element in parsed(path).elements if "id" in element.attributes
    ]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("path", PATHS)
def test_every_section_has_an_anchor(path: str) -> None:
    """Links from problems, tools and other sites lead to them."""
    page = parsed(path)
    assert len(anchors(path)) == len(page.named("h2")) + len(page.named("h3"))
    assert "{: #" not in page.text


@pytest.mark.parametrize("path", PATHS)
def test_each_table_has_a_name_of_its_own(path: str) -> None:
    """Each is a landmark of the page for screen readers (WAI-ARIA 1.2, region)."""
    labels = [section["aria-label"] for section in parsed(path).named("section")]
    assert len(parsed(path).named("table")) == len(set(labels))


@pytest.mark.parametrize("path", PATHS)
def test_pages_have_no_markup_that_a_stray_mark_has_made(path: str) -> None:
    """An underscore or an asterisk outside of code would turn the rest of a text into emphasis."""
    page = parsed(path)
    assert not {"em", "strong", "img", "hr", "blockquote"} & {
        element.name for element in page.elements
    }
    assert "`" not in page.text.replace("```", "")  # which the name has


def test_api_page_has_every_operation_with_its_parameters() -> None:
    paths = msgspec.json.decode(OPENAPI)["paths"]
    operations = [operation for methods in paths.values() for operation in methods.values()]
    assert {operation["operationId"] for operation in operations} <= set(anchors("/developers/api"))
    parameters = tables(texts()["/developers/api.md"])["Search the reviews: Parameter"]
    assert [parameter.name for parameter in SEARCH_PARAMETERS] == [row[0] for row in parameters[2:]]


def test_tools_page_has_every_tool_with_its_arguments_and_answer() -> None:
    assert [tool.name for tool in TOOLS] == anchors("/developers/mcp/tools")
    by_name = tables(texts()["/developers/mcp/tools.md"])
    for tool in TOOLS:
        arguments = by_name.get(f"{tool.name}: Parameter", [])[2:]
        members = by_name[f"{tool.name}: Field"][2:]
        assert [parameter.name for parameter in tool.parameters] == [row[0] for row in arguments]
        fields = {field.encode_name for field in msgspec.structs.fields(tool.output)}
        assert fields == {row[0] for row in members}


def test_description_of_an_argument_without_an_example_is_no_example() -> None:
    rows = tables(texts()["/developers/mcp/tools.md"])["search_reviews: Parameter"]
    expected = (
        "By date, by stars (of equal ones the newest first), or last changed first; default `newest"
    )
    assert [expected] == [row[3] for row in rows if row[0] == "sort"]


def test_documented_revisions_are_the_served_ones() -> None:
    """OpenAPI and the server card take them from one list, the server from another."""
    assert REVISIONS == (*(revision.name for revision in HANDSHAKE), STATELESS.name)
    assert all(revision in parsed("/developers/mcp").text for revision in REVISIONS)


@pytest.mark.parametrize("name", ["Business", "Review", "Insights"])
def test_data_model_describes_every_schema_that_it_refers_to(name: str) -> None:
    """A name without a link would be described nowhere."""
    described = {anchor for path in PATHS if "/data-model/" in path for anchor in anchors(path)}
    schemas = msgspec.json.decode(OPENAPI)["components"]["schemas"]
    waiting, referenced = [name], set[str]()
    while waiting:
        members = msgspec.json.encode(schemas[waiting.pop()]["properties"]).decode()
        for inner in set(REFERENCE.findall(members)) - referenced:
            referenced.add(inner)
            waiting.append(inner)

    assert {schema.lower() for schema in referenced} <= described
    links = {urldefrag(href).fragment for path in PATHS for href in parsed(path).hrefs}
    assert {schema.lower() for schema in referenced} <= links


def test_webhooks_page_names_what_a_subscriber_sends_and_receives() -> None:
    text = parsed("/developers/webhooks").text
    for name in ("hub.callback", "hub.secret", "hub.challenge", "X-Hub-Signature", *urls.TOPICS):
        assert name in text


def test_overview_links_to_every_page() -> None:
    linked = {link["href"] for link in parsed("/developers").named("a")}
    assert set(PATHS) <= linked


def test_name_in_lines_to_copy_is_escaped_for_html_and_cannot_end_them() -> None:
    text = texts()["/developers/embed.md"]
    (badge,) = [line for line in text.splitlines() if "badge.svg" in line and "<img" in line]
    escaped = "Bob &amp; &quot;Sons&quot; &lt;b&gt;]]&gt; ``` # Injected"
    assert f'alt="Customer reviews of {escaped}"' in badge


def test_documents_that_are_not_served_are_not_listed() -> None:
    absent = site(disabled_paths=frozenset({urls.SITEMAP}))
    for page in documents(Renderer(absent), OPENAPI, LISTING.decode()):
        if page.path.endswith(".md"):
            assert f"`{urls.SITEMAP}`" not in page.content.decode().split()


@pytest.mark.parametrize("path", urls.DOCUMENTATION)
def test_twin_has_the_same_headings_and_absolute_links(path: str) -> None:
    text = FENCE.sub("", texts()[urls.twin(path)])
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert anchors(path) == [line.partition("{: #")[2].removesuffix(" }") for line in headings[1:]]
    targets = [target.partition(")")[0] for target in text.split("](")[1:]]
    assert [] == [target for target in targets if not target.startswith(f"{BASE_URL}/")]


@pytest.mark.parametrize("path", PATHS)
def test_rows_of_a_table_have_as_many_cells_as_its_head(path: str) -> None:
    for name, rows in tables(texts()[urls.twin(path)]).items():
        assert {len(rows[0])} == {len(row) for row in rows}, name


def test_examples_in_two_languages_read_all_pages_of_a_search() -> None:
    examples = dict(FENCE.findall(texts()["/developers/api.md"]))
    compile(examples["python"], "example", "exec")
    assert "next_cursor" in examples["javascript"]


def test_markup_of_a_text_is_shown_and_links_to_scripts_are_not_made() -> None:
    text = "# Title\n\n<b>bold</b> [x](javascript:alert(1)) [y](data:text/html,z)\n"
    rendered = html.render(text, BASE_URL, "/developers")
    assert "&lt;b&gt;bold&lt;/b&gt;" in rendered
    assert "<a" not in rendered


def test_unchanged_documentation_is_not_converted_again() -> None:
    """Converting Markdown costs more than all other pages, and the interfaces seldom change."""
    first = Bytecode({})
    pages = list(documents(Renderer(SITE, first), OPENAPI, LISTING.decode()))
    known = {key: b"(converted before)" for key in first.used if key.startswith("html ")}
    again = Renderer(SITE, Bytecode(first.used | known))
    assert len(pages) == 2 * len(known)
    for page in documents(again, OPENAPI, LISTING.decode()):
        assert ("html" in page.media_type) == (b"(converted before)" in page.content), page.path
