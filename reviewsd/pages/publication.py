"""All that is published of a site: fixed documents, and frames for what requests ask for (pages.md 1, 2)."""

from collections.abc import Iterable, Iterator
from itertools import chain

from reviewsd.http1 import urls
from reviewsd.pages import extras, home, machines, reviews
from reviewsd.pages.developers import documents as documentation
from reviewsd.pages.developers.pages import Interfaces
from reviewsd.pages.document import HTML, FixedDocument
from reviewsd.pages.frames import Frames
from reviewsd.pages.machines import ChangedDays, MachineSettings
from reviewsd.pages.rendering import Renderer


def documents(renderer: Renderer, frames: Frames) -> Iterator[FixedDocument]:
    """Render everything that has a fixed address, in the order in which it is published.

    Raises:
        TemplateError: A file of the operator's is faulty.
    """
    yield from home.documents(renderer)
    yield from reviews.documents(renderer, frames)
    yield from extras.documents(renderer)


def for_machines(
    renderer: Renderer,
    pages: Iterable[FixedDocument],
    interfaces: Interfaces,
    settings: MachineSettings,
    changes: ChangedDays,
) -> Iterator[FixedDocument]:
    """The pages, the documentation, and the documents that lead crawlers and agents to them.

    Args:
        renderer: Of the site.
        pages: The other pages.
        interfaces: What is documented.
        settings: What the operator wants of documents for machines.
        changes: The reviews for the sitemap.

    Raises:
        TemplateError: A file of the operator's is faulty.
    """
    listed = []
    for each in chain(pages, documentation.documents(renderer, interfaces)):
        if each.media_type == HTML and each.path != urls.EMBED:
            listed.append(each.path)
        yield each
    yield from machines.documents(renderer.site, settings, interfaces.revisions, listed, changes)
