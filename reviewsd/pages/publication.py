"""All fixed documents of a site, in the order in which they are published (pages.md 1)."""

from collections.abc import Iterator

from reviewsd.pages import home
from reviewsd.pages.document import FixedDocument
from reviewsd.pages.rendering import Renderer
from reviewsd.pages.site import Site


def documents(site: Site) -> Iterator[FixedDocument]:
    """Render everything that has a fixed address.

    Raises:
        TemplateError: A file of the operator's is faulty.
    """
    renderer = Renderer(site)
    yield from home.documents(renderer)
