"""What a clause says about each aspect (insights.md 4, rules 3 to 7).

The stars are the strongest evidence of all: measured on the reviews of SemEval-2016 task 5, a clause
may overrule them only where it says the opposite clearly.
"""

import bisect
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NamedTuple

from reviewsd.analysis.aspects import STRONG, Mark, Sense
from reviewsd.analysis.lexicon import Opinion, negated, opinions, score
from reviewsd.analysis.patterns import Match, within_longer
from reviewsd.analysis.text import Clause
from reviewsd.domain.insights import Sentiment

OVERRULES: Final = 0.4  # absolute score of a clause that contradicts the stars
OVERRULES_CONTRASTED: Final = 0.3  # the same in a sentence with a contrast word
NEUTRAL: Final = 0.2  # below it a clause of a three-star review has no opinion

_SET_ASIDE: Final = (Mark.OTHERS, Mark.CONDITIONAL)
_NEAR: Final = 5  # tokens between a word that needs an opinion and that opinion


class Reason(Enum):
    """Why an aspect has its sentiment."""

    STARS = "the stars"
    PHRASE = "a phrase"
    WORDS = "the words of the clause"
    OVERRULED = "the clause says the opposite of the stars"


_STARS, _PHRASE, _WORDS, _OVERRULED = Reason  # looked up once, as members of enums are slow to get


class Decision(NamedTuple):
    """What was decided about an aspect in a clause."""

    aspect: str
    sentiment: Sentiment
    score: float
    """-1 to 1, of the clause about this aspect."""
    reason: Reason
    start: int
    """First token of what matched."""
    end: int
    """The token after it."""
    problem: str | None = None


@dataclass(slots=True)
class ClauseReading:
    """A clause, what was found in it, and what follows from that."""

    clause: Clause
    words: list[tuple[int, float]] = field(default_factory=list)
    """Opinion words by token, with the valence of the word alone."""
    senses: list[tuple[Match, Sense]] = field(default_factory=list)
    mark: Mark | None = None
    """What is said of the clause as a whole, if anything."""
    opinions: Sequence[Opinion] = ()
    score: float = 0.0
    decisions: Sequence[Decision] = ()


def decide(reading: ClauseReading, words: Sequence[str], rating: int) -> None:
    """Fill in the opinions, the score and the decisions of a clause.

    Args:
        reading: The clause with what was found in it.
        words: The tokens of the text.
        rating: The stars of the review.
    """
    clause = reading.clause
    if reading.words:
        reading.opinions = opinions(words, reading.words, clause.start)
        reading.score = score(reading.opinions)
    if reading.mark in _SET_ASIDE or not reading.senses:
        return
    by_aspect: dict[str, list[tuple[Match, Sense]]] = {}
    for found in reading.senses:
        aspect = found[1].aspect
        if aspect in by_aspect:
            by_aspect[aspect].append(found)
        else:
            by_aspect[aspect] = [found]
    decisions = []
    for aspect, senses in by_aspect.items():
        outer = senses if len(senses) == 1 else _outermost(senses)
        decision = _decide_aspect(aspect, outer, reading, words, rating)
        if decision is not None:
            decisions.append(decision)
    reading.decisions = decisions


def _outermost(senses: list[tuple[Match, Sense]]) -> list[tuple[Match, Sense]]:
    """Without the matches that lie within a longer one: "expensive" in "less expensive than"."""
    if len(senses) == 2:  # noqa: PLR2004  # the usual case
        (one, _), (two, _) = senses  # in the order of their starts, shorter first
        if one.start == two.start:
            return senses if one.end == two.end else senses[1:]
        return senses[:1] if two.end <= one.end else senses
    inner = within_longer(match for match, _ in senses)
    return [each for each in senses if (each[0].start, each[0].end) not in inner]


def _decide_aspect(
    aspect: str,
    senses: Iterable[tuple[Match, Sense]],
    reading: ClauseReading,
    words: Sequence[str],
    rating: int,
) -> Decision | None:
    found, problem = _strengths(senses, reading, words)
    if not found:
        return None
    best = found[0][1]
    if len(found) > 1:
        best = max(found, key=lambda each: (abs(each[0]), each[1].end - each[1].start))[1]
    if len(found) == 1 and not found[0][0]:  # the usual case: its name alone
        value, reason = reading.score, _WORDS
    else:
        value, reason = _value([strength for strength, _ in found], reading.score)
    if 0 < abs(value) < OVERRULES_CONTRASTED and value * (rating - 3) < 0:
        return None  # too weak to contradict the stars, and no reason to agree with them
    sentiment, overruled, by_stars = _sentiment(value, rating, contrasted=reading.clause.contrasted)
    if overruled:
        reason = _OVERRULED
    elif by_stars:
        reason = _STARS
    start, end, _ = best
    return Decision(aspect, sentiment, value, reason, start, end, problem if value < 0 else None)


def _strengths(
    senses: Iterable[tuple[Match, Sense]], reading: ClauseReading, words: Sequence[str]
) -> tuple[list[tuple[float, Match]], str | None]:
    """What each match says where it stands, -1 to 1, and the problem that one of them names."""
    wished = reading.mark is not None  # the other marks set a clause aside
    start = reading.clause.start
    found: list[tuple[float, Match]] = []
    problem = None
    for match, sense in senses:
        strength = sense.strength
        if wished:
            strength = -STRONG
        elif sense.needs_opinion:
            if not _opinion_near(match, reading.opinions):
                continue
        elif strength:
            if negated(words, match.start, start):
                strength = -STRONG if strength > 0 else STRONG
            elif sense.problem is not None:
                problem = problem or sense.problem
        found.append((strength, match))
    return found, problem


def _value(strengths: Sequence[float], clause: float) -> tuple[float, Reason]:
    """The score of a clause about an aspect, from its phrases if they agree, else from its words.

    Args:
        strengths: Of the phrases; 0 for those that only name the aspect.
        clause: The score of all words of the clause.
    """
    value = strengths[0]
    if len(strengths) > 1:
        value = max(0.0, *strengths) + min(0.0, *strengths)
    if not value:
        return clause, _WORDS
    if abs(value) < STRONG:
        return value + clause / 2, _PHRASE
    if value > 0:
        return max(value, clause), _PHRASE
    return min(value, clause), _PHRASE


def _opinion_near(match: Match, found: Sequence[Opinion]) -> bool:
    """Whether an opinion word stands close by; they are in the order of the text."""
    at = bisect.bisect_left(found, match.start - _NEAR, key=operator.itemgetter(0))
    return at < len(found) and found[at].at < match.end + _NEAR


def _sentiment(value: float, rating: int, *, contrasted: bool) -> tuple[Sentiment, bool, bool]:
    """The sentiment, whether the stars were overruled, and whether they alone decided."""
    limit = OVERRULES_CONTRASTED if contrasted else OVERRULES
    if rating > 3:  # noqa: PLR2004  # three stars are neutral
        if value <= -limit:
            return "negative", True, False
        return "positive", False, value <= 0
    if rating < 3:  # noqa: PLR2004
        if value >= limit:
            return "positive", True, False
        return "negative", False, value >= 0
    if value >= NEUTRAL:
        return "positive", False, False
    if value <= -NEUTRAL:
        return "negative", False, False
    return "neutral", False, True
