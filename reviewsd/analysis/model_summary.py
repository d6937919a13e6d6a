"""Sentences of a language model about all reviews, and checks that they are true (insights.md 12).

A sentence names the reviews on which it rests. Its numbers are figures of its subject, its quotations
stand in those reviews, and it has at least one of either. A review may contain instructions to the
model, so words that a single review has are refused outside of quotations, as are unlisted names.
"""

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from msgspec import UNSET, Struct
from msgspec.structs import replace

from reviewsd.analysis.aspects import ASPECTS
from reviewsd.analysis.labels import text_key
from reviewsd.analysis.prose import MAX_FAQ
from reviewsd.analysis.text import ENDS, fold, tokenise, words_of
from reviewsd.analysis.value import LocalWords, MadeInsights
from reviewsd.domain.insights import FaqEntry, Insights, named
from reviewsd.domain.reviews import Review

ALL: Final = "reviews"
"""The subject of a sentence about all reviews; others are ids of aspects."""
MIN_SENTENCES: Final = 2
MAX_SENTENCE: Final = 300  # characters
_MIN_WORD: Final = 4  # letters of a word that a second review must have
_MIN_QUOTED: Final = 2  # words of a quotation
_QUOTES: Final = dict.fromkeys(map(ord, "\u201c\u201d\u201e\u00ab\u00bb"), '"')
_GROUPED: Final = {ord("\u00a0"): None, ord("\u202f"): None}  # blanks within numbers
_UNWANTED: Final = ("://", "@", "<", "www.")
_CAPITALS: Final = ("de",)  # languages whose nouns have capitals
_PRONOUN: Final = {"en": "i"}  # has a capital in the middle of a sentence, and is no name
_THOUSAND: Final = 3  # digits of a group
_NUMBERS: Final = {
    "en": "one two three four five six seven eight nine ten eleven twelve dozen dozens twenty thirty forty "
    "fifty hundred hundreds thousand thousands half third quarter twice double all every everyone always "
    "never none nobody majority most",
    "de": "zwei drei vier sechs sieben acht neun zehn elf zwölf dutzend zwanzig dreißig fünfzig hundert "
    "hunderte tausend tausende halb hälfte drittel viertel doppelt alle jeder jede immer nie niemand keiner "
    "mehrheit meisten",
    "es": "dos tres cuatro cinco seis siete ocho nueve diez once doce docena veinte treinta cincuenta cien "
    "cientos mil miles mitad tercio cuarto doble todos todas siempre nunca nadie ninguno mayoría",
    "fr": "deux trois quatre cinq six sept huit neuf dix onze douze douzaine vingt trente cinquante cent "
    "centaines mille milliers moitié tiers quart double tous toutes toujours jamais personne aucun majorité "
    "plupart",
    "it": "due tre quattro cinque sei sette otto nove dieci undici dodici dozzina venti trenta cinquanta cento "
    "centinaia mille migliaia metà terzo quarto doppio tutti tutte sempre mai nessuno maggioranza maggior",
    "nl": "twee drie vier vijf zes zeven acht negen tien elf twaalf dozijn twintig dertig vijftig honderd "
    "honderden duizend duizenden helft derde kwart dubbel alle iedereen altijd nooit niemand geen meerderheid "
    "meeste",
    "pt": "dois duas três quatro cinco seis sete oito nove dez onze doze dúzia vinte trinta cinquenta cem "
    "centenas mil milhares metade terço quarto dobro todos todas sempre nunca ninguém nenhum maioria",
}
"""Words for numbers and for all or none, by language; figures are written in digits."""


class Sentence(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A sentence of the summary, or a question with its answer."""

    text: str
    """Quotations in it stand between straight double quotation marks."""
    about: str
    """``ALL`` or the id of an aspect."""
    sentiment: str
    reviews: dict[str, str]
    """The ``text_key`` of each review on which it rests, by id."""
    question: str = ""


class KeptSummary(Struct, frozen=True, kw_only=True):
    """The sentences that are kept in insights.labels."""

    summary: tuple[Sentence, ...]
    faq: tuple[Sentence, ...]
    model: str
    lists: str
    """The ``ModelLabels.lists``; with others, people may no longer be named."""

    def keys(self) -> set[str]:
        """Return the ``text_key`` of all reviews on which it rests."""
        return {key for s in (*self.summary, *self.faq) for key in s.reviews.values()}


class Figure(NamedTuple):
    """A number that a sentence may have."""

    name: str
    value: float
    digits: int = 0
    """The least decimals in which it may be written."""


Figures = Mapping[tuple[str, str], Collection[Figure]]
"""The figures by subject and sentiment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """Everything that sentences are checked against."""

    figures: Figures
    review_of: Callable[[str], Review | None]
    """Returns a review by its id."""
    language: str
    """The language of the sentences."""


def figures_of(insights: Insights, average: float | None, *, criticism: bool) -> Figures:
    """Return what sentences may speak of.

    Args:
        insights: The insights; aspects with few mentions have no figures.
        average: The average rating.
        criticism: Whether negative sentences are public.
    """
    count = Figure("all reviews", insights.review_count or 0)
    overall = [count] if average is None else [count, Figure("average stars", average, 1)]
    if insights.overall_sentiment is not UNSET:
        positive = _number(insights.overall_sentiment.positive_pct)
        overall.append(Figure("percent with 4 or 5 stars", positive))
    figures: dict[tuple[str, str], Collection[Figure]] = {(ALL, "positive"): overall}
    for entity in map(named, insights.aspects):
        if entity.id is None or entity.positive_pct is UNSET:
            continue
        mentions = Figure("reviews with the subject", _number(entity.mention_count))
        praising = Figure("positive ones", _number(entity.positive_count))
        blaming = Figure("negative ones", _number(entity.negative_count))
        share = Figure("percent positive", _number(entity.positive_pct))
        if praising.value:
            figures[entity.id, "positive"] = count, mentions, praising, share
        if blaming.value and criticism:
            figures[entity.id, "negative"] = count, mentions, blaming
    return figures


def untrue(sentence: Sentence, ground: Ground) -> str:
    """Return what is untrue of a sentence; "" if its numbers, quotations and reviews are as it says."""
    if max(len(sentence.text), len(sentence.question)) > MAX_SENTENCE:
        return f"text: longer than {MAX_SENTENCE} characters"
    figures = ground.figures.get((sentence.about, sentence.sentiment))
    if figures is None:
        return "about: no figures of this subject with this sentiment"
    texts = []
    for name, key in sentence.reviews.items():
        review = ground.review_of(name)
        if review is None or key != text_key(review.text or "", review.rating):
            return "reviews: one is not there, or has changed"
        texts.append(fold(review.text or ""))
    own, quoted = _parts(sentence.text)
    if not texts or own is None:
        return "text: it names no review, or a quotation has no end"
    for quotation in quoted:
        folded = fold(quotation)
        if len(words_of(quotation)) < _MIN_QUOTED or not any(folded in text for text in texts):
            return "text: a quotation is not a verbatim piece of a named review"
    words = words_of(f"{own} {sentence.question}")
    if not set(words).isdisjoint(_NUMBERS[ground.language].split()):
        return "text: a number is in words"
    return _untrue_number(own, figures, has_quotation=bool(quoted))


def _untrue_number(text: str, figures: Collection[Figure], *, has_quotation: bool) -> str:
    numbers = list(_numbers(text))
    if not (numbers or has_quotation):
        return "text: it has neither a number nor a quotation"
    if any(c.isnumeric() and not c.isdecimal() for c in text):
        return "text: a number is not in digits"
    is_true = all(_is_true(number, figures) for number in numbers)
    return "" if is_true else "text: a number is not one of the figures"


def foreign(
    sentence: Sentence, language: str, names: Collection[str], spread: Mapping[str, int]
) -> str:
    """Return what a sentence has from a single review or from nowhere; "" if it has no such words.

    Args:
        sentence: A sentence that is not ``untrue``.
        language: The language of the sentence.
        names: Folded words of names, and others that may always be used.
        spread: The number of reviews that have a folded word.
    """
    own, _ = _parts(sentence.text)
    everything = f"{sentence.question}{sentence.text}"
    if any(mark in everything for mark in _UNWANTED):
        return "text: an address"
    if not everything.isprintable():
        return "text: a control character"
    for text in (own or "", sentence.question):
        tokens = tokenise(text)
        previous = "."
        for at, word in enumerate(tokens.words):
            spelled = tokens.cut(at, at + 1)
            is_first, previous = previous in ENDS, word
            is_pronoun = word.partition("'")[0] == _PRONOUN.get(language)
            if not spelled[0].isalpha() or word in names or is_pronoun:
                continue
            capital = spelled[0].isupper() and not is_first
            if capital and (language not in _CAPITALS or spelled[1:].lower() != spelled[1:]):
                return f"text: a name that is not in the lists: {word}"
            if (len(word) >= _MIN_WORD or capital) and spread.get(word) == 1:
                return (
                    f"text: a word that a single review has stands outside of a quotation: {word}"
                )
    if any(c in sentence.question for c in '"\u201c\u201e\u00ab') or any(
        _numbers(sentence.question)
    ):
        return "question: it has a number or a quotation"
    return ""


def applied(
    insights: MadeInsights,
    summary: KeptSummary,
    ground: Ground,
    words: LocalWords,
) -> MadeInsights:
    """Return insights with those parts of a summary of which all sentences are still true.

    Answers of the rules about other subjects follow the questions of the model.
    """

    def quoted(text: str) -> str:
        return words("quotation", text=text)

    sentences, questions = (
        part
        if len(part) >= MIN_SENTENCES and not any(untrue(sentence, ground) for sentence in part)
        else ()
        for part in (summary.summary, summary.faq)
    )
    if not (sentences or questions):
        return insights
    entries = tuple(
        FaqEntry(
            question=sentence.question,
            answer=shown(sentence.text, quoted),
            example_review_ids=tuple(sentence.reviews),
        )
        for sentence in questions
    )
    question_texts = {words(f"question_{s.about}") for s in questions if s.about in ASPECTS}
    quotations_used = [text for sentence in questions for text in quotations(sentence.text)]
    rule_entries = (
        entry
        for entry in insights.faq
        if entry.question not in question_texts
        and not any(text in entry.answer for text in quotations_used)
    )
    method = replace(
        insights.method,
        written_by=summary.model,
        note=f"{insights.method.note} {words('method_written', model=summary.model)}",
    )
    text = " ".join(shown(sentence.text, quoted) for sentence in sentences)
    return replace(
        insights,
        summary=text or insights.summary,
        faq=(*entries, *rule_entries)[:MAX_FAQ],
        method=method,
    )


def shown(text: str, quote: Callable[[str], str]) -> str:
    """Return a sentence with quotation marks of its language."""
    parts = text.translate(_QUOTES).split('"')
    return "".join(quote(part) if at % 2 else part for at, part in enumerate(parts))


def quotations(text: str) -> list[str]:
    """Return the quotations of a sentence."""
    return _parts(text)[1]


def _parts(text: str) -> tuple[str | None, list[str]]:
    """Return the words outside of quotations, None if a quotation has no end, and the quotations."""
    parts = text.translate(_QUOTES).split('"')
    return (" , ".join(parts[::2]) if len(parts) % 2 else None), parts[1::2]


def _numbers(text: str) -> Iterator[str]:
    words = tokenise(text.translate(_GROUPED)).words
    return (word.lstrip("$") for word in words if any(map(str.isdecimal, word)))


def _is_true(number: str, figures: Collection[Figure]) -> bool:
    """Return whether a number, in the form of any language, is a figure rounded to its decimals."""
    digits = [len(group) for group in number.replace(",", ".").split(".")]
    plain = "".join(filter(str.isdecimal, number))
    readings = []
    if all(size == _THOUSAND for size in digits[1:]) and ":" not in number:
        readings.append((float(plain), 0))
    if len(digits) == 2 and ":" not in number:  # noqa: PLR2004  a point
        readings.append((float(plain) / 10 ** digits[1], digits[1]))
    return any(
        decimals >= figure.digits
        and not (decimals and isinstance(figure.value, int))
        and abs(value - figure.value) <= 0.5 * 10**-decimals + 1e-9
        for (value, decimals), figure in itertools.product(readings, figures)
    )


def _number(value: object) -> float:
    return value if isinstance(value, int | float) else 0
