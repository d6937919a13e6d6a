"""What is found in one review, by rules or by a language model (insights.md 2).

Labels depend on the text, the rating and the settings alone, so they are kept by ``label_key`` and
used again while those are the same.
"""

import hashlib
from typing import Final

from msgspec import Struct

from reviewsd.domain.insights import Sentiment

RULES: Final = "lexicon-2"
"""The version of the rules; it rises when rules or words change what is found."""


class AspectLabel(Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """What a review says about an aspect."""

    id: str
    sentiment: Sentiment
    phrase: str | None = None
    """A verbatim piece of the text."""
    strength: float = 0.0
    """How clearly it is said, 0 to 1; orders examples."""


class EntityLabel(Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """An entity that a review mentions."""

    id: str
    phrase: str | None = None
    """A verbatim piece of the text."""


class Labels(Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """Everything found in one review."""

    words: float = 0.0
    """Sentiment of the words alone, -1 to 1."""
    analysed: bool = True
    """Whether the words were read: there are some, in a language that the rules know."""
    foreign: bool = False
    """Whether it is written in another language than the rules know."""
    aspects: tuple[AspectLabel, ...] = ()
    technicians: tuple[EntityLabel, ...] = ()
    services: tuple[EntityLabel, ...] = ()
    problems: tuple[EntityLabel, ...] = ()
    service_areas: tuple[EntityLabel, ...] = ()


WORDLESS: Final = Labels(analysed=False)
"""The labels of a rating without words."""


def label_key(text: str, rating: int, digest: bytes) -> str:
    """The key under which the labels of a review are kept.

    Args:
        text: The review's text.
        rating: Its stars.
        digest: Stands for the rules and everything else that they were given.
    """
    content = text.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(content, digest_size=16, key=digest, salt=b"%d" % rating).hexdigest()
