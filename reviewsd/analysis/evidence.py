"""Finds sentences of reviews that show a statement (insights.md 10, 1; decision 421).

A sentence shows an aspect if one of its clauses has a wording of the aspect with the sign of the statement,
and a word that readers connect with this aspect. Nothing in it may say the opposite, contrast, negate,
compare, suppose, report, mock, or be about another business, and the stars of the review agree. If a language
model has labeled the review, the sentence around a phrase of its labels shows them (decision 562). The clearest
of several sentences is chosen: one that says nothing else, with a subject and emphasis. The few candidates
for each statement are read again, so labels do not store their sentences.
"""

from collections.abc import Callable, Collection, Iterator
from typing import Final, NamedTuple

from reviewsd.analysis.clause_rules import ClauseReading
from reviewsd.analysis.evidence_words import evidence_words
from reviewsd.analysis.lexicon import lexicon_of
from reviewsd.analysis.model_labels import AspectAnswer
from reviewsd.analysis.rules import Rules
from reviewsd.analysis.sentences import MAX_QUOTATION, ReviewSentence, alone, sentences
from reviewsd.domain.halves import halves
from reviewsd.domain.insights import Sentiment
from reviewsd.domain.reviews import Review

_GOOD_STARS: Final = 4
_UNCLEAR: Final = -2  # clarity of sentences that say too much else
_UNKNOWN: Final = 2  # clarity that a label loses if the rules do not find the same
_FORGIVEN: Final = 4  # and if the stars disagree: content customers take blame back
_VAGUE: Final = 3  # and if the words of the aspect say less of it than others do
_NAMING: Final = 2  # clarity of a sentence that praises what most reviews praise


LabelsOf = Callable[[Review], Collection[AspectAnswer] | None]


class Quotation(NamedTuple):
    """A sentence that shows a statement; the best one is the greatest."""

    clarity: int
    text: str


class Evidence:
    """Finds quotations.

    Args:
        rules: The rules that labeled the reviews.
        labels_of: Returns the labels of a language model for a review, or None if it has none.
    """

    def __init__(self, rules: Rules, labels_of: LabelsOf = lambda _review: None) -> None:
        self._rules = rules
        self._labels_of = labels_of
        self._lexicon = lexicon_of(rules.language)
        self._words = evidence_words(rules.language)

    def is_answer(self, aspect: str | None, wording: str) -> bool:
        """Return whether a wording answers what customers say of an aspect, or of any."""
        return self._words.is_answer(aspect, self._lexicon.words_of(wording))

    def quotation(
        self, review: Review, aspect: str, sentiment: Sentiment, phrase: str
    ) -> Quotation | None:
        """Return the clearest sentence that shows an aspect with a sentiment, verbatim.

        Args:
            review: The review.
            aspect: The id of the aspect.
            sentiment: The sentiment of the statement.
            phrase: The phrase of the label. In a language without rules, the sentence around it is the evidence.
        """
        quotations = []
        for sentence, clause in self._shown(review, aspect, sentiment, phrase):
            text = sentence.text
            if len(text) > MAX_QUOTATION:
                text = "" if clause is None else alone(sentence.reading, clause)
            clarity = sentence.clarity(aspect, clause, _sign(sentiment))
            if text and clarity >= _UNCLEAR:
                agrees = _agrees(sentence.clauses[0].stars, sentiment)
                doubt = _UNKNOWN * (clause is None) + _FORGIVEN * (not agrees)
                doubt += _VAGUE * sentence.is_vague(aspect)
                quotations.append(Quotation(clarity - doubt, text))
        return max(quotations, key=lambda quotation: quotation.clarity, default=None)

    def praise(
        self, review: Review, least: int, most: int, aspects: Collection[str] = ()
    ) -> Quotation | None:
        """Return the clearest sentence that stands for the whole business, verbatim.

        It is whole and emphatic, and speaks of no price and no number.

        Args:
            review: The review.
            least: The minimum length of the sentence, in characters.
            most: The maximum length of the sentence, in characters.
            aspects: The ids of aspects. The sentence praises one of them, or is about no other aspect; empty
                if any sentence will do.
        """
        quotations = []
        for sentence, clause in self._shown(review, None, "positive"):
            if not (least <= len(sentence.text) <= most and sentence.stands_for_all):
                continue
            praises = any(map(sentence.praises, aspects))
            others = sentence.aspects.difference(aspects, self._rules.uncounted)
            if not aspects or praises or not others:
                clarity = sentence.clarity(None, clause, 1) + _NAMING * praises
                quotations.append(Quotation(clarity, sentence.text))
        return max(quotations, key=lambda quotation: quotation.clarity, default=None)

    def _shown(
        self, review: Review, aspect: str | None, sentiment: Sentiment, phrase: str = ""
    ) -> Iterator[tuple[ReviewSentence, ClauseReading | None]]:
        """Yield the quotable sentences that show an aspect, or any, each with its clause that does."""
        labels = self._labels_of(review)
        text = review.text or ""
        if labels is None and not _agrees(review.rating, sentiment) and not halves(text):
            return  # most reviews
        reading = self._rules.read(text, review.rating)
        if not reading.quotable:
            return
        sign = _sign(sentiment)
        for sentence in sentences(reading, labels):
            if labels is None and not _agrees(sentence.clauses[0].stars, sentiment):
                continue
            if sentence.labels is None and not reading.lexicon.is_known:
                if phrase and phrase in sentence.text:
                    yield sentence, None
                continue
            clause = next((c for c in sentence.clauses if sentence.shows(c, aspect, sign)), None)
            is_labeled = sentence.is_labeled(aspect, sentiment)
            is_shown = clause is not None if sentence.labels is None else is_labeled
            if is_shown and sentence.is_quotable(sign):
                yield sentence, clause


def _agrees(stars: int, sentiment: Sentiment) -> bool:
    """Return whether the stars of a review, or of its half, are those of a sentiment."""
    return (stars >= _GOOD_STARS) is (sentiment == "positive")


def _sign(sentiment: Sentiment) -> int:
    return 1 if sentiment == "positive" else -1
