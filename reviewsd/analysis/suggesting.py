"""Candidates for insights.yaml, for the owner to choose from (insights.md 3 and 8, ``--suggest``).

Nothing of this is published: customers name wives, dogs and rivals. Capital letters and the words around
tell who may be a person, articles and the words around what may be a service or an aspect. A guess costs
the owner a glance, so it need not be sure; time and memory are bounded.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from msgspec import convert

from reviewsd.analysis.labelling import Reading
from reviewsd.analysis.language import ENGLISH, stop_words
from reviewsd.analysis.lexicon import valences
from reviewsd.analysis.prose import MAX_QUOTE
from reviewsd.analysis.rules import Rules
from reviewsd.analysis.settings import InsightSettings
from reviewsd.analysis.text import BARRIERS, ENDS, Tokens, words_of
from reviewsd.analysis.wordlists import word_set
from reviewsd.api.insights import Candidate, PresetService, Suggestions
from reviewsd.domain.reviews import Business, Review

MAX_REVIEWS: Final = 20_000  # the newest; five seconds
MAX_CANDIDATES: Final = 15  # of each kind

_MANY: Final = 50  # reviews from which on one mention is not enough
_KEPT: Final = 20_000  # candidates in memory
_MAX_WORDS: Final = 3  # of a phrase
_NEAR: Final = 4  # tokens between a phrase and the work that was done on it, or an opinion
_PERSON: Final = 0.25  # of the reviews that name somebody say so in a way that people are spoken of
_SERVICE: Final = 0.3  # of the mentions are of work on it
_ASPECT: Final = 0.4  # of the mentions are opinions
_MOST: Final = 0.6  # of the mentions of a word are of a phrase that ends in it

_BEFORE: Final = word_set("person-before")
_AFTER: Final = word_set("person-after") | word_set("acts")
_WEAK: Final = word_set("weak-after")  # so does "Parking was"
_PLACE: Final = word_set("place-before")
_NEVER: Final = word_set("never-people")
_DETERMINERS: Final = word_set("determiners")
_WORK: Final = word_set("work")
_WORK_NOUNS: Final = word_set("work-nouns")


@dataclass(slots=True)
class _CandidateCounts:
    """Of one candidate, in reviews."""

    quotation: str
    review_id: str
    reviews: int = 0
    first: int = 0
    """Those that speak of a person; of work on it."""
    second: int = 0
    """Those that speak of a place; with an opinion."""
    sure: int = 0
    """Those that can hardly speak of anything but a person."""
    spelled: dict[str, int] = field(default_factory=dict)


class _Candidates:
    """Counts of a bounded number of candidates."""

    def __init__(self) -> None:
        self.counts: dict[str, _CandidateCounts] = {}

    def add(self, found: "dict[str, _Mention]", review: Review, tokens: Tokens) -> None:
        """Add what a review mentions."""
        for key, mention in found.items():
            counts = self.counts.get(key)
            if counts is None:
                if len(self.counts) >= _KEPT:
                    self._forget()
                quotation = _quotation(tokens, mention.start, mention.end)
                counts = self.counts[key] = _CandidateCounts(quotation, review.id)
            counts.reviews += 1
            counts.first += mention.first
            counts.second += mention.second
            counts.sure += mention.sure
            spelled = mention.spelled
            counts.spelled[spelled] = counts.spelled.get(spelled, 0) + 1

    def _forget(self) -> None:
        """Keep the half that is mentioned most."""
        kept = sorted(self.counts.items(), key=lambda item: -item[1].reviews)
        self.counts = dict(kept[: _KEPT // 2])

    def chosen(self, keys: Iterable[str], least: int) -> tuple[Candidate, ...]:
        """The most mentioned of these."""
        counts = self.counts
        often = [key for key in keys if counts[key].reviews >= least]
        often.sort(key=lambda key: (-counts[key].reviews, key))
        return tuple(_candidate(counts[key]) for key in often[:MAX_CANDIDATES])


@dataclass(slots=True)
class _Mention:
    """The first mention in a review, and what any of them say."""

    start: int
    end: int
    spelled: str
    first: bool = False
    second: bool = False
    sure: bool = False


def suggest(
    reviews: Iterable[Review], business: Business, settings: InsightSettings
) -> Suggestions:
    """Candidates from reviews.

    Args:
        reviews: The newest first; the first ``MAX_REVIEWS`` are read.
        business: Its name and places are none.
        settings: What they name is none.
    """
    rules = Rules(business, settings)
    people, phrases = _Candidates(), _Candidates()
    finder = _Finder(business, settings, rules)
    read = 0
    for review in islice(reviews, MAX_REVIEWS):
        text = review.text
        if text is None or not text.strip():
            continue
        reading = rules.read(text, review.rating)
        if not reading.english:
            continue
        read += 1
        people.add(finder.people(reading.tokens), review, reading.tokens)
        phrases.add(finder.phrases(reading), review, reading.tokens)
    least = 2 if read >= _MANY else 1
    named = [
        key
        for key, each in people.counts.items()
        if each.sure
        and each.first >= _PERSON * each.reviews
        and each.first > each.second
        and 2 * finder.lower.get(key, 0) <= each.reviews
    ]
    counts = phrases.counts
    distinct = _distinct(counts)
    worked_on = {key for key in distinct if counts[key].first >= _SERVICE * counts[key].reviews}
    judged = [key for key in distinct if counts[key].second >= _ASPECT * counts[key].reviews]
    return Suggestions(
        reviews=read,
        technicians=people.chosen(named, least),
        services=phrases.chosen(worked_on, least + 1),
        aspects=phrases.chosen((key for key in judged if key not in worked_on), least + 1),
        preset=() if settings.services is not None else _preset(rules),
    )


def _preset(rules: Rules) -> tuple[PresetService, ...]:
    return convert(rules.services, tuple[PresetService, ...], from_attributes=True)


class _Finder:
    """Finds candidates in texts.

    Args:
        business: See ``suggest``.
        settings: The same.
        rules: The same.
    """

    def __init__(self, business: Business, settings: InsightSettings, rules: Rules) -> None:
        given = [business.name, *business.service_areas]
        for person in settings.technicians:
            given += [person.name, *person.aliases]
        self._given = {word for name in given for word in words_of(name)} | _NEVER
        self._stop = (
            stop_words()[ENGLISH]
            | word_set("function")
            | _DETERMINERS
            | _WORK
            | word_set("boosters")
            | word_set("negations")
            | word_set("numbers")
            | word_set("generic")
        )
        known = [each.words for each in rules.services]
        known += [each.words for each in settings.aspects.values()]
        self._known = {word for words in known for each in words for word in words_of(each)}
        self._common = self._stop | self._known | valences().keys()
        self.lower: dict[str, int] = {}
        """How often a word that may be a name is written as none."""

    def people(self, tokens: Tokens) -> dict[str, _Mention]:
        """Who may be named in a text, by first name."""
        words = tokens.words
        found: dict[str, _Mention] = {}
        at = 0
        while at < len(words):
            word = words[at].removesuffix("'s")
            if not self._may_be_name(tokens, at, word):
                at += 1
                continue
            end = at + 1
            if end < len(words) and self._is_surname(tokens, end):
                end += 1
            before = words[at - 1] if at else ""
            if before == "to" and at > 1:
                before = words[at - 2]  # "thanks to Sam"
            after = words[end] if end < len(words) else ""
            spelled = tokens.cut(at, end).replace("\u2019s", "").removesuffix("'s")
            mention = found.setdefault(word, _Mention(at, end, spelled))
            mention.first |= before in _BEFORE or after in _AFTER
            mention.second |= before in _PLACE
            inside = at > 0 and before not in ENDS | _DETERMINERS | _PLACE
            mention.sure |= inside or (after in _AFTER and after not in _WEAK)
            at = end
        return found

    def _is_surname(self, tokens: Tokens, at: int) -> bool:
        """Whether a token follows the one before as a surname: "Sam Ortiz", but not "Sam & Ben"."""
        between = tokens.text[tokens.edges[2 * at - 1] : tokens.edges[2 * at]]
        return between.isspace() and self._may_be_name(
            tokens, at, tokens.words[at].removesuffix("'s")
        )

    def _may_be_name(self, tokens: Tokens, at: int, word: str) -> bool:
        words = tokens.words
        if len(word) < 3 or not word.isalpha() or word in self._given:  # noqa: PLR2004  Al, Jo
            return False
        spelled = tokens.cut(at, at + 1).removesuffix("'s").removesuffix("\u2019s")
        if not spelled[0].isupper():
            if word in self.lower or len(self.lower) < _KEPT:
                self.lower[word] = self.lower.get(word, 0) + 1
            return False
        if spelled.isupper() or word in self._common:
            return False
        if (at and words[at - 1] not in ENDS) or words[at].endswith("'s"):
            return True
        if at + 1 == len(words):
            return False
        return words[at + 1] in _AFTER or self._may_be_name(tokens, at + 1, words[at + 1])

    def phrases(self, reading: Reading) -> dict[str, _Mention]:
        """What may be a service or an aspect in a text, by its words in the singular."""
        words = reading.tokens.words
        taken = {
            at
            for each in reading.clauses
            for match, _ in each.senses
            for at in range(match.start, match.end)
        }
        opinions = {word.at for each in reading.clauses for word in each.opinions}
        found: dict[str, _Mention] = {}
        for at, word in enumerate(words):
            if word not in _DETERMINERS:
                continue
            start, end = self._noun(words, at + 1, taken)
            if start == end:
                continue
            near = range(max(0, start - _NEAR), min(len(words), end + _NEAR))
            before = words[max(0, at - _NEAR) : at]
            worked_on = not _WORK.isdisjoint(before) or (
                end < len(words) and words[end] in _WORK_NOUNS
            )
            judged = any(each in opinions for each in near)
            for first in {start, end - 1}:  # the phrase, and its last word alone
                *others, last = words[first:end]
                if all(
                    word in self._known or _singular(word) in self._known
                    for word in (*others, last)
                ):
                    continue
                key = " ".join([*others, _singular(last)])
                spelled = " ".join([*others, last])
                mention = found.setdefault(key, _Mention(first, end, spelled))
                mention.first |= worked_on
                mention.second |= judged
        return found

    def _noun(self, words: Sequence[str], start: int, taken: set[int]) -> tuple[int, int]:
        """The tokens of a phrase that begins here; equal where none does."""
        for word in words[start : start + _MAX_WORDS]:
            if word not in valences() and word not in _DETERMINERS:
                break
            start += 1  # "the new boiler", "a terrible smell"
        end = start
        while end < len(words) and end - start < _MAX_WORDS and self._is_noun(words[end]):
            if words[end].endswith("ing") and end > start:
                break  # "the waiting room", but not "the crew working"
            end += 1
        if end == start or not taken.isdisjoint(range(start, end)):
            return start, start
        return start, end

    def _is_noun(self, word: str) -> bool:
        return (
            word.isalpha()
            and word not in self._stop
            and word not in BARRIERS
            and word not in valences()
            and word not in _WORK_NOUNS
            and not word.endswith(("ly", "ed"))
        )


def _distinct(counts: Mapping[str, _CandidateCounts]) -> list[str]:
    """Phrases and last words, without the one that the other says better.

    "Heater" where most heaters are water heaters, and "kitchen sink" where most sinks are none.
    """
    longer: dict[str, list[str]] = {}
    for key in counts:
        if " " in key:
            longer.setdefault(key.rpartition(" ")[2], []).append(key)
    left = dict.fromkeys(counts)
    for last, phrases in longer.items():
        if last not in counts:  # forgotten for want of memory
            continue
        for key in phrases:
            most = counts[key].reviews >= _MOST * counts[last].reviews
            left.pop(last if most else key, None)
    return list(left)


def _singular(word: str) -> str:
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word  # noqa: PLR2004  gas


def _candidate(counts: _CandidateCounts) -> Candidate:
    """Named as most reviews spell it; a full name goes before a first name."""
    spelled = sorted(
        counts.spelled, key=lambda each: (-each.count(" "), -counts.spelled[each], each)
    )
    return Candidate(
        name=spelled[0],
        also=tuple(islice(_others(spelled), 3)),
        reviews=counts.reviews,
        quotation=counts.quotation,
        review_id=counts.review_id,
    )


def _others(spelled: Sequence[str]) -> Iterator[str]:
    seen = {spelled[0].casefold()}
    for each in spelled[1:]:
        if each.casefold() not in seen:
            seen.add(each.casefold())
            yield each


def _quotation(tokens: Tokens, start: int, end: int) -> str:
    """The sentence that has these tokens, or as much of it as a quotation may have."""
    words = tokens.words
    first, last = start, end
    while first and words[first - 1] not in ENDS and tokens.length(first - 1, end) <= MAX_QUOTE:
        first -= 1
    while last < len(words) and tokens.length(first, last + 1) <= MAX_QUOTE:
        last += 1
        if words[last - 1] in ENDS:
            break
    return tokens.cut(first, last)[:MAX_QUOTE].strip()
