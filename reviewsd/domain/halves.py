"""The halves of a review's text: what its author liked, and what he did not.

Booking.com asks for them apart, other platforms and people write "Pros: ... Cons: ...". The headings are
in English, German, French, Spanish, Italian, Portuguese and Dutch.
"""

from typing import Final, NamedTuple

from reviewsd.domain.insights import slug

_LONGEST: Final = 40  # characters of a heading
_MOST: Final = 8  # halves of a text; the time stays linear


def _headings(names: str) -> frozenset[str]:
    return frozenset(names.split(", "))


LIKED: Final = _headings(
    "positive review, positive, positives, positive comment, positive comments, liked, "
    "liked text, pros, pro, content positive, what did you like, what you liked, "
    "what was good, strengths, advantages, positiv, positives feedback, vorteile, gefallen, "
    "das hat gefallen, was hat gefallen, was hat ihnen gefallen, points positifs, "
    "points forts, positif, avantages, positivo, lo positivo, puntos positivos, ventajas, "
    "lo mejor, pregi, vantaggi, punti di forza, aspetti positivi, pontos positivos, "
    "vantagens, pontos fortes, positief, pluspunten, voordelen"
)
"""Headings of what was liked, in lower case, without accents and punctuation."""

DISLIKED: Final = _headings(
    "negative review, negative, negatives, negative comment, negative comments, disliked, "
    "disliked text, cons, contra, content negative, what did you dislike, what you disliked, "
    "what did you not like, what could be better, what was bad, weaknesses, disadvantages, "
    "improvements, what can be improved, negativ, negatives feedback, nachteile, "
    "nicht gefallen, das hat nicht gefallen, was hat nicht gefallen, "
    "was hat ihnen nicht gefallen, kritik, points negatifs, points faibles, negatif, "
    "inconvenients, negativo, lo negativo, puntos negativos, desventajas, contras, lo peor, "
    "difetti, svantaggi, punti deboli, aspetti negativi, pontos negativos, desvantagens, "
    "pontos fracos, negatief, minpunten, nadelen"
)
"""Headings of what was not liked, likewise."""


class Half(NamedTuple):
    """One half of a text, from its heading to the next heading or an empty line, in characters."""

    begin: int
    """The beginning of its heading."""
    start: int
    """The beginning of its text, after the colon of the heading."""
    end: int
    liked: bool


def halves(text: str) -> list[Half]:
    """Return the halves of a text, in their order; none of a text without their headings."""
    result: list[Half] = []
    if ":" not in text:
        return result
    begin = 0
    is_open = False
    for line in text.split("\n"):
        heading, colon, _ = line.partition(":")
        kind = _kind(heading) if colon and len(result) < _MOST else None
        if is_open and (kind is not None or not line.strip()):
            result[-1] = result[-1]._replace(end=begin)
            is_open = False
        if kind is not None:
            result.append(Half(begin, begin + len(heading) + 1, len(text), kind))
            is_open = True
        begin += len(line) + 1
    return result


def without_headings(text: str) -> str:
    """Return a text with blanks for the headings of its halves, which may be in another language."""
    for half in halves(text):
        text = text[: half.begin] + " " * (half.start - half.begin) + text[half.start :]
    return text


def _kind(heading: str) -> bool | None:
    """Return whether a heading is of what was liked; None if it is none of a half."""
    if len(heading) > _LONGEST:
        return None
    words = slug(heading).replace("-", " ")
    return True if words in LIKED else False if words in DISLIKED else None
