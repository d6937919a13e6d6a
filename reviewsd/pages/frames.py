"""Frames of the pages that are rendered for a request (pages.md 2).

A frame is a page with slots. While it is rendered, the names of slots are between NULs, which no text of a
page can contain. The templates of the cards are in the snapshot beside the frames, so they were checked at
publication, and no serving process reads the operator's folder.
"""

from functools import cached_property, lru_cache
from typing import Final

import msgspec
from markupsafe import Markup
from msgspec import Struct

from reviewsd.domain.embed_options import BadgeOptions
from reviewsd.domain.locations import Locations
from reviewsd.domain.reviews import Business
from reviewsd.pages.environment import Templates
from reviewsd.pages.rendering import Page, Renderer, shared
from reviewsd.pages.words import Language, Words


class Frame(Struct, frozen=True, dict=True):
    """A page with slots."""

    parts: tuple[str, ...]
    """Text and names of slots by turns; text first and last."""

    @cached_property
    def _encoded(self) -> tuple[bytes, ...]:
        return tuple(part.encode() for part in self.parts)

    def fill(self, **slots: str) -> bytes:
        """Return the page in UTF-8, with the escaped content of each slot."""
        parts = list(self._encoded)
        parts[1::2] = [slots[name].encode() for name in self.parts[1::2]]
        return b"".join(parts)


class EmbedFrames(Struct, frozen=True, kw_only=True):
    """Everything that owners put on their own websites, for requests with options."""

    accent: str
    """The accent of the site, ``#rrggbb``."""
    headers: dict[str, str]
    """Header fields of the embed, but for the hash of its style sheet."""
    reviews: Frame
    badge: Frame
    """The embed that shows only the rating."""
    invalid: Frame
    """The page in place of an embed with invalid options."""
    setup: Frame
    """The page ``/developers/embed``."""
    setup_headers: dict[str, str]
    pictures: dict[str, str]
    """``/badge.svg`` in each size and theme, by these."""

    def headers_with(self, digest: str) -> dict[str, str]:
        """Return the header fields of an embed with a style sheet of this hash."""
        policy = self.headers[_POLICY].replace("{style}", digest)
        return {**self.headers, _POLICY: policy}

    def picture(self, options: BadgeOptions) -> str:
        """Return ``/badge.svg``."""
        return self.pictures[f"{options.size} {options.theme}"]


_POLICY = "Content-Security-Policy"


class Frames(Struct, frozen=True, kw_only=True, dict=True):
    """Everything of a publication that pages rendered for a request need."""

    base_url: str
    business: Business
    headers: dict[str, str]
    """Header fields of these pages."""
    words: dict[str, str]
    language: Language
    templates: dict[str, str]
    """Sources of the templates that are rendered for a request, by name."""
    review: Frame
    listed: Frame
    """The page ``/reviews`` with parameters."""
    embed: EmbedFrames
    gone: str
    """The page in place of a review that does not exist."""
    nothing: str
    """The page in place of any other address that does not exist."""
    names: dict[str, dict[str, str]]
    """Labels by id that the form suggests, by parameter."""
    sources: tuple[str, ...]
    """The sources of the reviews, which the form offers, the most frequent first."""
    booleans: tuple[str, ...]
    """The parameters of yes and no that exclude some reviews, but not all."""
    years: tuple[tuple[int, int], ...]
    """The years with reviews, and the number of each."""
    jsonld_reviews: bool

    @cached_property
    def locations(self) -> Locations:
        """The locations of the business, if there are several."""
        return Locations.several(self.business)

    def templates_for_requests(self) -> Templates:
        """Return the templates for requests, compiled."""
        return _templates(
            tuple(self.templates.items()),
            tuple(self.words.items()),
            self.language,
            self.business.name,
        )


@lru_cache(maxsize=2)
def _templates(
    sources: tuple[tuple[str, str], ...],
    words: tuple[tuple[str, str], ...],
    language: Language,
    name: str,
) -> Templates:
    """Compile templates, or return those of a snapshot with the same sources."""
    return Templates(dict(sources), shared(Words(dict(words), language), name))


def slot(name: str) -> Markup:
    """Return the marker of a slot in a page that becomes a frame."""
    return Markup(f"\0{name}\0")  # noqa: S704  a name of ours


def frame(renderer: Renderer, page: Page, *slots: str, **values: object) -> Frame:
    """Render a page as a frame with these slots; ``values`` are for its template."""
    markers = {name: slot(name) for name in slots}
    return Frame(tuple(renderer.text(page, **markers, **values).split("\0")))


decode: Final = msgspec.json.Decoder(Frames).decode
"""Decodes the frames of a snapshot."""
