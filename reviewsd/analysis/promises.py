"""Compares what was promised with what happened, where a review tells both by numbers (decision 545).

"He said 9, it was past eleven", "told me 20 minutes, took two hours" and "quoted 80, paid 140" complain
without a word of complaint. The patterns of a language find the two numbers; a later time, a longer
duration or a higher amount than the promised one is a complaint, anything else praise.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec import Struct

from reviewsd.analysis.aspects import CLEAR, STRONG, ClauseMark, Sense, Told
from reviewsd.analysis.clause_rules import ClauseReading
from reviewsd.analysis.lexicon import Lexicon
from reviewsd.analysis.patterns import Match

_MAX_SENTENCES: Final = 2  # from the promise to what happened
_MAX_NUMBERS: Final = 20  # promises, and what happened, in a text
_HALF_DAY: Final = 720  # minutes; "9" may be in the morning or in the evening
_EARLIEST: Final = -45  # minutes before the promised time; an earlier one is about something else
_LATE: Final = 8  # minutes after the promised time
_LATEST: Final = 420  # minutes after the promised time; a later one is about something else
_LONGER: Final = 1.2  # ratio to the promised duration
_DEARER: Final = 1.04  # ratio to the promised amount
_CONDITIONAL: Final = ClauseMark.CONDITIONAL  # marks promises: "he said it would be 80"
_SUM: Final = 100  # without a unit; a smaller number may be minutes or days
_MAX_RATIO: Final = 15.0  # a higher or lower one is about something else


class ToldMatch(NamedTuple):
    """A match of a pattern that tells a number."""

    match: Match
    told: Told
    reading: ClauseReading


class _Number(Struct, frozen=True):
    match: Match
    reading: ClauseReading
    values: dict[str, float]
    """The value for each kind of quantity that the number can be."""


def comparisons(
    words: Sequence[str], matches: Sequence[ToldMatch], lexicon: Lexicon
) -> Iterator[tuple[ClauseReading, Match, Sense]]:
    """Yield the complaint or praise that follows from each promise, with the clause it belongs to.

    Args:
        words: The tokens of the text.
        matches: The promises and what happened, in the order of the text.
        lexicon: The words of its language.
    """
    promises = _numbers(words, [item for item in matches if item.told.is_promise], lexicon)
    if not promises:
        return
    facts = _numbers(words, [item for item in matches if not item.told.is_promise], lexicon)
    actual = sorted(item for item in facts.items() if item[0] not in promises)
    used: set[int] = set()
    for _, promise in sorted(promises.items(), reverse=True):
        best: tuple[_Number, Sense] | None = None
        for fact_at, fact in actual:
            distance = fact.reading.clause.sentence - promise.reading.clause.sentence
            if fact_at in used or not 0 <= distance <= _MAX_SENTENCES:
                continue
            sense = _sense(promise, fact)
            if sense is not None and (best is None or sense.strength < best[1].strength):
                best = fact, sense  # the first one, or the first complaint
                used.add(fact_at)
        if best is not None:
            fact, sense = best
            yield fact.reading, fact.match, sense


def _numbers(
    words: Sequence[str], matches: Sequence[ToldMatch], lexicon: Lexicon
) -> dict[int, _Number]:
    """Return the numbers of matches by token."""
    numbers: dict[int, _Number] = {}
    for match, told, reading in matches:
        if reading.mark is not None and not (told.is_promise and reading.mark is _CONDITIONAL):
            continue
        at, values = lexicon.quantities.values(words, match.start, match.end, told.kinds)
        if values and len(numbers) < _MAX_NUMBERS:
            earlier = numbers.get(at)
            numbers[at] = _Number(
                match, reading, {**earlier.values, **values} if earlier else values
            )
    return numbers


def _kind(promised: Mapping[str, float], actual: Mapping[str, float]) -> str | None:
    """Return the kind of quantity that both numbers are, None if there is no one such kind."""
    kinds = promised.keys() & actual.keys()
    if "duration" in kinds:
        return "duration"
    if kinds == {"amount", "count"} and promised["amount"] >= _SUM:
        return "amount"
    return kinds.pop() if len(kinds) == 1 else None


def _sense(promise: _Number, fact: _Number) -> Sense | None:
    """Return the meaning of two numbers, None if they cannot be compared."""
    kind = _kind(promise.values, fact.values)
    if kind is None:
        return None
    promised, actual = promise.values[kind], fact.values[kind]
    if kind == "time":
        minutes = (actual - promised - _EARLIEST) % _HALF_DAY + _EARLIEST
        if minutes > _LATEST:
            return None
        return _decided("punctuality", "late-arrival" if minutes >= _LATE else None)
    if not promised or not 1 / _MAX_RATIO <= actual / promised <= _MAX_RATIO:
        return None
    if kind == "amount":
        return _decided("pricing", "price-above-quote" if actual > promised * _DEARER else None)
    return _decided("punctuality", "late-finish" if actual > promised * _LONGER else None)


def _decided(aspect: str, problem: str | None) -> Sense:
    strength = -CLEAR if problem else STRONG
    return Sense(aspect=aspect, strength=strength, problem=problem, is_certain=True)
