"""Suggests entries of insights.yaml to the owner (insights.md 3 and 8, ``--suggest``).

Candidates are never published: customers name wives, dogs and rivals. Capital letters and adjacent
words indicate people; articles and adjacent words indicate services and aspects. A wrong candidate
costs the owner only a glance. Time and memory are bounded.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from msgspec import Struct

from reviewsd.analysis.labeling import Reading
from reviewsd.analysis.language import ENGLISH
from reviewsd.analysis.lexicon import lexicon_of
from reviewsd.analysis.prose import MAX_QUOTE
from reviewsd.analysis.rules import Rules
from reviewsd.analysis.settings import InsightSettings, ServiceSetting
from reviewsd.analysis.text import BARRIERS, ENDS, Tokens, has_words, words_of
from reviewsd.analysis.wordlists import word_set
from reviewsd.domain.halves import without_headings
from reviewsd.domain.reviews import Business, Review

MAX_REVIEWS: Final = 20_000  # the newest; five seconds
MAX_CANDIDATES: Final = 15  # of each kind

_MANY: Final = 50  # reviews with which one mention is not enough
_MAX_COUNTED: Final = 20_000  # candidates in memory
_MAX_WORDS: Final = 3  # of a phrase
_NEAR: Final = 4  # tokens between a phrase and a word for work, or an opinion
_PERSON: Final = 0.25  # least share of mentions with words for a person
_SERVICE: Final = 0.3  # least share of mentions with work
_ASPECT: Final = 0.4  # least share of mentions with an opinion
_MOST: Final = 0.6  # share of a word's mentions from which a phrase replaces it

_BEFORE: Final = word_set("person-before")
_AFTER: Final = word_set("person-after") | word_set("acts")
_WEAK: Final = word_set("weak-after")  # also follow other nouns: "Parking was"
_PLACE: Final = word_set("place-before")
_NEVER: Final = word_set("never-people")
_DETERMINERS: Final = word_set("determiners")
_WORK: Final = word_set("work")
_WORK_NOUNS: Final = word_set("work-nouns")


class Candidate(Struct, frozen=True, kw_only=True):
    """A name in the reviews that the settings do not have."""

    name: str
    also: tuple[str, ...]
    """Other spellings."""
    reviews: int
    quotation: str
    """A quotation from the newest review with the name."""
    review_id: str


class Suggestions(Struct, frozen=True, kw_only=True):
    """Candidates for insights.yaml, most mentioned first."""

    reviews: int
    """Number of the reviews that are read: those with words, in English."""
    total: int
    """Number of all reviews."""
    technicians: tuple[Candidate, ...]
    services: tuple[Candidate, ...]
    aspects: tuple[Candidate, ...]
    preset: tuple[ServiceSetting, ...]
    """The services of the business's category; a list in insights.yaml replaces them."""


@dataclass(slots=True)
class _CandidateCounts:
    """Numbers of reviews that mention one candidate."""

    quotation: str
    review_id: str
    reviews: int = 0
    first: int = 0
    """Reviews with words for a person; for a phrase, with work."""
    second: int = 0
    """Reviews with words for a place; for a phrase, with an opinion."""
    sure: int = 0
    """Reviews with strong evidence of a person."""
    spelled: dict[str, int] = field(default_factory=dict)


class _Candidates:
    """The counts of a bounded number of candidates."""

    def __init__(self) -> None:
        self.counts: dict[str, _CandidateCounts] = {}

    def add(self, mentions: "dict[str, _Mention]", review: Review, tokens: Tokens) -> None:
        """Count the mentions of a review."""
        for key, mention in mentions.items():
            counts = self.counts.get(key)
            if counts is None:
                if len(self.counts) >= _MAX_COUNTED:
                    self._evict()
                quotation = _quotation(tokens, mention.start, mention.end)
                counts = self.counts[key] = _CandidateCounts(quotation, review.id)
            counts.reviews += 1
            counts.first += mention.first
            counts.second += mention.second
            counts.sure += mention.sure
            spelled = mention.spelled
            counts.spelled[spelled] = counts.spelled.get(spelled, 0) + 1

    def _evict(self) -> None:
        """Remove the less frequent half of the candidates."""
        ranked = sorted(self.counts.items(), key=lambda item: -item[1].reviews)
        self.counts = dict(ranked[: _MAX_COUNTED // 2])

    def chosen(self, keys: Iterable[str], least: int) -> tuple[Candidate, ...]:
        """Return the most frequent candidates of ``keys`` with at least ``least`` reviews."""
        counts = self.counts
        often = [key for key in keys if counts[key].reviews >= least]
        often.sort(key=lambda key: (-counts[key].reviews, key))
        return tuple(_candidate(counts[key]) for key in often[:MAX_CANDIDATES])


@dataclass(slots=True)
class _Mention:
    """The first mention in a review, with the evidence of all its mentions."""

    start: int
    end: int
    spelled: str
    first: bool = False
    second: bool = False
    sure: bool = False


def suggest(
    reviews: Iterable[Review], business: Business, settings: InsightSettings
) -> Suggestions:
    """Return the candidates from reviews.

    Args:
        reviews: The reviews, newest first; the first ``MAX_REVIEWS`` are read.
        business: Its name and service areas are no candidates.
        settings: Configured names are no candidates.
    """
    rules = Rules(business, settings)
    people, phrases = _Candidates(), _Candidates()
    finder = _Finder(business, settings, rules)
    read = total = 0
    for review in islice(reviews, MAX_REVIEWS):
        total += 1
        text = review.text
        if not has_words(text):
            continue
        reading = rules.read(text, review.rating)
        if reading.lexicon.language != ENGLISH:
            continue
        read += 1
        tokens = reading.lexicon.tokenise(without_headings(text))
        people.add(finder.people(tokens), review, tokens)
        phrases.add(finder.phrases(reading), review, reading.tokens)
    least = 2 if read >= _MANY else 1
    named = [
        key
        for key, person in people.counts.items()
        if person.sure
        and person.first >= _PERSON * person.reviews
        and person.first > person.second
        and 2 * finder.lower.get(key, 0) <= person.reviews
    ]
    counts = phrases.counts
    distinct = _distinct(counts)
    worked_on = {key for key in distinct if counts[key].first >= _SERVICE * counts[key].reviews}
    judged = [key for key in distinct if counts[key].second >= _ASPECT * counts[key].reviews]
    return Suggestions(
        reviews=read,
        total=total,
        technicians=people.chosen(named, least),
        services=phrases.chosen(worked_on, least + 1),
        aspects=phrases.chosen((key for key in judged if key not in worked_on), least + 1),
        preset=() if settings.services is not None else rules.services,
    )


class _Finder:
    """Finds candidates in texts.

    Args:
        business: The business.
        settings: The owner's settings.
        rules: The rules for both.
    """

    def __init__(self, business: Business, settings: InsightSettings, rules: Rules) -> None:
        names = [business.name, *business.service_areas]
        for person in settings.technicians:
            names += [person.name, *person.aliases]
        self._excluded = {word for name in names for word in words_of(name)} | _NEVER
        lexicon = lexicon_of(ENGLISH)
        self._valences = lexicon.valences
        self._stop = (
            word_set("function")
            | _DETERMINERS
            | _WORK
            | lexicon.function_words
            | word_set("generic")
        )
        texts = [text for service in rules.services for text in service.words]
        texts += [text for aspect in settings.aspects.values() for text in aspect.words]
        self._configured = {word for text in texts for word in words_of(text)}
        self._common = self._stop | self._configured | self._valences.keys()
        self.lower: dict[str, int] = {}
        """Number of lower-case occurrences of words that may be names."""

    def people(self, tokens: Tokens) -> dict[str, _Mention]:
        """Return the possible people in a text, by first name."""
        words = tokens.words
        mentions: dict[str, _Mention] = {}
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
            mention = mentions.setdefault(word, _Mention(at, end, spelled))
            mention.first |= before in _BEFORE or after in _AFTER
            mention.second |= before in _PLACE
            inside = at > 0 and before not in ENDS | _DETERMINERS | _PLACE
            mention.sure |= inside or (after in _AFTER and after not in _WEAK)
            at = end
        return mentions

    def _is_surname(self, tokens: Tokens, at: int) -> bool:
        """Return whether a token is a surname after a first name: "Sam Ortiz", but not "Sam & Ben"."""
        between = tokens.text[tokens.edges[2 * at - 1] : tokens.edges[2 * at]]
        return between.isspace() and self._may_be_name(
            tokens, at, tokens.words[at].removesuffix("'s")
        )

    def _may_be_name(self, tokens: Tokens, at: int, word: str) -> bool:
        words = tokens.words
        if len(word) < 3 or not word.isalpha() or word in self._excluded:  # noqa: PLR2004  Al, Jo
            return False
        spelled = tokens.cut(at, at + 1).removesuffix("'s").removesuffix("\u2019s")
        if not spelled[0].isupper():
            if word in self.lower or len(self.lower) < _MAX_COUNTED:
                self.lower[word] = self.lower.get(word, 0) + 1
            return False
        if spelled.isupper() or word in self._common:
            return False
        if _singular(word) != word and _singular(word) in _BEFORE:  # "Hosts"
            return False
        if (at and words[at - 1] not in ENDS) or words[at].endswith("'s"):
            return True
        if at + 1 == len(words):
            return False
        return words[at + 1] in _AFTER or self._may_be_name(tokens, at + 1, words[at + 1])

    def phrases(self, reading: Reading) -> dict[str, _Mention]:
        """Return the possible services and aspects in a text, by their words in the singular."""
        words = reading.tokens.words
        matched = {
            at
            for clause in reading.clauses
            for start, end, _ in clause.senses
            for at in range(start, end)
        }
        opinions = {at for clause in reading.clauses for at in clause.opinions}
        mentions: dict[str, _Mention] = {}
        for at, word in enumerate(words):
            if word not in _DETERMINERS:
                continue
            start, end = self._noun(words, at + 1, matched)
            if start == end:
                continue
            near = range(max(0, start - _NEAR), min(len(words), end + _NEAR))
            before = words[max(0, at - _NEAR) : at]
            worked_on = not _WORK.isdisjoint(before) or (
                end < len(words) and words[end] in _WORK_NOUNS
            )
            judged = any(index in opinions for index in near)
            for first in {start, end - 1}:  # the phrase, and its last word alone
                phrase = words[first:end]
                if all(not self._configured.isdisjoint((w, _singular(w))) for w in phrase):
                    continue
                key = " ".join([*phrase[:-1], _singular(phrase[-1])])
                mention = mentions.setdefault(key, _Mention(first, end, " ".join(phrase)))
                mention.first |= worked_on
                mention.second |= judged
        return mentions

    def _noun(self, words: Sequence[str], start: int, matched: set[int]) -> tuple[int, int]:
        """Return begin and end of the phrase that begins here; both are equal without a phrase."""
        for word in words[start : start + _MAX_WORDS]:
            if word not in self._valences and word not in _DETERMINERS:
                break
            start += 1  # "the new boiler", "a terrible smell"
        end = start
        while end < len(words) and end - start < _MAX_WORDS and self._is_noun(words[end]):
            if words[end].endswith("ing") and end > start:
                break  # "the waiting room", but not "the crew working"
            end += 1
        if end == start or not matched.isdisjoint(range(start, end)):
            return start, start
        return start, end

    def _is_noun(self, word: str) -> bool:
        return (
            word.isalpha()
            and word not in self._stop
            and word not in BARRIERS
            and word not in self._valences
            and word not in _WORK_NOUNS
            and not word.endswith(("ly", "ed"))
        )


def _distinct(counts: Mapping[str, _CandidateCounts]) -> list[str]:
    """Return the keys without duplicates: a phrase replaces its last word or vice versa.

    "Heater" is removed if most heaters are water heaters, "kitchen sink" if most sinks are not.
    """
    longer: dict[str, list[str]] = {}
    for key in counts:
        if " " in key:
            longer.setdefault(key.rpartition(" ")[2], []).append(key)
    keys = dict.fromkeys(counts)
    for last, phrases in longer.items():
        if last not in counts:  # it was evicted
            continue
        for key in phrases:
            is_most = counts[key].reviews >= _MOST * counts[last].reviews
            keys.pop(last if is_most else key, None)
    return list(keys)


def _singular(word: str) -> str:
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word  # noqa: PLR2004  gas


def _candidate(counts: _CandidateCounts) -> Candidate:
    """Return a candidate in its most frequent spelling; full names precede first names."""
    spellings = sorted(
        counts.spelled, key=lambda name: (-name.count(" "), -counts.spelled[name], name)
    )
    return Candidate(
        name=spellings[0],
        also=tuple(islice(_further_names(spellings), 3)),
        reviews=counts.reviews,
        quotation=counts.quotation,
        review_id=counts.review_id,
    )


def _further_names(spellings: Sequence[str]) -> Iterator[str]:
    keys = {spellings[0].casefold()}
    for spelling in spellings[1:]:
        if spelling.casefold() not in keys:
            keys.add(spelling.casefold())
            yield spelling


def _quotation(tokens: Tokens, start: int, end: int) -> str:
    """Return the sentence around tokens, shortened to the greatest length of a quotation."""
    words = tokens.words
    first, last = start, end
    while first and words[first - 1] not in ENDS and tokens.length(first - 1, end) <= MAX_QUOTE:
        first -= 1
    while last < len(words) and tokens.length(first, last + 1) <= MAX_QUOTE:
        last += 1
        if words[last - 1] in ENDS:
            break
    return tokens.cut(first, last)[:MAX_QUOTE].strip()
