"""The reads of the HTTP API, address by address, from the OpenAPI document."""

from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

from reviewsd.http1 import urls
from reviewsd.pages.developers import schemas
from reviewsd.pages.developers.blocks import (
    Code,
    ContentBlock,
    DeveloperPage,
    Link,
    Paragraph,
    Section,
    Table,
    Words,
    prose,
)
from reviewsd.pages.developers.data_model import PLACES
from reviewsd.pages.developers.openapi import (
    Description,
    Media,
    OpenApiParameter,
    OpenApiResponse,
    Operation,
)

_GUIDES: Final = {
    urls.HUB: Link("notifications", urls.DEVELOPERS_WEBHOOKS),
    urls.MCP: Link("MCP", urls.DEVELOPERS_MCP),
}
"""Addresses that have a page of their own."""

_NOT_MODIFIED: Final = "304"
"""Among the answers of whatever has an entity tag: of every read."""

_HEAD: Final = ("OpenApiParameter", "In", "Type", "Required", "Description", "Example")


def page(description: Description, base_url: str) -> DeveloperPage:
    """The page.

    Args:
        description: The document.
        base_url: Origin of the addresses in examples.
    """
    common = _common(description)
    operations = [
        (path, method, operation)
        for path, methods in description.paths.items()
        for method, operation in methods.items()
    ]
    return DeveloperPage(
        path=urls.DEVELOPERS_API,
        title="HTTP API",
        description="Every address of the HTTP API with its parameters, answers and examples.",
        blocks=(
            *prose(description.info.description),
            Paragraph(
                ("For programs: ", Link("the OpenAPI document", urls.OPENAPI), ", version 3.1.")
            ),
            Table(
                "All addresses",
                ("Address", "What it is"),
                tuple(
                    (
                        Link(f"`{method.upper()} {path}`", f"#{_anchor(operation)}"),
                        operation.summary,
                    )
                    for path, method, operation in operations
                ),
            ),
        ),
        sections=(
            *(
                Section(
                    _anchor(operation),
                    operation.summary,
                    (
                        Paragraph(f"`{method.upper()} {path}`"),
                        *_blocks(description, base_url, path, operation, common),
                    ),
                )
                for path, method, operation in operations
            ),
            Section("reads", "What all reads have in common", _reads_blocks(description, common)),
            Section("examples", "In Python and JavaScript", _examples(base_url)),
        ),
    )


def _anchor(operation: Operation) -> str:
    return operation.operation_id


def _blocks(
    description: Description,
    base_url: str,
    path: str,
    operation: Operation,
    common: dict[str, OpenApiResponse],
) -> Iterator[ContentBlock]:
    yield from prose(operation.description)
    if path in _GUIDES:
        yield Paragraph(("How it is used: ", _GUIDES[path], "."))
    elif not path.endswith("{id}"):  # the example is a review of another business
        target = _target(path, operation)
        yield Code(f"curl '{base_url}{target}'", "sh")
        yield Paragraph(("Try it: ", Link(f"`{target}`", target)))
    parameters, responses = operation.parameters, operation.responses
    if _NOT_MODIFIED in responses:
        parameters = tuple(each for each in parameters if not each.ref)
        responses = {status: each for status, each in responses.items() if status not in common}
    if parameters:
        yield parameters_table(f"Parameters: {operation.summary}", parameters)
    yield _answers(f"Answers: {operation.summary}", description, responses)
    if len(responses) < len(operation.responses):
        yield Paragraph(("And ", Link("what all reads have in common", "#reads"), "."))


def _common(description: Description) -> dict[str, OpenApiResponse]:
    """The answers that all reads have in common, that of success aside."""
    operations = (each for methods in description.paths.values() for each in methods.values())
    first, *others = (each for each in operations if _NOT_MODIFIED in each.responses)
    return {
        status: each
        for status, each in first.responses.items()
        if each.ref and all(other.responses.get(status) == each for other in others)
    }


def _reads_blocks(
    description: Description, common: dict[str, OpenApiResponse]
) -> tuple[ContentBlock, ...]:
    return (
        parameters_table(
            "Header fields of all reads", tuple(description.components.parameters.values())
        ),
        _answers("Answers of all reads", description, common),
    )


def _answers(label: str, description: Description, responses: dict[str, OpenApiResponse]) -> Table:
    answers = ((status, description.response(each)) for status, each in responses.items())
    rows = tuple((status, each.description, _body(each.content)) for status, each in answers)
    return Table(label, ("Status", "Meaning", "Body"), rows)


def parameters_table(label: str, parameters: tuple[OpenApiParameter, ...]) -> Table:
    """The table of parameters."""
    linked = schemas.described(PLACES, urls.DEVELOPERS_API)
    return Table(
        label,
        _HEAD,
        tuple(
            (
                f"`{each.name}`",
                each.place,
                schemas.type_of(each.schema, linked),
                "yes" if each.required else "no",
                "; ".join(filter(None, (each.description.rstrip("."), schemas.notes(each.schema)))),
                "" if each.example is None else f"`{schemas.plain(each.example)}`",
            )
            for each in parameters
        ),
    )


def _target(path: str, operation: Operation) -> str:
    """An address that can be tried: the path with its examples, a search with one filter."""
    for each in operation.parameters:
        if each.place == "path":
            path = path.replace(f"{{{each.name}}}", quote(schemas.plain(each.example), safe=""))
    return f"{path}?min_rating=4&limit=5" if path == urls.SEARCH else path


def _body(content: dict[str, Media]) -> Words:
    """The media types of an answer and what each holds."""
    linked = schemas.described(PLACES, urls.DEVELOPERS_API)
    described: list[str | Link] = []
    for name in dict.fromkeys(media.schema.name for media in content.values()):
        types = ", ".join(
            f"`{each}`" for each, media in content.items() if media.schema.name == name
        )
        described.append(f"{', ' if described else ''}{types}")
        if address := linked(name):
            described += [": ", Link(name, address)]
    return tuple(described)


def _examples(base_url: str) -> tuple[ContentBlock, ...]:
    search = f"{base_url}{urls.SEARCH}"
    return (
        Paragraph("All pages of a search, with the standard library alone:"),
        Code(
            f"""\
import json
import urllib.parse
import urllib.request

query = {{"min_rating": 4, "limit": 100}}
while True:
    address = "{search}?" + urllib.parse.urlencode(query)
    with urllib.request.urlopen(address) as answer:
        page = json.load(answer)
    for review in page["reviews"]:
        print(review["date"], review["rating"], review["author"])
    if page["next_cursor"] is None:
        break
    query["cursor"] = page["next_cursor"]""",
            "python",
        ),
        Code(
            f"""\
const query = new URLSearchParams({{min_rating: 4, limit: 100}});
for (;;) {{
  const answer = await fetch("{search}?" + query);
  const page = await answer.json();
  for (const review of page.reviews) console.log(review.date, review.rating, review.author);
  if (page.next_cursor === null) break;
  query.set("cursor", page.next_cursor);
}}""",
            "javascript",
        ),
    )
