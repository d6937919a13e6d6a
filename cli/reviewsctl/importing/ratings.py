"""Ratings as exports spell them, as one to five whole stars.

What a platform documents as stars is read by ``stars``, which neither rounds nor rescales. A table of
somebody's own may have half stars, ten points or a word: ``Scale`` reads what the operator said of it.
"""

import math
import re
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from reviewsctl.importing.review import RowRefusedError
from reviewsctl.importing.values import shown, word

MAX_STARS: Final = 5

SCALES: Final = range(2, 101)
"""What ``--scale`` takes: the best rating there is."""

_STARS = re.compile(
    r"([0-9]+)(?:[.,]0*)?(?:\s*(?:/|of|out of)\s*5(?:[.,]0*)?)?(?:\s*(?:stars?|★))?", re.IGNORECASE
)
_DRAWN = re.compile(r"(★{1,5})[☆✩]*")
_NUMBER = re.compile(
    r"([0-9]{1,4}(?:[.,][0-9]{1,6})?)(?:\s*(?:/|of|out of|von|sur|de)\s*([0-9]{1,4}))?"
    r"(?:\s*(?:stars?|★|sterne?|étoiles?|estrellas?|points?|%))?",
    re.IGNORECASE,
)
_WORDS = {"ONE": 1, "TWO": 2, "THREE": 3, "FOUR": 4, "FIVE": 5}

_RECOMMENDED = {
    **dict.fromkeys(("recommended", "recommends", "positive", "recommend"), True),
    **dict.fromkeys(
        (
            *("not recommended", "doesn't recommend", "does not recommend", "not_recommended"),
            *("negative", "doesn\N{RIGHT SINGLE QUOTATION MARK}t recommend"),
        ),
        False,
    ),
}
"""Facebook's words, as it and those who pass its reviews on spell them."""


def stars(value: object) -> int:
    """A rating of one to five whole stars.

    Raises:
        RowRefusedError: It is none; nothing is rounded or rescaled.
    """
    found: int | None = None
    if isinstance(value, bool) or value is None or value == "":
        found = None
    elif isinstance(value, int):
        found = value
    elif isinstance(value, float):
        found = int(value) if value.is_integer() else None
    elif isinstance(value, str):
        found = _read_stars(value.strip())
    if found is None or not 1 <= found <= MAX_STARS:
        if word(value) is None:
            raise RowRefusedError("no rating")
        raise RowRefusedError(f"rating {shown(value)} is not a whole number of stars from 1 to 5")
    return found


def _read_stars(text: str) -> int | None:
    if match := _STARS.fullmatch(text):
        return int(match[1]) if len(match[1]) == 1 else None
    if match := _DRAWN.fullmatch(text):
        return len(match[1])
    return _WORDS.get(text.upper())


def recommends(value: object) -> bool | None:
    """Whether a word of Facebook's recommends; None for any other value."""
    text = word(value)
    return None if text is None else _RECOMMENDED.get(text.casefold())


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How ratings are to be read that are not stars, as the operator says."""

    best: int | None = None
    """``--scale``: the best rating there is; None where nothing was said."""
    recommended: bool = False
    """``--recommended``: a recommendation is five stars, its opposite one."""

    def recommendation(self, positive: object, counts: Counter[str]) -> int:
        """The stars of a recommendation.

        Raises:
            RowRefusedError: Nobody said how many it is, or it is neither.
        """
        if not isinstance(positive, bool):
            raise RowRefusedError("neither a rating nor a recommendation")
        if not self.recommended:
            counts["unrated"] += 1
            raise RowRefusedError(
                "a recommendation has no stars (--recommended takes it as 5, its opposite as 1)"
            )
        counts["recommendation"] += 1
        return MAX_STARS if positive else 1

    def stars(self, value: object, counts: Counter[str]) -> int:
        """The stars of a rating in somebody's own table.

        Args:
            value: As the table has it.
            counts: Gets what the result has to mention.

        Raises:
            RowRefusedError: It is none, or nobody said how to read it.
        """
        if (positive := recommends(value)) is not None:
            return self.recommendation(positive, counts)
        text = word(value)
        match = None if text is None else _NUMBER.fullmatch(text)
        if match is None:
            return stars(value)
        number = Fraction(match[1].replace(",", "."))
        best = int(match[2]) if match[2] else self.best
        if best is None or best == MAX_STARS:
            if number > MAX_STARS:
                counts["above-five"] += 1
            if number.denominator == 1 or self.best is None:
                if number.denominator != 1 and number < MAX_STARS:
                    counts["between"] += 1
                return self._whole(value, number)
            best = MAX_STARS
        if best not in SCALES or not 0 < number <= best:
            raise RowRefusedError(f"rating {shown(value)} is not above 0 and up to {best}")
        exact = number * MAX_STARS / best
        if exact.denominator != 1:
            counts["rounded"] += 1
        return max(1, math.floor(exact + Fraction(1, 2)))

    @staticmethod
    def _whole(value: object, number: Fraction) -> int:
        if number.denominator != 1 and 1 <= number <= MAX_STARS:
            raise RowRefusedError(
                f"rating {shown(value)} is between two stars (--scale 5 rounds it, halves up)"
            )
        if number.denominator != 1 or not 1 <= number <= MAX_STARS:
            raise RowRefusedError(
                f"rating {shown(value)} is not a whole number of stars from 1 to 5"
            )
        return int(number)
