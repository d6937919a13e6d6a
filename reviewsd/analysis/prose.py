"""Writes sentences with counts and quotations (insights.md 5, ``faq`` to ``pull_quote``, and 10).

All numbers are counts, and every quotation is a verbatim piece of a review.
"""

import itertools
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Final

from reviewsd.analysis.aspects import ASPECTS, RECOMMENDATION
from reviewsd.analysis.claims import MIN_MENTIONS, RankedAspect, claimed, leading
from reviewsd.analysis.counts import Quote, Sums
from reviewsd.analysis.evidence import Evidence, Quotation
from reviewsd.analysis.language_data import has_data
from reviewsd.analysis.presets import aspect_labels
from reviewsd.analysis.ranking import Ranking
from reviewsd.analysis.temporal import MIN_REVIEWS, Months
from reviewsd.analysis.value import AspectInsight, LocalWords
from reviewsd.analysis.wordings import key
from reviewsd.domain.insights import FaqEntry, Sentiment
from reviewsd.domain.reviews import Review, is_unnamed, primary_language

MAX_FAQ: Final = 6
MIN_QUOTE: Final = 40  # characters
MAX_QUOTE: Final = 160

_PULLED: Final = 12  # sentences from which the pull quote is chosen
_NAMED: Final = 4  # aspects that most praise, that most criticize, or on which opinions differ
_WORDINGS: Final = 3  # wordings of an aspect
_CAPITALS: Final = ("de",)  # languages whose nouns have capitals


class ProseWriter:
    """Writes the sentences.

    Args:
        words: The words of the sentences.
        languages: Reviews with words, by language, the most frequent first.
        models: Reviews that language models read, by model, then by language.
    """

    def __init__(
        self,
        words: LocalWords,
        languages: Mapping[str, int],
        models: Mapping[str, Mapping[str, int]],
    ) -> None:
        self._words = words
        self._number = words.language.number
        self._models = list(models)
        by_model: Counter[str] = Counter()
        for counts in models.values():
            by_model.update(counts)
        read = {
            code: count if has_data(code) else by_model[code]
            for code, count in languages.items()
            if has_data(code) or by_model[code]
        }
        count_read = sum(read.values())
        self.labelled = {"model": by_model.total(), "rules": count_read - by_model.total()}
        """Numbers of reviews with words that ``model`` and ``rules`` read."""
        self._count_read = count_read if count_read < sum(languages.values()) else 0
        """Number of reviews that were read; 0 if it is all or none."""
        names = [words(f"language_{code}") for code in read if has_data(code)]
        names += [words("language_other")] if len(names) < len(read) else []
        self._languages = self._list(names) if self._count_read else ""

    @property
    def note(self) -> str:
        """The method, and how many reviews in which languages were read, unless all were."""
        note = self._words("method_note")
        if self._models:
            note = self._words(
                "method_note_model",
                model=self._list(self._models),
                by_model=self._number(self.labelled["model"]),
                by_rules=self._number(self.labelled["rules"]),
            )
        if not self._count_read:
            return note
        read = self._words.plural("method_read", self._count_read, languages=self._languages)
        return f"{note} {read}"

    def faq(
        self,
        aspects: Iterable[RankedAspect],
        evidence: Evidence,
        review_of: Callable[[str], Review],
    ) -> tuple[FaqEntry, ...]:
        """Return questions about the most mentioned aspects, each with an answer that quotations show.

        An answer on which opinions differ has a quotation of either sentiment.

        Args:
            aspects: The aspects, most mentioned first.
            evidence: Finds the quotations.
            review_of: Returns a review by its id.
        """
        entries: list[FaqEntry] = []
        used_texts = set[str]()
        for aspect in aspects:
            insight = aspect.insight
            if insight.mention_count < MIN_MENTIONS or len(entries) == MAX_FAQ:
                break
            sentiments = claimed(aspect)
            quotations = [
                quotation
                for sentiment in sentiments
                if (
                    quotation := _clearest_quotation(
                        aspect, sentiment, evidence, review_of, used_texts
                    )
                )
            ]
            if not quotations or len(quotations) < len(sentiments):
                continue
            used_texts.update(text for text, _ in quotations)
            answer = self._sentence(self._answer(aspect, sentiments))
            quoted_reviews = self._joined(itertools.starmap(self._quotation, quotations))
            entries.append(
                FaqEntry(
                    question=self._question(insight),
                    answer=f"{answer} {quoted_reviews}",
                    example_review_ids=insight.example_review_ids,
                )
            )
        return tuple(entries)

    def summary(
        self,
        total: Sums,
        aspects: Sequence[RankedAspect],
        months: Months,
        *,
        criticism: bool,
    ) -> str | None:
        """Return up to three sentences of counts and shared wordings; None without reviews.

        Args:
            total: Sums of all reviews.
            aspects: The aspects, most mentioned first.
            months: Sums by month.
            criticism: Whether to include the aspects that most criticize. Neither they nor the praised ones stand alone
                against the stars of most reviews, nor divided opinions in place of what is criticized.
        """
        if not total.count:
            return None
        rated = self._words.plural(
            "rated",
            total.count,
            average=self._number(total.stars / total.count, 0 if total.count == 1 else 1),
            share=self._number(100 * total.positive / total.count),
        )
        are_good = 2 * total.positive >= total.count
        praised = self._named(aspects, "praised", "positive")
        blames = criticism and bool(praised or not are_good)
        criticized = self._named(aspects, "criticized", "negative") if blames else ""
        divided = self._divided(aspects)
        if not are_good and not criticized:
            praised = ""
            divided = "" if leading(aspects, "negative") else divided
        recommended = self._recommended(aspects, criticism=blames)
        clauses = (praised, divided, criticized, recommended)
        text = self._joined(filter(None, clauses))
        named = self._sentence(text) if text else ""
        return " ".join(filter(None, (rated, named, self._years(months))))

    def _question(self, insight: AspectInsight) -> str:
        if insight.id in ASPECTS and insight.label == self._words(f"aspect_{insight.id}"):
            return self._words(f"question_{insight.id}")
        question = self._words("question_other", label=self._label(insight))
        return f"{question[:1].upper()}{question[1:]}"

    def _answer(self, aspect: RankedAspect, sentiments: Sequence[Sentiment]) -> str:
        """Return the clause that says which sentiments the mentions of an aspect have."""
        if aspect.insight.id == RECOMMENDATION:
            return self._words("recommended", counted=self._counted(aspect.ranking, "positive"))
        label = self._label(aspect.insight)
        if len(sentiments) == 1:
            counted = self._counted(aspect.ranking, sentiments[0])
            return self._words(f"answer_{sentiments[0]}", label=label, counted=counted)
        positive, negative = (self._number(aspect.ranking.of(s)) for s in sentiments)
        return self._words("answer_mixed", label=label, positive=positive, negative=negative)

    def _quotation(self, text: str, review: Review) -> str:
        """Return a quotation with the author and the day of its review."""
        quotation = self._words("quotation", text=text)
        author = self._words("nameless") if is_unnamed(review.author) else review.author
        return f"{quotation} \u2013 {author}, {self._words.language.date(review.date)}"

    def _sentence(self, text: str) -> str:
        """Return a clause as a sentence, with the reviews that were read unless all were."""
        if self._count_read:
            count, languages = self._count_read, self._languages
            text = self._words.plural("of_read", count, languages=languages, text=text)
        return f"{text[:1].upper()}{text[1:]}."

    def _label(self, insight: AspectInsight) -> str:
        """Return a label for the middle of a sentence: in lower case, except in German or the owner's."""
        has_capitals = primary_language(self._words.language.tag) in _CAPITALS
        is_own = insight.id not in ASPECTS and insight.label not in aspect_labels()
        return insight.label if has_capitals or is_own else insight.label.lower()

    def _named(
        self,
        aspects: Sequence[RankedAspect],
        name: str,
        sentiment: Sentiment,
    ) -> str:
        """Return the clause on the aspects of which most mentions have a sentiment; empty if there are none."""
        named = leading(aspects, sentiment)[:_NAMED]
        earlier_wordings: list[set[str]] = []
        contents = [self._content(aspect, sentiment, earlier_wordings) for aspect in named]
        return self._words(name, aspects=self._list(contents)) if contents else ""

    def _recommended(self, aspects: Iterable[RankedAspect], *, criticism: bool) -> str:
        """Return the clause on how many would come again or recommend the business; empty if it is not known.

        Args:
            aspects: The aspects.
            criticism: Whether to include it where most would not.
        """
        for aspect in aspects:
            claims = claimed(aspect)
            if aspect.insight.id == RECOMMENDATION and (criticism or "positive" in claims):
                return self._answer(aspect, claims) if claims else ""
        return ""

    def _divided(self, aspects: Iterable[RankedAspect]) -> str:
        """Return the clause on the aspects about which opinions differ; empty if there are none.

        The most criticized are first, because the most praised have a clause of their own.
        """
        divided = [
            aspect
            for aspect in aspects
            if aspect.insight.id != RECOMMENDATION and len(claimed(aspect)) > 1
        ]
        divided.sort(key=lambda aspect: -aspect.ranking.negative)
        contents = []
        for aspect in divided[:_NAMED]:
            ranking = aspect.ranking
            contents.append(
                self._words(
                    "aspect_divided",
                    label=self._label(aspect.insight),
                    positive=self._number(ranking.positive),
                    negative=self._number(ranking.negative),
                    count=self._number(ranking.count),
                )
            )
        return self._words("divided", aspects=self._list(contents)) if contents else ""

    def _content(
        self, aspect: RankedAspect, sentiment: Sentiment, earlier_wordings: list[set[str]]
    ) -> str:
        """Return an aspect with its counts and the most shared wordings that do not repeat its label.

        Args:
            aspect: The aspect.
            sentiment: The sentiment.
            earlier_wordings: The words of those before it, in the form of ``key``, which are not repeated; those of
                this aspect are added.
        """
        ranking = aspect.ranking
        label = self._label(aspect.insight)
        in_label = set(key(label).split())
        wordings = []
        for text in ranking.top_phrases(sentiment):
            words = set(key(text).split())
            if words <= in_label or any(earlier <= words for earlier in earlier_wordings):
                continue
            earlier_wordings.append(words)
            wordings.append(self._words("quotation", text=text))
            if len(wordings) == _WORDINGS:
                break
        counted = self._counted(ranking, sentiment)
        if wordings:
            counted = self._words("aspect_worded", counted=counted, wordings=self._list(wordings))
        return f"{label} ({counted})"

    def _counted(self, ranking: Ranking, sentiment: Sentiment) -> str:
        """Return how many of the counted mentions have a sentiment.

        "All" would say that no other review says the opposite; rules miss some.
        """
        part, count = ranking.of(sentiment), ranking.count
        name = "aspect_part" if part < count else "aspect_all"
        return self._words(name, part=self._number(part), count=self._number(count))

    def _years(self, months: Months) -> str:
        """Return the sentence that compares two years, the earlier one whole or not; empty with few reviews in one."""
        now, before = months.year(), months.year(back=1)
        if min(now.count, before.count) < MIN_REVIEWS:
            return ""
        name = "last_years" if months.has_two_years else "last_year"
        return self._words(name, now=self._in_year(now), before=self._in_year(before))

    def _in_year(self, year: Sums) -> str:
        average = self._number(year.stars / year.count, 1)
        return self._words.plural("year_rated", year.count, average=average)

    def _joined(self, texts: Iterable[str]) -> str:
        """Return clauses or quotations one after the other."""
        return self._words("semicolon").join(texts)

    def _list(self, texts: Sequence[str]) -> str:
        if len(texts) == 1:
            return texts[0]
        return self._words("pair", first=", ".join(texts[:-1]), second=texts[-1])


def pull_quote(
    quotes: Iterable[Quote],
    evidence: Evidence,
    review_of: Callable[[str], Review],
    aspects: Sequence[RankedAspect],
    faq: Iterable[FaqEntry],
) -> str | None:
    """Return the clearest praising sentence of the first candidates that have one.

    It has 40 to 160 characters, and there are at most twelve candidates. If there are mostly praised
    aspects, it praises one of them or speaks of none; those of the FAQ are not repeated. Where opinions differ or are
    bad, and nothing is mostly praised, there is none.
    """
    praised = [aspect.insight.id for aspect in leading(aspects, "positive")]
    if not praised and any(
        aspect.reviews_are_bad or "negative" in claimed(aspect) for aspect in aspects
    ):
        return None
    sentences = (
        evidence.praise(review_of(quote.example.id), MIN_QUOTE, MAX_QUOTE, praised)
        for quote in quotes
    )
    answers = [entry.answer for entry in faq]
    unquoted = (
        sentence
        for sentence in sentences
        if sentence is not None and not any(sentence.text in answer for answer in answers)
    )
    candidates = itertools.islice(unquoted, _PULLED)
    best = max(candidates, key=lambda quotation: quotation.clarity, default=None)
    return None if best is None else best.text


def _clearest_quotation(
    aspect: RankedAspect,
    sentiment: Sentiment,
    evidence: Evidence,
    review_of: Callable[[str], Review],
    quoted: Container[str] = (),
) -> tuple[str, Review] | None:
    """Return the clearest quotation of an aspect that is not quoted yet, with its review."""
    best: tuple[Quotation, Review] | None = None
    for example in aspect.ranking.best(sentiment):
        review = review_of(example.id)
        quotation = evidence.quotation(review, aspect.insight.id, sentiment, example.phrase)
        if quotation is None or quotation.text in quoted:
            continue
        if best is None or quotation.clarity > best[0].clarity:
            best = quotation, review
    return None if best is None else (best[0].text, best[1])
