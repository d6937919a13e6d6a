"""The documentation: Markdown templates filled from the OpenAPI document, each a page with its twin (pages.md 1)."""

import html
from collections.abc import Iterator, Mapping
from functools import partial
from operator import attrgetter
from typing import Final
from urllib.parse import quote

import msgspec
from markupsafe import Markup
from msgspec import Struct

from reviewsd.http1 import problems, urls
from reviewsd.http1.problems import Problem
from reviewsd.pages.catalogs import REVISIONS
from reviewsd.pages.developers import html as markdown
from reviewsd.pages.developers import schemas
from reviewsd.pages.developers.schemas import Json
from reviewsd.pages.document import FixedDocument
from reviewsd.pages.environment import TEMPLATES
from reviewsd.pages.rendering import Page, Renderer
from reviewsd.pages.text import line


class DeveloperPage(Struct, frozen=True):
    """One page."""

    path: str
    title: str
    description: str
    """One sentence for search engines and the overview."""
    schemas: tuple[str, ...] = ()
    """Names of the schemas that it describes, in order."""

    @property
    def template(self) -> str:
        """The template of its text, named as its path ends."""
        return f"developers/{self.path.rpartition('/')[2]}.md"


MENU: Final = msgspec.json.decode(
    (TEMPLATES / "developers/pages.json").read_bytes(), type=tuple[DeveloperPage, ...]
)
"""All pages, in the order in which they link to each other."""

EMBED: Final = next(page for page in MENU if page.path == urls.DEVELOPERS_EMBED)
"""The page that configures the embed; ``pages.embed`` renders it."""


def documents(renderer: Renderer, openapi: bytes, tools: str) -> Iterator[FixedDocument]:
    """Render all pages of the documentation from the OpenAPI document and the result of ``tools/list``.

    Raises:
        TemplateError: A template is faulty.
    """
    site = renderer.site
    addresses = {
        name: f"{site.base_url}{page.path}#{name.lower()}" for page in MENU for name in page.schemas
    }
    context = {
        "absent": site.disabled_paths,
        "api": _resolved(msgspec.json.decode(openapi)),
        "base_url": site.base_url,
        "html_name": html.escape(line(site.business.name)),
        "indented": _indented,
        "joined": schemas.joined,
        "kinds": _kinds(),
        "notes": schemas.notes,
        "pages": MENU,
        "plain": schemas.plain,
        "revisions": REVISIONS,
        "target": _target,
        "tools": msgspec.json.decode(tools)["tools"],
        "type": partial(schemas.type_of, addresses=addresses),
    }
    for page in MENU:
        if page is EMBED:
            continue
        text = renderer.templates.render(page.template, page=page, **context)
        yield from renderer.documents(page_of(renderer, page, text), twin=text.encode())


def page_of(
    renderer: Renderer,
    page: DeveloperPage,
    text: str,
    template: str = "developers.html",
    *,
    has_frame: bool = False,
) -> Page:
    """Return a page of the documentation with a text of Markdown."""
    base_url, name = renderer.site.base_url, renderer.site.business.name
    trail = [MENU[0]] if page is MENU[0] else [MENU[0], page]
    content = renderer.bytecode.result(
        "html", text.encode(), lambda: markdown.render(text, base_url, page.path).encode()
    )
    return Page(
        path=page.path,
        twin=urls.twin(page.path),
        template=template,
        title=f"{page.title}: {name}",
        description=page.description,
        script=renderer.crumbs(*((entry.title, entry.path) for entry in trail)),
        dated=False,
        has_frame=has_frame,
        context={
            "documentation": page,
            "menu": MENU,
            "content": Markup(content.decode()),  # noqa: S704  escaped
        },
    )


def _resolved(api: Json) -> object:
    """Return the OpenAPI document with its parameters and responses in place of references to them."""
    components = msgspec.convert(api["components"], dict[str, dict[str, object]])
    shared = {
        f"#/components/{kind}/{name}": part
        for kind in ("parameters", "responses")
        for name, part in components[kind].items()
    }

    def resolve(part: object) -> object:
        match part:
            case {"$ref": str(reference)} if reference in shared:
                return shared[reference]
            case dict():
                return {name: resolve(value) for name, value in part.items()}
            case list():
                return [resolve(item) for item in part]
        return part

    return resolve(api)


def _indented(value: object) -> str:
    """Return a value as JSON for people."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def _target(path: str, parameters: list[Mapping[str, object]]) -> str:
    """Return an address to try: the path with its examples, and for a search two filters."""
    for parameter in parameters:
        if parameter["in"] == "path":
            example = quote(schemas.plain(parameter["example"]), safe="")
            path = path.replace(f"{{{parameter['name']}}}", example)
    return f"{path}?min_rating=4&limit=5" if path == urls.SEARCH else path


def _kinds() -> dict[str, list[Problem]]:
    """Return the problems that are sent as JSON, by kind, in the order of their statuses.

    The ``type`` of a problem leads to its kind (RFC 9457, contract 2).
    """
    every = (value for value in vars(problems).values() if isinstance(value, Problem))
    by_kind: dict[str, list[Problem]] = {}
    for problem in sorted(every, key=attrgetter("status")):
        if not problem.plain:
            by_kind.setdefault(problem.kind, []).append(problem)
    return by_kind
