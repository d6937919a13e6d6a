"""Finds the scale of the ratings in a table that is of no known platform, or asks for it.

"4" is four of five stars, two stars of ten points, or a bad school grade. What counts as evidence, in
this order: the operator's scale, a best rating beside each, the header of the column, a platform's own
columns, and the ratings themselves. Evidence against five stars makes a question of the last two.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final

from reviewsctl.importing.errors import RowRefusedError, SayMoreError
from reviewsctl.importing.ratings import (
    MAX_STARS,
    Rating,
    Scale,
    rating_of,
)
from reviewsctl.importing.values import normal, shown, word
from reviewsctl.importing.vocabulary.words import CELLS, COLUMNS

Fields = Mapping[str, object]
ScaleOf = Callable[[Fields], Scale]
"""Returns the scale of a row's rating; raises RowRefusedError."""

_IN_HEADING: Final = re.compile(
    r"(?:(?<![0-9])(?<![0-9][-./])(?P<worst>[0-9]{1,3})\s*(?:-|\u2013|to|bis|à|a|tot)"
    r"|(?<![0-9])/|(?<!\bas )\b(?:out of|of|von|sur|su|de|van|max\.?))"
    r"\s*(?P<best>[0-9]{1,3})(?![0-9]|[-./][0-9])",
    re.IGNORECASE,
)
"""A scale in the name of a column, which is no date: ``1-10``, ``/20``, ``von 10``."""
_BEST: Final = re.compile(r"([0-9]{1,3})(?:[.,]0{1,6})?")
_PERCENT: Final = 100

_LOOKED_AT: Final = 20  # rows that show the columns of a platform
_ENOUGH: Final = 5  # ratings, where the name of their column says nothing of stars
_FEW: Final = 3  # ratings that are low by chance
_OTHERS: Final = 4  # ratings that fit, where one is mistyped
_ROWS_PER_TYPO: Final = 20
_LOWEST_MEAN: Final = 3  # of five stars, where only the ratings show that

REMEDY: Final = (
    "Correct them in the file if they are mistyped. Else say the best rating there is, as in --set scale=10 "
    "(ratings are then brought to five stars) or --set scale=5 (stars); from the worst to the best where 1 is "
    "best, as of school grades: --set scale=5-1 where 5 is the worst, as in Austria, scale=6-1 where 6 is, as in "
    "Germany"
)


def scale_of(
    sample: Sequence[Fields],
    columns: Mapping[str, str],
    operator: Scale,
    *,
    native: int | None = None,
) -> tuple[ScaleOf, str]:
    """Return how the ratings of a table are read, and what shows it.

    Args:
        sample: The first rows.
        columns: Our names to those of the columns; ``rating``, and ``best`` if there is one.
        operator: The scale that the operator says, if any.
        native: The best rating at the platform, where that is known.

    Raises:
        SayMoreError: Nothing shows of how many they are.
    """
    if operator.best is not None:
        return lambda _: operator, f"{operator} (--set scale)"
    if native is None and "best" in columns:
        return _beside(
            columns["best"], operator
        ), f"of the number in column {shown(columns['best'])}"
    scale, evidence = (Scale(best=native), "") if native else _shown_by(sample, columns)
    if evidence and scale.best:
        evidence = f"{scale} ({evidence})"
    scale = replace(scale, is_set=False, recommended=operator.recommended)
    return lambda _: scale, evidence


def best_in(value: object) -> int | None:
    """Return the best rating there is that a cell names; None if it is no number."""
    match = _BEST.fullmatch(word(value) or "")
    return None if match is None else int(match[1])


def are_typos(above: int, rows: int) -> bool:
    """Return whether ratings above five are so few that each may be a mistyped star."""
    return rows - above >= _OTHERS and 0 < above <= max(1, rows // _ROWS_PER_TYPO)


def _beside(column: str, operator: Scale) -> ScaleOf:
    """Return the reading of ratings that have the best one beside them, each its own."""

    def read(row: Fields) -> Scale:
        best = best_in(row.get(column))
        if best is None:
            raise RowRefusedError(f"best rating {shown(row.get(column) or '')} is not understood")
        return Scale(best=best, is_set=False, recommended=operator.recommended)

    return read


def _shown_by(sample: Sequence[Fields], columns: Mapping[str, str]) -> tuple[Scale, str]:
    """Return the scale that a table shows, and by what."""
    column = columns["rating"]
    ratings = [rating for row in sample if (rating := rating_of(row.get(column))) is not None]
    bare = [
        rating.number
        for rating in ratings
        if rating.best is None
        and rating.number
        and not (rating.are_stars and rating.number <= MAX_STARS)
    ]
    # "1 = very good": which end is the best?
    if "=" not in column and (header := _by_header(column)) is not None:
        if _may_be_reversed(header, bare):
            raise SayMoreError(
                f"the ratings in column {shown(column)} may have 1 as the best: most are low",
                REMEDY,
            )
        return header, f"column {shown(column)}"
    if platform := platform_of(sample):
        return Scale(best=10), f"the columns of {platform}"
    if not bare:
        return Scale(), "each says of how many it is"
    above = sum(number > MAX_STARS for number in bare)
    stars = [number for number in bare if number <= MAX_STARS]
    judged = stars if are_typos(above, len(bare)) else bare
    doubt = _doubt(column, ratings, judged)
    parts = normal(column).split()
    if not doubt and any(part.startswith(CELLS.lists["stars"]) for part in parts):
        return Scale(best=MAX_STARS), f"column {shown(column)}"
    names = CELLS.lists["ratings"]
    is_rating = any(part.endswith(names) or part.startswith(names) for part in parts)
    # ten points have few below six, school grades have mostly ones and twos
    are_mostly_good = sum(judged) >= _LOWEST_MEAN * len(judged)
    are_stars = max(judged) == MAX_STARS and are_mostly_good
    if not doubt and are_stars and len(judged) >= (1 if is_rating else _ENOUGH):
        return Scale(best=MAX_STARS), "none is above, and five is among them"
    low, high = (f"{float(number):g}" for number in (min(bare), max(bare)))
    span = f"all are {low}" if low == high else f"they are from {low} to {high}"
    why = f"; {doubt}" if doubt else ""
    raise SayMoreError(
        f"nothing says of how many the ratings in column {shown(column)} are: {span}{why}",
        REMEDY,
    )


def _by_header(column: str) -> Scale | None:
    """Return the scale that the name of a column says: ``Rating (1-10)``, ``Note sur 20``."""
    match = _IN_HEADING.search(column)
    if match is None:
        return Scale(best=_PERCENT) if "%" in column else None
    worst, best = (None if number is None else int(number) for number in match.groups())
    if worst and best and best <= MAX_STARS + 1 and _may_be_grade(column):
        return None  # which end is the best?
    if best == MAX_STARS and worst in (0, 1):
        worst = None
    scale = Scale(best=best, worst=worst)
    return scale if scale.is_possible else None


def platform_of(sample: Sequence[Fields]) -> str:
    """Return the title of the platform with ten points that has these columns, or nothing."""
    names = {normal(name) for row in sample[:_LOOKED_AT] for name in row}
    return next(
        (
            title
            for title, columns in COLUMNS.platforms.items()
            for own, companions in columns.items()
            if own in names and not names.isdisjoint(companions)
        ),
        "",
    )


def _may_be_reversed(scale: Scale, bare: Sequence[Fraction]) -> bool:
    """Return whether 1 may be the best of a scale that goes up to 5 or 6 by the name of its column, as most are low."""
    best = scale.best or 0
    if best not in (MAX_STARS, MAX_STARS + 1) or (scale.worst or 0) > best:
        return False
    return len(bare) >= _FEW and 2 * sum(bare) < (1 + best) * len(bare)


def _doubt(column: str, ratings: Sequence[Rating], bare: Sequence[Fraction]) -> str:
    """Return what speaks against five stars, or nothing."""
    if above := sum(number > MAX_STARS for number in bare):
        return f"{above:,} {'is' if above == 1 else 'are'} above five"
    bests = [rating.best for rating in ratings if rating.best not in (None, MAX_STARS)]
    if bests:
        return f"others say that they are of {bests[0]}"
    if "=" in column:
        return "its name says what they mean"
    return "it may be a school grade" if _may_be_grade(column) else ""


def _may_be_grade(column: str) -> bool:
    return not CELLS.sets["grades"].isdisjoint(normal(column).split())
