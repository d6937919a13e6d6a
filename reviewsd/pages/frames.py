"""Pages that are put together for a request: frames made at publication, and cards (pages.md 2).

A frame is a page with slots. NUL stands around the names of the slots while it is rendered, since no text on a
page can hold one. The templates of the cards travel with the frames, inside the snapshot: so what is served for
a request was checked when it was published, and no serving process reads the operator's folder.
"""

from collections.abc import Mapping
from functools import lru_cache

import msgspec
from markupsafe import Markup
from msgspec import Struct

from reviewsd.domain.reviews import Business
from reviewsd.pages.environment import Templates
from reviewsd.pages.language import language_of
from reviewsd.pages.rendering import Page, Renderer, fill_in, shared


class Frame(Struct, frozen=True):
    """A page with slots."""

    parts: tuple[str, ...]
    """Text and names of slots by turns; text first and last."""

    def fill(self, slots: Mapping[str, str]) -> bytes:
        """The page, UTF-8.

        Args:
            slots: What stands in each, escaped.
        """
        parts = self.parts
        return "".join(
            [part if at % 2 == 0 else slots[part] for at, part in enumerate(parts)]
        ).encode()


class Frames(Struct, frozen=True, kw_only=True):
    """All that pages made for a request need of a publication."""

    base_url: str
    business: Business
    headers: dict[str, str]
    """Header fields of these pages."""
    words: dict[str, str]
    templates: dict[str, str]
    """By name, those that are rendered for a request."""
    review: Frame
    listed: Frame
    """A page of ``/reviews`` that was asked for with parameters."""
    gone: str
    """The page that says that a review is not there, and..."""
    nothing: str
    """... that nothing is."""
    names: dict[str, dict[str, str]]
    """By parameter: labels by id of what the form can be asked for."""
    years: tuple[tuple[int, int], ...]
    """The years that have reviews, and how many."""
    jsonld_reviews: bool

    def templates_for_requests(self) -> Templates:
        """The templates, ready."""
        return _templates(
            tuple(self.templates.items()),
            tuple(self.words.items()),
            self.business.language,
            self.business.name,
        )


@lru_cache(maxsize=2)
def _templates(
    sources: tuple[tuple[str, str], ...], words: tuple[tuple[str, str], ...], tag: str, name: str
) -> Templates:
    """Compiled templates outlive the snapshots that have the same ones."""
    known, language = dict(words), language_of(tag)

    def say(key: str, **values: object) -> str:
        return language.isolated(fill_in(known, key, values))

    return Templates(dict(sources), shared(language, say, name), prepared=True)


def slot(name: str) -> Markup:
    """What stands for a slot while a frame is rendered."""
    return Markup(f"\0{name}\0")  # noqa: S704  a name of ours


def frame(renderer: Renderer, page: Page, **slots: object) -> Frame:
    """A page as a frame; what it names in ``slots`` is filled in later."""
    return Frame(tuple(renderer.text(page, **slots).split("\0")))


def decode(content: bytes | memoryview) -> Frames:
    """The frames of a snapshot."""
    return _decode(content)


_decode = msgspec.json.Decoder(Frames).decode
