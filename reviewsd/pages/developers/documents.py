"""The documentation as pages in the frame, each with its Markdown twin."""

from collections.abc import Iterator

from reviewsd.http1 import urls
from reviewsd.pages import structured_data
from reviewsd.pages.developers import html, markdown
from reviewsd.pages.developers.pages import Interfaces, pages
from reviewsd.pages.document import FixedDocument
from reviewsd.pages.environment import Verbatim
from reviewsd.pages.rendering import Page, Renderer


def documents(renderer: Renderer, interfaces: Interfaces) -> Iterator[FixedDocument]:
    """All pages of the documentation.

    Args:
        renderer: Of the site.
        interfaces: What is documented.
    """
    site = renderer.site
    base_url, name = site.base_url, site.business.name
    overview, *others = pages(interfaces, base_url, name, site.absent)
    menu = tuple((each.title, each.path) for each in (overview, *others))
    for each in (overview, *others):
        trail = [(name, urls.HOME), (overview.title, overview.path)]
        if each is not overview:
            trail.append((each.title, each.path))
        crumbs = structured_data.graph(structured_data.breadcrumbs(base_url, trail))
        yield from renderer.documents(
            Page(
                path=each.path,
                twin=urls.twin(each.path),
                template="developers.html",
                title=f"{each.title}: {name}",
                description=each.description,
                script=structured_data.script(crumbs),
                dated=False,
                context={
                    "documentation": each,
                    "menu": menu,
                    "content": html.render(each),
                    "text": Verbatim(markdown.render(each, base_url).decode()),
                },
            )
        )
