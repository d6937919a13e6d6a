"""All fixed documents of a site, in the order of publication (pages.md 1, 2)."""

from collections.abc import Iterator
from itertools import chain

from reviewsd.http1 import urls
from reviewsd.pages import about, embed, extras, home, machines, review_us, reviews
from reviewsd.pages.developers import pages as documentation
from reviewsd.pages.document import HTML, FixedDocument
from reviewsd.pages.frames import Frames
from reviewsd.pages.machines import ChangedDays
from reviewsd.pages.rendering import Renderer
from reviewsd.pages.settings import MachineSettings


def documents(
    renderer: Renderer,
    frames: Frames,
    openapi: bytes,
    settings: MachineSettings,
    changes: ChangedDays,
) -> Iterator[FixedDocument]:
    """Render everything that has a fixed address, in the order in which it is published.

    Raises:
        TemplateError: A template of the operator is faulty.
    """
    paths = []
    for document in chain(
        home.documents(renderer),
        reviews.documents(renderer, frames),
        renderer.documents(about.page(renderer)),
        review_us.documents(renderer),
        extras.documents(renderer),
        embed.documents(renderer, frames),
        documentation.documents(renderer, openapi, settings.tools),
    ):
        if document.media_type == HTML and document.path != urls.EMBED:
            paths.append(document.path)
        yield document
    yield from machines.documents(renderer, settings, paths, changes)
