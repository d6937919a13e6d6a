"""Sentences of reviews, with what makes one a quotation (insights.md 10, 1; decision 421)."""

import collections
from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple

from reviewsd.analysis.aspects import ASPECTS
from reviewsd.analysis.clause_rules import ClauseReading
from reviewsd.analysis.evidence_words import EvidenceWords, evidence_words
from reviewsd.analysis.labeling import Reading
from reviewsd.analysis.model_labels import AspectAnswer
from reviewsd.analysis.names import DETERMINERS, RELATIONS, TITLES
from reviewsd.analysis.text import ENDS, sentence_spans
from reviewsd.analysis.wordings import wording_spans
from reviewsd.domain.insights import Sentiment

MAX_QUOTATION: Final = 200  # characters
_OPPOSITE: Final = 0.25  # absolute score of a clause that says the opposite
_LONG: Final = 3  # words of a wording that shows an aspect without an opinion word
_CLEAR: Final = 0.25  # absolute score of a decision that shows an aspect
_STRONG: Final = 0.5  # absolute score of a clause that shows it strongly
_EMPHATIC: Final = 2  # opinion words, or aspects, of a sentence without a booster
_EARLY: Final = 4  # words with the verb of a subject
_BRIEF, _LENGTHY = 25, 120  # characters of a sentence that is easy to read
_UNWANTED: Final = ("@", "://", "\n", '"', "\u201c", "\u201d", "\u201e", "\u00ab", "\u00bb")
_MOCKING: Final = ("...", "\u2026", "!!", "(!)", "lol", ":)", ";)", "/s")


class ReviewSentence(NamedTuple):
    """A sentence of a review, with what the rules read in it."""

    reading: Reading
    lists: EvidenceWords
    text: str
    clauses: Sequence[ClauseReading]
    labels: Collection[AspectAnswer] | None
    """Those of a language model with a phrase in the sentence; None if none has labeled the review."""

    def is_labeled(self, aspect: str | None, sentiment: Sentiment) -> bool:
        """Return whether a model found an aspect in it, or any, with this sentiment and no other."""
        labels = self.labels or ()
        has_aspect = any(aspect in (None, label.id) for label in labels)
        return has_aspect and all(label.sentiment == sentiment for label in labels)

    def is_quotable(self, sign: int) -> bool:
        """Return whether the sentence stands alone, and nothing in it says the opposite or may be meant so.

        Args:
            sign: 1 for praise, -1 for criticism.
        """
        text, words = self.text, self.reading.tokens.words
        first = next((c for c in text if c.isalnum()), "")
        if not first.isupper() or text.isupper() or "?" in text or " " not in text:
            return False
        if any(mark in text for mark in _UNWANTED) or text.count("(") != text.count(")"):
            return False
        if any(mark in text.lower() for mark in _MOCKING):
            return False
        start, end = self.clauses[0].clause.start, self.clauses[-1].clause.end
        if words[start] in self.lists.opens:
            return False
        if not self.lists.reported.isdisjoint(words[start:end]):
            return False
        return not any(self._objects(clause, sign) for clause in self.clauses)

    def _objects(self, clause: ClauseReading, sign: int) -> bool:
        """Return whether a clause contrasts, supposes, says the opposite or speaks of a relative."""
        lexicon = self.reading.lexicon
        words = self.reading.tokens.words[clause.clause.start : clause.clause.end]
        has_joiner = words[0] in lexicon.grammar.joiners and len(words) > 1
        subject = words[words[0] in DETERMINERS :][:1]
        names = {word.removesuffix("'s") for word in subject} - {*TITLES}
        return (
            clause.mark is not None
            or clause.clause.contrasted
            or not lexicon.grammar.contrasts.isdisjoint(words)
            or (self.labels is None and not RELATIONS.isdisjoint(names))
            or (sign > 0 and not self.lists.weakens.isdisjoint(words))
            or (sign > 0 and not self.lists.compares.isdisjoint(words))
            or words[has_joiner] in self.lists.conditions
            or clause.score * sign <= -_OPPOSITE
            or any(decision.score * sign < 0 for decision in clause.decisions)
        )

    def shows(self, clause: ClauseReading, aspect: str | None, sign: int) -> bool:
        """Return whether a clause shows an aspect, or praises anything, without a negation beside it."""
        tokens, lexicon = self.reading.tokens, self.reading.lexicon
        words = tokens.words
        agrees = clause.score * sign > 0
        negations = [
            at
            for at in range(clause.clause.start, clause.clause.end)
            if words[at] in lexicon.negations
        ]
        for decision in clause.decisions:
            if aspect not in (None, decision.aspect) or decision.score * sign < _CLEAR:
                continue
            for start, end in wording_spans(tokens, lexicon, decision, clause, negations=sign < 0):
                wording = words[start:end]
                alone = self.lists.stand_alone(decision.aspect, wording)
                if (
                    (agrees or alone or end - start >= _LONG)
                    and (aspect is None or alone or self.lists.names(aspect, wording))
                    and (sign < 0 or all(start <= at < end for at in negations))
                ):
                    return True
        return False

    @property
    def stands_for_all(self) -> bool:
        """Whether the sentence can speak for the business: whole, emphatic, without blame, price or number."""
        return (
            (self.has_subject or self.opens_with_praise)
            and self.lists.refers.isdisjoint(self._words)
            and (self.is_emphatic(1) or len(self.aspects) >= _EMPHATIC)
            and not any(valence < 0 for valence in self._opinions.values())
            and not any(character.isdigit() for character in self.text)
            and "pricing" not in self.aspects
        )

    @property
    def has_subject(self) -> bool:
        """Whether the sentence begins with a subject, as far as words show it."""
        grammar, words, start = self.reading.lexicon.grammar, self._words, self._start
        people = self.reading.entities.get("technicians", {}).values()
        return (
            not grammar.pronouns.isdisjoint((words[0], words[0].partition("'")[0]))
            or any(match.start == start for matches in people for match in matches)
            or not grammar.finite.isdisjoint(words[1:_EARLY])
            or (words[0] in DETERMINERS and not grammar.finite.isdisjoint(words))
        )

    @property
    def opens_with_praise(self) -> bool:
        """Whether the first word praises, after one like "very"."""
        at = self._start + (self._words[0] in self.reading.lexicon.function_words)
        return self._opinions.get(at, 0.0) > 0

    def is_emphatic(self, sign: int) -> bool:
        """Return whether the sentence has two opinion words of a sign, or one with a booster."""
        valences, words = self.reading.lexicon.valences, self.reading.tokens.words
        opinions = [(at, valence) for at, valence in self._opinions.items() if valence * sign > 0]
        return len(opinions) >= _EMPHATIC or any(
            abs(valence) > abs(valences[words[at]]) for at, valence in opinions
        )

    @property
    def _start(self) -> int:
        return self.clauses[0].clause.start

    @property
    def _words(self) -> list[str]:
        return self.reading.tokens.words[self._start : self.clauses[-1].clause.end]

    @property
    def _opinions(self) -> dict[int, float]:
        return {at: value for clause in self.clauses for at, value in clause.opinions.items()}

    @property
    def aspects(self) -> set[str]:
        """The ids of the aspects that the sentence speaks of."""
        if self.labels is not None:
            return {label.id for label in self.labels}
        return {decision.aspect for clause in self.clauses for decision in clause.decisions}

    def praises(self, aspect: str) -> bool:
        """Return whether the sentence praises an aspect."""
        if self.labels is not None:
            return self.is_labeled(aspect, "positive")
        return any(self.shows(clause, aspect, 1) for clause in self.clauses)

    def is_vague(self, aspect: str) -> bool:
        """Return whether only words that say less of an aspect than others do name it: "helpful" of kindness."""
        words = [word for word in self._words if self.lists.stand_alone(aspect, [word])]
        return bool(words) and all(word in self.lists.vague for word in words)

    def _has_name(self, aspect: str | None) -> bool:
        """Return whether the sentence names an aspect of the trade or the owner: "room", and not only "spacious"."""
        senses = (sense for clause in self.clauses for _, _, sense in clause.senses)
        return aspect not in ASPECTS and any(
            sense.aspect == aspect and not sense.strength for sense in senses
        )

    def clarity(self, aspect: str | None, clause: ClauseReading | None, sign: int) -> int:
        """Return how clearly the sentence says this one thing; the best is the greatest."""
        further_aspects = self.aspects - {aspect}
        first = self.reading.tokens.words[self.clauses[0].clause.start] if self.clauses else ""
        return (
            (0 if clause is None else abs(clause.score) >= _STRONG)
            + self.has_subject
            + self.is_emphatic(sign)
            + 2 * self._has_name(aspect)
            - len(self.clauses)
            - (0 if aspect is None else len(further_aspects))
            - 2 * (first in self.reading.lexicon.third_person)
            - (not _BRIEF <= len(self.text) <= _LENGTHY)
        )


def sentences(
    reading: Reading, labels: Collection[AspectAnswer] | None = None
) -> Iterator[ReviewSentence]:
    """Yield the sentences of a text, with the labels of a language model, if there are."""
    tokens = reading.tokens
    rest = collections.deque(reading.clauses)
    lists = evidence_words(reading.lexicon.language)
    for begin, end in sentence_spans(tokens, reading.lexicon.grammar.abbreviations):
        clauses = []
        while rest and tokens.edges[2 * rest[0].clause.start] < end:
            clauses.append(rest.popleft())
        if clauses:
            text = tokens.text[begin:end]
            inside = None if labels is None else [label for label in labels if label.phrase in text]
            yield ReviewSentence(reading, lists, text, clauses, inside)


def alone(reading: Reading, clause: ClauseReading) -> str:
    """Return a clause that stands alone, because it begins a sentence or has a subject of its own."""
    tokens = reading.tokens
    start, end = clause.clause.start, clause.clause.end
    if start and tokens.words[start - 1] not in ENDS:
        grammar = reading.lexicon.grammar
        start += tokens.words[start] in grammar.joiners | grammar.contrasts
        if tokens.words[start] not in grammar.pronouns:
            return ""
    if tokens.words[end - 1] == ",":
        end -= 1
    text = tokens.cut(start, end)
    return text if len(text) <= MAX_QUOTATION else ""
