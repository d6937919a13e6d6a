"""The labels of one review, from rules or from a language model (insights.md 2).

Labels depend only on the text, the rating and the settings, so they are stored by ``label_key`` and
reused.
"""

import hashlib
from typing import Final

from msgspec import Struct

from reviewsd.domain.insights import Sentiment

RULES: Final = "lexicon-15"
"""The version of the rules; raise it when rules or words change labels."""


class AspectLabel(Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """A mention of an aspect."""

    id: str
    sentiment: Sentiment
    phrase: str | None = None
    """A verbatim piece of the text."""
    strength: float = 0.0
    """Strength of the statement, 0 to 1; orders examples."""
    wordings: tuple[str, ...] = ()
    """Verbatim wordings of this sentiment, to be counted over reviews."""


class EntityLabel(Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """A mention of an entity."""

    id: str
    phrase: str | None = None
    """A verbatim piece of the text."""
    sentiment: Sentiment | None = None
    """The sentiment of the clauses about a person; None for that of the review."""
    wordings: tuple[str, ...] = ()
    """Verbatim wordings about a person, or of a problem."""
    praised_for: tuple[str, ...] = ()
    """Ids of the aspects that the clauses about a person praise."""


class Labels(Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """All labels of one review."""

    words: float = 0.0
    """Sentiment of the words alone, -1 to 1."""
    language: str = ""
    """The language of the text (ISO 639); empty without words."""
    aspects: tuple[AspectLabel, ...] = ()
    technicians: tuple[EntityLabel, ...] = ()
    services: tuple[EntityLabel, ...] = ()
    problems: tuple[EntityLabel, ...] = ()
    service_areas: tuple[EntityLabel, ...] = ()
    model: str = ""
    """The language model that read the text; empty for rules."""


WORDLESS: Final = Labels()
"""The labels of a rating without words."""


def label_key(text: str, rating: int, digest: bytes) -> str:
    """Return the key of the labels of a review.

    Args:
        text: The review's text.
        rating: The stars.
        digest: Digest of the rules and settings.
    """
    content = text.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(content, digest_size=16, key=digest, salt=b"%d" % rating).hexdigest()


def text_key(text: str, rating: int) -> str:
    """Return the key of a text with a rating, whatever the rules and settings are."""
    return label_key(text, rating, b"")
