"""The documentation as pages of the site, each with its Markdown twin."""

from collections.abc import Iterator
from functools import partial

from markupsafe import Markup

from reviewsd.http1 import urls
from reviewsd.pages import structured_data
from reviewsd.pages.developers import html
from reviewsd.pages.developers.pages import MENU, DeveloperPage, Interfaces, texts
from reviewsd.pages.document import FixedDocument
from reviewsd.pages.environment import Verbatim
from reviewsd.pages.rendering import Page, Renderer


def documents(renderer: Renderer, interfaces: Interfaces) -> Iterator[FixedDocument]:
    """Render all pages of the documentation.

    Args:
        renderer: The renderer of the site.
        interfaces: The interfaces that the pages document.

    Raises:
        TemplateError: A template is faulty.
    """
    site = renderer.site
    name = site.business.name
    for page, text in texts(renderer.templates, interfaces, site.base_url, name, site.absent):
        yield from renderer.documents(page_of(renderer, page, text))


def page_of(
    renderer: Renderer,
    page: DeveloperPage,
    text: str,
    template: str = "developers.html",
    *,
    has_frame: bool = False,
) -> Page:
    """Return a page of the documentation.

    Args:
        renderer: The renderer of the site.
        page: Its title and path.
        text: Its text as Markdown.
        template: Its template.
        has_frame: As in ``Page``.
    """
    base_url, name = renderer.site.base_url, renderer.site.business.name
    trail = [(name, urls.HOME), (MENU[0].title, MENU[0].path)]
    if page is not MENU[0]:
        trail.append((page.title, page.path))
    convert = partial(html.render, base_url=base_url, path=page.path)
    return Page(
        path=page.path,
        twin=urls.twin(page.path),
        template=template,
        title=f"{page.title}: {name}",
        description=page.description,
        script=structured_data.crumbs(base_url, trail),
        dated=False,
        has_frame=has_frame,
        context={
            "documentation": page,
            "menu": MENU,
            "content": Markup(renderer.bytecode.html(text, convert)),  # noqa: S704  escaped
            "text": Verbatim(text),
        },
    )
