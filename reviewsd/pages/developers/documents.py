"""The documentation as pages in the frame, each with its Markdown twin."""

from collections.abc import Iterator

from reviewsd.http1 import urls
from reviewsd.pages.developers import markdown
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
    all_pages = pages(interfaces, site.base_url, site.business.name)
    overview, *_ = all_pages
    menu = tuple((each.title, each.path) for each in all_pages)
    for each in all_pages:
        above = () if each is overview else ((overview.title, overview.path),)
        yield from renderer.documents(
            Page(
                path=each.path,
                twin=urls.twin(each.path),
                template="developers.html",
                title=f"{each.title}: {site.business.name}",
                description=each.description,
                trail=above,
                context={
                    "documentation": each,
                    "menu": menu,
                    "text": Verbatim(markdown.render(each, site.base_url).decode()),
                },
            )
        )
