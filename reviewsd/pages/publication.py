"""All that is published of a site: fixed documents, and frames for what requests ask for (pages.md 1, 2)."""

from collections.abc import Iterator

from reviewsd.pages import extras, home, reviews
from reviewsd.pages.document import FixedDocument
from reviewsd.pages.frames import Frames
from reviewsd.pages.rendering import Renderer


def documents(renderer: Renderer, frames: Frames) -> Iterator[FixedDocument]:
    """Render everything that has a fixed address, in the order in which it is published.

    Raises:
        TemplateError: A file of the operator's is faulty.
    """
    yield from home.documents(renderer)
    yield from reviews.documents(renderer, frames)
    yield from extras.documents(renderer)
