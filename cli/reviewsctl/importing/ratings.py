"""Ratings as exports spell them, as one to five whole stars.

What a platform documents as stars is read by ``stars``, which neither rounds nor rescales. A table of
no known platform may have half stars, ten points, school grades or a word: ``Scale`` reads those, as the
operator or the table itself says (``scales``).
"""

import functools
import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, NamedTuple, Self

from reviewsctl.importing.errors import RowRefusedError, SayMoreError
from reviewsctl.importing.values import shown, word
from reviewsctl.importing.vocabulary.words import CELLS

MAX_STARS: Final = 5
_STARS: Final = range(1, MAX_STARS + 1)

SCALES: Final = range(2, 101)
"""Numbers that may be the best rating of a scale."""

ABOVE_FIVE: Final = "above-five"
"""The note of a refused rating that may be of another scale."""

_PERCENT: Final = 100
_LONG: Final = 60  # characters; no rating is longer
_FULL, _EMPTY = "★⭐🌟✭✮✯⭑*", "☆✩✰"
_PLAIN = str.maketrans("", "", "\N{VARIATION SELECTOR-15}\N{VARIATION SELECTOR-16}")
_PARTS = {"½": 50, "1/2": 50, "¼": 25, "1/4": 25, "¾": 75, "3/4": 75}
_PART = re.compile(r"(?<=[0-9])(?:\s*([½¼¾])|\s+(1/2|1/4|3/4))")
_DRAWN = re.compile(f"([{_FULL}]{{1,10}})(½?)([{_EMPTY}]{{0,10}})")
_NUMBER = re.compile(
    rf"(?P<drawn>[{_FULL}]\s*)?(?P<number>[0-9]{{1,4}}(?:[.,][0-9]{{1,6}})?)"
    r"(?:\s*(?:/|of|out of|von|sur|su|de|van)\s*(?P<best>[0-9]{1,4})(?:[.,]0{1,6})?)?"
    rf"(?:\s*(?:(?P<stars>stars?|[{_FULL}]|sternen?|sterne?|étoiles?|estrellas?|stell[ae]"
    r"|estrelas?|sterren)|points?|punkten?|punkte?|puntos?|punti|pontos?|punten|(?P<percent>%)))?",
    re.IGNORECASE,
)
_SCALE = re.compile(r"([0-9]{1,3})(?:\s*(?:-|\u2013|:|to)\s*([0-9]{1,3}))?")
_WORDS = {"ONE": 1, "TWO": 2, "THREE": 3, "FOUR": 4, "FIVE": 5}


class Rating(NamedTuple):
    """A rating as it is written."""

    number: Fraction
    best: int | None
    """The best rating there is, where it says so itself: ``8/10``, ``80 %``, seven of ten drawn stars."""
    are_stars: bool = False
    """Whether it is drawn in stars, or has their name."""


class StarRating(NamedTuple):
    """A rating as it is published."""

    stars: int
    notes: tuple[str, ...] = ()
    """Names of what the result mentions of it (``report``)."""


def rating_of(value: object) -> Rating | None:
    """Parse a cell as a rating; return None if it is not one."""
    text = word(value)
    return None if text is None or len(text) > _LONG else _spelled(text)


@functools.lru_cache(maxsize=1024)
def _spelled(text: str) -> Rating | None:
    text = text.translate(_PLAIN)
    if match := _DRAWN.fullmatch(text.replace(" ", "")):
        full, half, empty = map(len, match.groups())
        best = full + half + empty if empty else None
        return Rating(full + Fraction(half, 2), best, are_stars=True)
    if match := _NUMBER.fullmatch(_PART.sub(_decimal, text)):
        best = _PERCENT if match["percent"] else int(match["best"]) if match["best"] else None
        are_stars = bool(match["drawn"] or match["stars"])
        return Rating(Fraction(match["number"].replace(",", ".")), best, are_stars)
    spelled = _WORDS.get(text.upper())
    return None if spelled is None else Rating(Fraction(spelled), None)


def _decimal(part: re.Match[str]) -> str:
    """Return the part of a number that people write as ``½`` or `` 1/2``."""
    return f".{_PARTS[part[1] or part[2]]}"


def stars(value: object) -> int:
    """Return a rating of one to five whole stars.

    Raises:
        RowRefusedError: It is none; nothing is rounded or rescaled.
    """
    if type(value) is int and 1 <= value <= MAX_STARS:
        return value
    rating = rating_of(value)
    if rating is not None and rating.best in (None, MAX_STARS) and rating.number in _STARS:
        return int(rating.number)
    if word(value) is None:
        raise RowRefusedError("no rating")
    raise RowRefusedError(f"rating {shown(value)} is not a whole number of stars from 1 to 5")


def recommends(value: object) -> bool | None:
    """Return whether a word of Facebook recommends; None for any other value."""
    bare = (word(value) or "").casefold()
    if bare in CELLS.sets["recommended"]:
        return True
    return False if bare in CELLS.sets["not_recommended"] else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The scale of ratings that are not a platform's stars."""

    best: int | None = None
    """The best rating there is; None where each rating has to say it itself."""
    worst: int | None = None
    """The worst rating, above the best for school grades. If None, only the best is known: stars are in proportion to
    it, and 0 is not a rating."""
    is_set: bool = True
    """Whether the operator set it. If not, fractions of a five-star rating are refused, not rounded."""
    recommended: bool = False
    """``recommended``: a recommendation is five stars, its opposite one."""

    @classmethod
    def parsed(cls, text: str) -> Self:
        """Return the scale of a setting: ``10``, or ``6-1`` from the worst to the best.

        Raises:
            SayMoreError: It is neither.
        """
        match = _SCALE.fullmatch(text.strip())
        scale = cls()
        if match is not None:
            worst = None if match[2] is None else int(match[1])
            scale = cls(best=int(match[2] or match[1]), worst=worst)
        if not scale.is_possible:
            raise SayMoreError(
                f"scale: expected 2 to 100, or two numbers, got {shown(text)}",
                "The best rating, as in scale=10; or from the worst to the best, as in scale=6-1 or 5-1 of school grades",
            )
        return scale

    @property
    def is_possible(self) -> bool:
        """Whether ratings can be read by it."""
        if self.best is None or self.best == self.worst:
            return False
        return max(self.best, self.worst or 0) in SCALES

    def __str__(self) -> str:
        """For the operator."""
        return f"of {self.best}" if self.worst is None else f"from {self.worst} to {self.best}"

    def recommendation(self, positive: object) -> StarRating:
        """Return the stars of a recommendation.

        Raises:
            RowRefusedError: The operator has not set its stars, or it is no recommendation.
        """
        if not isinstance(positive, bool):
            raise RowRefusedError("neither a rating nor a recommendation")
        if not self.recommended:
            raise RowRefusedError(
                "a recommendation has no stars (--set recommended=yes takes it as 5, its opposite as 1)",
                "unrated",
            )
        return StarRating(MAX_STARS if positive else 1, ("recommendation",))

    def stars(self, value: object) -> StarRating:
        """Return the stars of a rating in a table of no known platform.

        Raises:
            RowRefusedError: It is no rating, or its scale is not known.
        """
        if (positive := recommends(value)) is not None:
            return self.recommendation(positive)
        rating = rating_of(value)
        if rating is None:
            return StarRating(stars(value))
        number, best, worst, is_set = rating.number, self.best, self.worst, self.is_set
        if rating.best is not None or (best is None and rating.are_stars and number <= MAX_STARS):
            is_set = is_set and best is not None
            best, worst = MAX_STARS if rating.best is None else rating.best, None
        if best is None:
            raise RowRefusedError(f"rating {shown(value)} does not say of how many it is")
        if best not in SCALES and worst is None:
            raise RowRefusedError(f"rating {shown(value)} is of no scale")
        if best == MAX_STARS and worst in (None, 1):
            _check_stars(value, number, is_set=is_set and number >= (worst or 0))
            return _rounded(number)
        lowest = worst or 0
        inside = min(lowest, best) <= number <= max(lowest, best)
        if best == lowest or not inside or (worst is None and number == 0):
            raise RowRefusedError(
                f"rating {shown(value)} is not a rating {Scale(best=best, worst=worst)}"
            )
        if worst is None:
            return _rounded(number * MAX_STARS / best)
        return _rounded(1 + (MAX_STARS - 1) * (number - worst) / (best - worst))


def _check_stars(value: object, number: Fraction, *, is_set: bool) -> None:
    """Check a rating of five stars; only the operator's own scale rounds, and takes less than one."""
    if is_set and 0 < number <= MAX_STARS:
        return
    if number > MAX_STARS and not is_set:
        raise RowRefusedError(
            f"rating {shown(value)} is above five; correct it in the file and import it again",
            ABOVE_FIVE,
        )
    if not 1 <= number <= MAX_STARS:
        raise RowRefusedError(f"rating {shown(value)} is not a whole number of stars from 1 to 5")
    if number.denominator != 1:
        raise RowRefusedError(
            f"rating {shown(value)} is between two stars (--set scale=5 rounds it, halves up)"
        )


def _rounded(number: Fraction) -> StarRating:
    """Return the stars of a rating, halves rounded up."""
    rounded = max(1, math.floor(number + Fraction(1, 2)))
    return StarRating(rounded, () if number.denominator == 1 else ("rounded",))
