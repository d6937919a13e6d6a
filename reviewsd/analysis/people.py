"""Decides what a review says of a person: the words about them count, not its stars (insights.md 10, 4).

Words are about a person if they are in the clause with the name, or in a following clause that begins with
"he" or "she". In the clause with the name, words before a preceding comma or "and" do not count, nor do those
of the next subject ("Grace was kind and the bill was a shock"). If these words contain no opinion, a good
review praises the person by naming them, one of one star blames them for what they did not do (decision 557), and
any other review is neutral.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from reviewsd.analysis.aspects import NO_PRAISE_OF_PEOPLE
from reviewsd.analysis.clause_rules import ClauseReading, Decision, Reason
from reviewsd.analysis.evidence_words import EvidenceWords, evidence_words
from reviewsd.analysis.lexicon import Lexicon, score
from reviewsd.analysis.names import DETERMINERS
from reviewsd.analysis.text import ENDS, Tokens, first_word
from reviewsd.analysis.wordings import wordings
from reviewsd.analysis.wordlists import word_set
from reviewsd.domain.insights import Sentiment

_CLEAR: Final = 0.25  # absolute score of words with an opinion
_GOOD_STARS: Final = 4
_BAD_STARS: Final = 2
_STARS: Final = Reason.STARS
_STOPS: Final = ENDS | {","}
_REFUSING: Final = 3  # words after a name that say what the person did not do
_BEING: Final = word_set("being")
_OF_THE_BUSINESS: Final = frozenset({"pricing", "scheduling", "response_time", "cleanliness"})
"""Aspects of the business; their criticism blames no person."""
_NO_CALLBACK: Final = "no-callback"  # blames the person, although it is about ``response_time``
_OF_THE_PERSON: Final = frozenset({"friendliness", "technical_knowledge", "work_quality"})
"""Aspects of people; in a bad review, their praise counts without an opinion word."""


class Mention(NamedTuple):
    """A name in a text: tokens ``start`` to ``end`` (exclusive)."""

    start: int
    end: int


class OpinionOf(NamedTuple):
    """The opinion of a review about a person."""

    sentiment: Sentiment
    """Neutral without an opinion."""
    wordings: tuple[str, ...]
    """Wordings of this sentiment."""
    praised_for: tuple[str, ...]
    """Ids of the praised aspects."""


class _Span(NamedTuple):
    """The words of a clause that are about a person: tokens ``start`` to ``end`` (exclusive)."""

    clause: ClauseReading
    start: int
    end: int
    reported: int
    """The first token of the person's own statement or promise; ``end`` if there is none."""

    def words(self, tokens: Tokens) -> list[str]:
        """Return the words of the whole clause."""
        return tokens.words[self.clause.clause.start : self.clause.clause.end]

    def scores(self) -> Iterator[float]:
        """Yield the scores of the words and of the decisions that count with the stars of the clause."""
        good = self.clause.stars >= _GOOD_STARS
        opinions = {
            at: valence
            for at, valence in self.clause.opinions.items()
            if self.start <= at < self.end and (good or valence < 0 or at < self.reported)
        }
        if opinions and not good:
            yield score(opinions.values())
        for decision in self.decisions():
            if _has_word(decision, opinions):
                yield decision.score
            elif good or decision.start >= self.reported:
                continue  # "read it out slowly" is no blame, and a promise no praise
            elif (
                decision.score < 0
                or self.clause.stars > _BAD_STARS
                or decision.aspect in _OF_THE_PERSON
            ):
                yield decision.score

    def decisions(self) -> list[Decision]:
        """Return the decisions of these words, without criticism of the business."""
        return [
            decision
            for decision in self.clause.decisions
            if self.start <= decision.start < self.end
            and decision.reason is not _STARS
            and (
                decision.score > 0
                or decision.aspect not in _OF_THE_BUSINESS
                or decision.problem == _NO_CALLBACK
            )
        ]


def _has_word(decision: Decision, opinions: Mapping[int, float]) -> bool:
    """Return whether the match of a decision has an opinion word of its sign."""
    return any(
        opinions.get(at, 0.0) * decision.score > 0 for at in range(decision.start, decision.end)
    )


def opinion_of(
    tokens: Tokens,
    lexicon: Lexicon,
    clauses: Sequence[ClauseReading],
    mentions: Sequence[Mention],
    rating: int,
) -> OpinionOf:
    """Return the opinion in the words about a person."""
    spans = list(_about(tokens, lexicon, clauses, mentions))
    unmarked = [span for span in spans if span.clause.mark is None]
    scores = [v for span in unmarked for v in span.scores()]
    stars = max((span.clause.stars for span in spans), default=rating)
    praise, blame = max([0.0, *scores]), min([0.0, *scores])
    total = praise + blame
    sentiment: Sentiment = "neutral"
    if total >= _CLEAR or (stars >= _GOOD_STARS and not blame):
        sentiment = "positive"
    elif total <= -_CLEAR:
        sentiment = "negative"
    lists = evidence_words(lexicon.language)
    if sentiment == "neutral" and stars == 1 and not praise:
        refusals = (_refuses(tokens.words, lexicon, lists, mention) for mention in mentions)
        sentiment = "negative" if any(refusals) else sentiment
    texts = (
        text
        for span in spans
        for decision in span.decisions()
        if decision.sentiment == sentiment
        for text in wordings(tokens, lexicon, decision, span.clause)
    )
    uncertain = (lists.compares, lists.conditions)
    praised = (
        decision.aspect
        for span in unmarked
        if all(words.isdisjoint(span.words(tokens)) for words in uncertain)
        for decision in span.decisions()
        if decision.sentiment == "positive"
        and decision.aspect not in NO_PRAISE_OF_PEOPLE
        and decision.start < span.reported
    )
    return OpinionOf(sentiment, tuple(dict.fromkeys(texts)), tuple(dict.fromkeys(praised)))


def _refuses(
    words: Sequence[str], lexicon: Lexicon, lists: EvidenceWords, mention: Mention
) -> bool:
    """Return whether a clause begins with the person and goes on with what they did not do, or should do.

    "Grace wouldn't even look" is no opinion, but in a review of one star it is blame; "Grace was not there" is none.
    """
    before = words[mention.start - 1] if mention.start else ","
    following = words[mention.end : mention.end + _REFUSING]
    after = list(itertools.takewhile(lambda word: word not in _STOPS, following))
    return (
        (before in _STOPS or before in lexicon.grammar.joiners)
        and _BEING.isdisjoint(after)
        and (not lexicon.negations.isdisjoint(after) or not lists.conditions.isdisjoint(after))
    )


def _about(
    tokens: Tokens,
    lexicon: Lexicon,
    clauses: Sequence[ClauseReading],
    mentions: Sequence[Mention],
) -> Iterator[_Span]:
    """Yield the words about a person, clause by clause."""
    words = tokens.words
    starts = iter(mentions)
    mention = next(starts, None)
    continued = False
    lists = evidence_words(lexicon.language)
    for clause in clauses:
        start, end = clause.clause.start, clause.clause.end
        named: list[Mention] = []
        while mention is not None and mention.start < end:
            if mention.start >= start:
                named.append(mention)
            mention = next(starts, None)
        subject = first_word(words, clause.clause, lexicon.grammar)
        continued = bool(named) or (continued and subject in lexicon.third_person)
        if not continued:
            continue
        after = start
        if named:
            start = _begin(words, lexicon, start, named[0].start)
            after = named[-1].end
        end = _end(tokens, lexicon, after, end)
        reported = (at for at in range(after, end) if words[at] in lists.reported)
        yield _Span(clause, start, end, next(reported, end))


def _begin(words: Sequence[str], lexicon: Lexicon, start: int, name: int) -> int:
    """Return the token after the last comma or joiner before a name."""
    for at in range(name - 1, start - 1, -1):
        if words[at] == "," or words[at] in lexicon.grammar.joiners:
            return at + 1
    return start


def _end(tokens: Tokens, lexicon: Lexicon, start: int, end: int) -> int:
    """Return the first comma or joiner before another subject, if not immediately after the name."""
    words = tokens.words
    for at in range(start + 1, end - 1):
        if words[at] != "," and words[at] not in lexicon.grammar.joiners:
            continue
        next_word = words[at + 1]
        if next_word in DETERMINERS or tokens.text[tokens.edges[2 * at + 2]].isupper():
            return at
    return end
