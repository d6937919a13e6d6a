"""Finds the scale of the ratings in a table that is of no known platform, or asks for it.

"4" is four of five stars, two stars of ten points, or a bad school grade. What counts as evidence, in
this order: the operator's scale, a best rating beside each, the header of the column, a platform's own
columns, and the ratings themselves. Evidence against five stars makes a question of the last two.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final

from reviewsctl.importing.errors import RowRefusedError, SayMoreError
from reviewsctl.importing.ratings import (
    ABOVE_FIVE,
    MAX_STARS,
    SCALES,
    UNSCALED,
    Rating,
    Scale,
    rating_of,
)
from reviewsctl.importing.values import normal, shown, word
from reviewsctl.importing.vocabulary.words import CELLS

Fields = Mapping[str, object]
ScaleOf = Callable[[Fields], Scale]
"""Returns the scale of a row's rating; raises RowRefusedError."""

_RANGE: Final = re.compile(
    r"(?<![0-9])([0-9]{1,3})\s*(?:-|\u2013|to|bis|à|a|tot)\s*([0-9]{1,3})(?![0-9])"
)
_OUT_OF: Final = re.compile(
    r"(?:/|\b(?:out of|of|von|sur|su|de|van|max\.?))\s*([0-9]{1,3})(?![0-9])", re.IGNORECASE
)
_BEST: Final = re.compile(r"([0-9]{1,3})(?:[.,]0{1,6})?")
_HEADER: Final = 100  # characters
_PERCENT: Final = 100

_LOOKED_AT: Final = 20  # rows that show the columns of a platform
_ENOUGH: Final = 5  # ratings, where the name of their column says nothing of stars
_CONTRARY: Final = 2  # ratings that contradict their texts
_LOW, _HIGH = 2, 4  # of five or six
_FEW: Final = 3  # ratings that are low by chance
_OTHERS: Final = 4  # ratings that fit, where one is mistyped
_ROWS_PER_TYPO: Final = 20
_LOWEST_MEAN: Final = 3  # of five stars, where only the ratings show that
_KNOWN: Final = (
    (
        "Booking.com",
        "review score",
        "positive review|negative review|property reply|reservation number",
    ),
    ("Booking.com", "scoring review score", "content positive|content negative|reviewer name"),
    ("Booking.com", "liked text", "disliked text"),
    ("Hostaway", "public review", "guest name"),
)
"""Platforms with ten points: a column that they have, and others of which they have one."""

_MISFITS: Final = {ABOVE_FIVE: "ratings above five", UNSCALED: "ratings without a scale"}

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
        return (
            lambda _: operator,
            f"{operator} (--set scale){_unused_worst(sample, columns, operator)}",
        )
    if native is None and "best" in columns:
        return _beside(
            columns["best"], operator
        ), f"of the number in column {shown(columns['best'])}"
    scale, evidence = (Scale(best=native), "") if native else _shown_by(sample, columns)
    if evidence and scale.best:
        evidence = f"{scale} ({evidence})"
    scale = replace(scale, is_set=False, recommended=operator.recommended)
    return lambda _: scale, evidence


def is_best(value: object) -> bool:
    """Return whether a cell may be the best rating there is."""
    return _best_in(value) in SCALES


@dataclass(slots=True)
class Misfits:
    """The rows of one file whose ratings do not fit what its first rows show."""

    rows: int = 0
    """All rows of the file."""
    counts: Counter[str] = field(default_factory=Counter)
    """The misfits by the note of their refusal."""
    examples: dict[str, str] = field(default_factory=dict)
    """The first misfit of each note."""

    def add(self, where: str, refusal: RowRefusedError | None) -> None:
        """Count a row and why it was refused, if it was."""
        self.rows += 1
        if refusal is not None and refusal.note in _MISFITS:
            self.counts[refusal.note] += 1
            self.examples.setdefault(refusal.note, f"{where}: {refusal}")

    def check(self) -> None:
        """Refuse the import if they are no typing errors.

        Raises:
            SayMoreError: The operator has to say the scale.
        """
        for note, count in self.counts.items():
            if note != ABOVE_FIVE or not _are_typos(count, self.rows):
                raise SayMoreError(
                    f"{_MISFITS[note]}: {count:,}, as in {self.examples[note]}", REMEDY
                )


def _are_typos(above: int, rows: int) -> bool:
    """Return whether ratings above five are so few that each may be a mistyped star."""
    return rows - above >= _OTHERS and 0 < above <= max(1, rows // _ROWS_PER_TYPO)


def _beside(column: str, operator: Scale) -> ScaleOf:
    """Return the reading of ratings that have the best one beside them, each its own."""

    def read(row: Fields) -> Scale:
        best = _best_in(row.get(column))
        if best is None:
            raise RowRefusedError(f"best rating {shown(row.get(column) or '')} is not understood")
        return Scale(best=best, is_set=False, recommended=operator.recommended)

    return read


def _best_in(value: object) -> int | None:
    match = _BEST.fullmatch((word(value) or "")[:_HEADER])
    return None if match is None else int(match[1])


def _unused_worst(sample: Sequence[Fields], columns: Mapping[str, str], operator: Scale) -> str:
    """Return the hint that no grade is as bad as the operator's worst one, where a 5 may be that."""
    ratings = (rating_of(row.get(columns["rating"])) for row in sample)
    numbers = {rating.number for rating in ratings if rating is not None}
    if operator.worst != MAX_STARS + 1 or operator.worst in numbers or MAX_STARS not in numbers:
        return ""
    return "; there is no 6: where 5 is the worst grade, as in Austria, say --set scale=5-1"


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
    contrary, agreeing = _told(sample, columns)
    header = (
        None if "=" in column else _by_header(column)
    )  # "1 = very good": which end is the best?
    if header is not None:
        if doubt := _turned(header, bare, contrary, agreeing):
            raise SayMoreError(
                f"the ratings in column {shown(column)} may have 1 as the best: {doubt}", REMEDY
            )
        return header, f"column {shown(column)}"
    if platform := platform_of(sample):
        return Scale(best=10), f"the columns of {platform}"
    if not bare:
        return Scale(), "each says of how many it is"
    above = sum(number > MAX_STARS for number in bare)
    stars = [number for number in bare if number <= MAX_STARS]
    judged = stars if _are_typos(above, len(bare)) else bare
    doubt = _doubt(column, ratings, judged)
    words = normal(column).split()
    if not doubt and any(part.startswith(CELLS.lists["stars"]) for part in words):
        return Scale(best=MAX_STARS), f"column {shown(column)}"
    doubt = doubt or _contradiction(contrary, agreeing)
    names = CELLS.lists["ratings"]
    is_rating = any(part.endswith(names) or part.startswith(names) for part in words)
    if not doubt and _are_stars(judged, 1 if is_rating else _ENOUGH):
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
    text = column[:_HEADER]
    if match := _RANGE.search(text):
        worst, best = int(match[1]), int(match[2])
        if _may_be_grade(column) and worst > 0 and best <= MAX_STARS + 1:
            return None  # which end is the best?
        scale = Scale(best=best, worst=None if best == MAX_STARS and worst <= 1 else worst)
        return scale if scale.is_possible else None
    if match := _OUT_OF.search(text):
        scale = Scale(best=int(match[1]))
        return scale if scale.is_possible else None
    return Scale(best=_PERCENT) if "%" in text else None


def platform_of(sample: Sequence[Fields]) -> str:
    """Return the title of the platform with ten points that has these columns, or nothing."""
    names = {normal(name) for row in sample[:_LOOKED_AT] for name in row}
    for title, own, companions in _KNOWN:
        if own in names and not names.isdisjoint(companions.split("|")):
            return title
    return ""


def _are_stars(bare: Sequence[Fraction], enough: int) -> bool:
    """Return whether ratings are stars by themselves: five is the most, and most are not bad.

    Ten points have few below six, school grades have mostly ones and twos.
    """
    return len(bare) >= enough and max(bare) == MAX_STARS and sum(bare) >= _LOWEST_MEAN * len(bare)


def _told(
    sample: Sequence[Fields], columns: Mapping[str, str]
) -> tuple[list[tuple[Fraction, str]], int]:
    """Return the low ratings of praise and the high ones of criticism, each with its word, and how many agree."""
    contrary: list[tuple[Fraction, str]] = []
    agreeing = 0
    for row in sample:
        rating, (is_praise, told) = rating_of(row.get(columns["rating"])), _tone(row, columns)
        if rating is None or rating.best is not None or rating.are_stars or not told:
            continue
        is_high = rating.number >= _HIGH
        if not is_high and rating.number > _LOW:
            continue
        if is_high is is_praise:
            agreeing += 1
        else:
            contrary.append((rating.number, told))
    return contrary, agreeing


def _tone(row: Fields, columns: Mapping[str, str]) -> tuple[bool, str]:
    """Return whether a text praises, and the word that shows it; no word if it does both or neither."""
    cells = (word(row.get(columns[name])) for name in ("title", "text") if name in columns)
    told = normal(" ".join(filter(None, cells))).split()
    if not CELLS.sets["turning"].isdisjoint(told):
        return False, ""
    praise, criticism = (
        next((part for part in told if part in CELLS.sets[name]), "")
        for name in ("praise", "criticism")
    )
    return bool(praise), "" if praise and criticism else praise or criticism


def _contradiction(contrary: Sequence[tuple[Fraction, str]], agreeing: int) -> str:
    """Return that ratings contradict their texts; nothing if most do not."""
    if len(contrary) < _CONTRARY or len(contrary) <= agreeing:
        return ""
    number, told = contrary[0]
    return f'texts say the opposite, as {float(number):g} beside "{told}"'


def _turned(
    scale: Scale,
    bare: Sequence[Fraction],
    contrary: Sequence[tuple[Fraction, str]],
    agreeing: int,
) -> str:
    """Return why 1 may be the best of a scale that goes up to 5 or 6 by the name of its column, or nothing."""
    best = scale.best or 0
    if best not in (MAX_STARS, MAX_STARS + 1) or (scale.worst or 0) > best:
        return ""
    if doubt := _contradiction(contrary, agreeing):
        return doubt
    are_low = len(bare) >= _FEW and 2 * sum(bare) < (1 + best) * len(bare)
    return "most are low" if are_low and not agreeing else ""


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
