"""All fixed documents of a site, in the order in which they are published (pages.md 1)."""

from collections.abc import Iterator
from itertools import chain

from reviewsd.http1 import urls
from reviewsd.pages import home, machines
from reviewsd.pages.developers import documents as documentation
from reviewsd.pages.developers.pages import Interfaces
from reviewsd.pages.document import HTML, FixedDocument
from reviewsd.pages.machines import Changes, MachineSettings
from reviewsd.pages.rendering import Renderer
from reviewsd.pages.site import Site


def documents(
    site: Site, interfaces: Interfaces, settings: MachineSettings, changes: Changes
) -> Iterator[FixedDocument]:
    """Render everything that has a fixed address.

    Args:
        site: What is told of.
        interfaces: What developers are told of.
        settings: What the operator wants of documents for machines.
        changes: The reviews for the sitemap.

    Raises:
        TemplateError: A file of the operator's is faulty.
    """
    renderer = Renderer(site)
    listed = []
    for each in chain(home.documents(renderer), documentation.documents(renderer, interfaces)):
        if each.media_type == HTML and each.path != urls.EMBED:
            listed.append(each.path)
        yield each
    yield from machines.documents(site, settings, interfaces.revisions, listed, changes)
