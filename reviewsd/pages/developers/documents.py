"""The documentation as pages of the site, each with its Markdown twin."""

from collections.abc import Iterator
from functools import partial

from markupsafe import Markup

from reviewsd.http1 import urls
from reviewsd.pages import structured_data
from reviewsd.pages.developers import html
from reviewsd.pages.developers.pages import PAGES, Interfaces, texts
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
    base_url, name = site.base_url, site.business.name
    home = [(name, urls.HOME), (PAGES[0].title, PAGES[0].path)]
    for page, text in texts(renderer.templates, interfaces, base_url, name, site.absent):
        trail = home if page is PAGES[0] else [*home, (page.title, page.path)]
        convert = partial(html.render, base_url=base_url, path=page.path)
        crumbs = structured_data.graph(structured_data.breadcrumbs(base_url, trail))
        yield from renderer.documents(
            Page(
                path=page.path,
                twin=urls.twin(page.path),
                template="developers.html",
                title=f"{page.title}: {name}",
                description=page.description,
                script=structured_data.script(crumbs),
                dated=False,
                context={
                    "documentation": page,
                    "menu": PAGES,
                    "content": Markup(renderer.bytecode.html(text, convert)),  # noqa: S704  escaped
                    "text": Verbatim(text),
                },
            )
        )
