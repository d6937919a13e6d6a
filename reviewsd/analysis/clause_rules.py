"""Decides the sentiment of each aspect in a clause (insights.md 4, rules 3 to 7).

The stars are the strongest evidence. According to measurements with the reviews of SemEval-2016 task
5, a clause overrules them only if it clearly says the opposite.
"""

import itertools
from collections.abc import Container, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import Enum
from typing import Final

from msgspec import Struct

from reviewsd.analysis.aspects import ASPECTS, STRONG, ClauseMark, Sense
from reviewsd.analysis.evidence_words import evidence_words
from reviewsd.analysis.lexicon import Lexicon, score
from reviewsd.analysis.patterns import within_longer
from reviewsd.analysis.text import Clause
from reviewsd.domain.insights import Sentiment

OVERRULES: Final = 0.4  # absolute score of a clause that contradicts the stars
OVERRULES_CONTRASTED: Final = 0.3  # OVERRULES in a sentence with a contrast word
OVERRULES_EXTREME: Final = 0.6  # OVERRULES of one or five stars, more than a phrase alone
OVERRULES_EXTREME_CONTRASTED: Final = 0.4  # OVERRULES_EXTREME in a sentence with a contrast word
NEUTRAL: Final = 0.2  # absolute score below which a clause of a three-star review is neutral

SET_ASIDE: Final = {
    ClauseMark.OTHERS: "speaks of another business",
    ClauseMark.CONDITIONAL: "says what would have been or was expected",
}
"""Marks of clauses that do not count, with the reasons."""

_NEUTRAL_STARS: Final = 3
_EXTREME_STARS: Final = (1, 5)
_SERVICE: Final = "service"  # an aspect of restaurants, or of the owner
_FRIENDLINESS: Final = "friendliness"
_NO_PARTS: Final[AbstractSet[int]] = frozenset()
_NEAR: Final = 5  # tokens between a word that needs an opinion and that opinion


SenseMatch = tuple[int, int, Sense]
"""A match: its first token, the token after it, and its meaning. A tuple, because it is unpacked faster."""


class Reason(Enum):
    """Why an aspect has its sentiment."""

    STARS = "the stars say so"
    PHRASE = "the phrase says so"
    WORDS = "the opinion words say so"
    OVERRULED = "the clause says the opposite of the stars"


_STARS, _PHRASE, _WORDS, _OVERRULED = Reason  # constants, because access to enum members is slow


class Decision(Struct, frozen=True, gc=False):
    """The decision about an aspect in a clause."""

    aspect: str
    sentiment: Sentiment
    score: float
    """Score of the clause for this aspect, -1 to 1."""
    reason: Reason
    start: int
    """First token of the match."""
    end: int
    """Token after the match."""
    problem: str | None = None


class ClauseReading(Struct, gc=False):
    """A clause with its matches and decisions."""

    clause: Clause
    stars: int
    """Those of its half of the text, or of the review."""
    is_alone: bool = False
    """Whether the text has no other clause."""
    opinions: dict[int, float] = {}
    """The valences of opinion words in context, by token, ascending."""
    senses: list[SenseMatch] = []
    """In the order of their starts, shorter ones first."""
    mark: ClauseMark | None = None
    """The mark of the clause, if any."""
    has_negation: bool = False
    score: float = 0.0
    decisions: Sequence[Decision] = ()


def decide(reading: ClauseReading, words: Sequence[str], lexicon: Lexicon) -> None:
    """Fill in the score and the decisions of a clause.

    Args:
        reading: The clause with its opinions and matches.
        words: The tokens of the text.
        lexicon: The words of its language.
    """
    if reading.opinions:
        reading.score = score(reading.opinions.values())
    senses = reading.senses
    if not senses or (reading.mark is not None and reading.mark in SET_ASIDE):
        return
    if len(senses) > 1:
        senses = reading.senses = _without_service_friendliness(senses, words, lexicon.language)
    clause = reading.clause
    reading.has_negation = not lexicon.negations.isdisjoint(words[clause.start : clause.end])
    groups = _by_aspect(senses) if len(senses) > 1 else {senses[0][2].aspect: senses}
    claimed = _claimed(senses) if len(groups) > 1 and reading.opinions else {}
    decisions = []
    for aspect, matches in groups.items():
        decision = _decide_aspect(aspect, matches, reading, words, lexicon, claimed)
        if decision is not None:
            decisions.append(decision)
    reading.decisions = decisions


def _without_service_friendliness(
    senses: list[SenseMatch], words: Sequence[str], language: str
) -> list[SenseMatch]:
    """Drop friendliness that overlaps a match of the aspect "service" and names no people: "excellent service"."""
    served = [item for item in senses if item[2].aspect == _SERVICE]
    if not served:
        return senses
    names = evidence_words(language).names
    return [
        (start, end, sense)
        for start, end, sense in senses
        if sense.aspect != _FRIENDLINESS
        or names(_FRIENDLINESS, words[start:end])
        or not any(start < other_end and other < end for other, other_end, _ in served)
    ]


def _by_aspect(senses: list[SenseMatch]) -> dict[str, list[SenseMatch]]:
    """Group senses by aspect and drop those that a longer match contains.

    Dropped are a match within a longer one of the same aspect, the bare name of an aspect of every trade within any
    longer match ("quality" in "value for the quality"), and a phrase within a longer complaint about another aspect
    ("waited an hour" in "waited an hour past my appointment"). The name of an owner's aspect is kept: "breakfast" in
    "great breakfast".

    Args:
        senses: The senses of a clause.
    """
    inner = within_longer(senses)
    has_inner = False  # whether one of the rest is within a longer match
    rest = senses
    if inner:
        rest = []
        for item in senses:
            start, end, sense = item
            if (start, end) in inner:
                if not sense.strength and sense.aspect in ASPECTS:
                    continue
                has_inner = True
            rest.append(item)
    parts = _parts(rest) if has_inner else _NO_PARTS
    groups: dict[str, list[SenseMatch]] = {}
    for index, item in enumerate(rest):
        if index not in parts:
            groups.setdefault(item[2].aspect, []).append(item)
    if not has_inner:
        return groups  # most clauses
    return {
        aspect: _outermost(items) if len(items) > 1 else items for aspect, items in groups.items()
    }


def _parts(senses: Sequence[SenseMatch]) -> AbstractSet[int]:
    """Return the positions of the phrases within a longer complaint about another aspect.

    Args:
        senses: The senses, by start, shorter ones first.
    """
    blamed = [sense.aspect for _, _, sense in senses if sense.strength < 0]
    if not blamed or len({sense.aspect for _, _, sense in senses if sense.strength}) == 1:
        return _NO_PARTS  # most clauses
    parts: set[int] = set()
    reach: dict[str, int] = {}  # greatest end of an earlier complaint, by aspect
    phrases = [(at, *item) for at, item in enumerate(senses) if item[2].strength]
    for _, group in itertools.groupby(phrases, lambda item: item[1]):
        same_start = list(group)
        ends = {sense.aspect: end for _, _, end, sense in same_start if sense.strength < 0}
        for at, _, end, sense in same_start:
            aspect = sense.aspect
            if any(other != aspect and far >= end for other, far in reach.items()) or any(
                other != aspect and far > end for other, far in ends.items()
            ):
                parts.add(at)
        for aspect, end in ends.items():
            reach[aspect] = max(end, reach.get(aspect, 0))
    return parts


def _outermost(senses: list[SenseMatch]) -> list[SenseMatch]:
    """Remove the matches within a longer one, such as "expensive" in "less expensive than".

    A problem within a complaint remains: "rude" in "rude person".
    """
    inner = within_longer(senses)
    if not inner:
        return senses
    outer = [item for item in senses if item[:2] not in inner]
    strengths = [sense.strength for _, _, sense in outer]
    if min(strengths) < 0 >= max(strengths):
        outer += [item for item in senses if item[2].problem is not None and item[:2] in inner]
    return outer


def _decide_aspect(
    aspect: str,
    senses: Sequence[SenseMatch],
    reading: ClauseReading,
    words: Sequence[str],
    lexicon: Lexicon,
    claimed: Mapping[int, str],
) -> Decision | None:
    clause = reading.score
    first = after = 0  # of the best match
    highest = -1.0  # absolute strength of the best match; negative if none counts
    praise = blame = 0.0
    problem = None
    for item in senses:
        strength = _strength(item, reading, words, lexicon, claimed)
        if strength is None:
            continue
        start, end, sense = item
        if sense.problem is not None and reading.mark is None and strength == sense.strength:
            problem = problem or sense.problem
        if strength > praise:
            praise = strength
        elif strength < blame:
            blame = strength
        size = strength if strength > 0 else -strength
        if size > highest or (size == highest and end - start > after - first):
            first, after, highest = start, end, size
    if highest < 0:
        return None
    value, reason = _value(praise + blame, clause)
    stars = reading.stars - _NEUTRAL_STARS
    if value * stars < 0 and -(limit := _limit(reading)) < value < limit:
        return None  # too weak to contradict the stars, but no agreement either
    sentiment, why = _sentiment(value, stars)
    return Decision(
        aspect,
        sentiment,
        value,
        why or reason,
        first,
        after,
        problem if value < 0 else None,
    )


def _strength(
    item: SenseMatch,
    reading: ClauseReading,
    words: Sequence[str],
    lexicon: Lexicon,
    claimed: Mapping[int, str],
) -> float | None:
    """Return the strength of a match in its clause, -1 to 1; None if it does not count."""
    if reading.mark is not None:  # WISHED; clauses with other marks are skipped
        return -STRONG
    start, end, sense = item
    strength, empty_words = sense.strength, lexicon.empty_words
    if sense.needs_opinion or (
        words[start] in empty_words
        and empty_words.issuperset(words[start:end])
        and "_".join(words[start:end]) not in lexicon.telling
    ):
        near = _opinion_near(item, reading.opinions, words, claimed)
        return strength if near else None
    if (
        strength
        and reading.has_negation
        and lexicon.negated(words, start, reading.clause.start, end)
    ):
        return -STRONG if strength > 0 else STRONG
    return strength


def _value(phrases: float, clause: float) -> tuple[float, Reason]:
    """Return the score of a clause for an aspect, from its phrases if they agree, else from its words.

    Args:
        phrases: Sum of the strongest praise and the strongest complaint of its phrases.
        clause: The score of all words of the clause.
    """
    if not phrases:
        return clause, _WORDS
    if -STRONG < phrases < STRONG:
        return phrases + clause / 2, _PHRASE
    if phrases > 0:
        return (phrases if phrases > clause else clause), _PHRASE  # noqa: FURB136  max() is slow
    return (phrases if phrases < clause else clause), _PHRASE  # noqa: FURB136


def _claimed(senses: Sequence[SenseMatch]) -> dict[int, str]:
    """Return the aspect of each token in a phrase."""
    return {
        at: sense.aspect
        for start, end, sense in senses
        if sense.strength
        for at in range(start, end)
    }


def _opinion_near(
    item: SenseMatch, opinions: Container[int], words: Sequence[str], claimed: Mapping[int, str]
) -> bool:
    """Return whether an opinion word is near, before any comma, that is in no phrase of another aspect.

    Args:
        item: The match that needs it.
        opinions: The tokens of opinion words.
        words: The tokens of the text.
        claimed: The aspects of the phrases, by token.
    """
    start, end, sense = item
    for at in range(start - _NEAR, end + _NEAR):
        if at in opinions and claimed.get(at, sense.aspect) == sense.aspect:
            between = words[at:start] if at < start else words[end:at]
            if "," not in between:
                return True
    return False


def _limit(reading: ClauseReading) -> float:
    """Return the absolute value of an aspect in a clause that overrules the stars.

    Most complaints in a review of five stars are about the weather, the traffic or the old roof, unless
    a contrast word introduces them or there is nothing else in the review.
    """
    contrasted = reading.clause.contrasted or reading.mark is ClauseMark.WISHED
    if reading.stars in _EXTREME_STARS and not reading.is_alone:
        return OVERRULES_EXTREME_CONTRASTED if contrasted else OVERRULES_EXTREME
    return OVERRULES_CONTRASTED if contrasted else OVERRULES


def _sentiment(value: float, stars: int) -> tuple[Sentiment, Reason | None]:
    """Return the sentiment, and the reason unless it is the value.

    Args:
        value: The score of the clause for the aspect; one that contradicts the stars overrules them.
        stars: The rating minus three.
    """
    if stars > 0:
        if value < 0:
            return "negative", _OVERRULED
        return "positive", None if value else _STARS
    if stars < 0:
        if value > 0:
            return "positive", _OVERRULED
        return "negative", None if value else _STARS
    if value >= NEUTRAL:
        return "positive", None
    if value <= -NEUTRAL:
        return "negative", None
    return "neutral", _STARS
