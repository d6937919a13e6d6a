"""Labels reviews by rules (insights.md 4).

``Rules`` is created once for a business and its settings; ``read`` analyses a text clause by clause,
``label`` returns the labels of the result.
"""

import hashlib
import itertools
import operator
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

import msgspec

from reviewsd.analysis.aspects import ASPECTS, STRONG, ClauseMark, Sense
from reviewsd.analysis.clause_rules import ClauseReading, decide
from reviewsd.analysis.labeling import Reading, labels_of
from reviewsd.analysis.labels import RULES, WORDLESS, Labels
from reviewsd.analysis.language import ENGLISH, Detector
from reviewsd.analysis.language_data import has_data
from reviewsd.analysis.lexicon import Lexicon
from reviewsd.analysis.matching import LanguageMatcher, OwnerPhrase, matcher_of
from reviewsd.analysis.names import (
    NOUN_SURNAMES,
    SURNAME_ARTICLES,
    TITLES,
    Naming,
    is_staff,
    person,
    place,
)
from reviewsd.analysis.patterns import Match, within_longer
from reviewsd.analysis.people import Mention
from reviewsd.analysis.presets import NOT_COUNTED, preset
from reviewsd.analysis.settings import InsightSettings, ServiceSetting
from reviewsd.analysis.text import Tokens, clauses, has_words, in_sentence, words_of
from reviewsd.domain.halves import Half, halves
from reviewsd.domain.insights import slug
from reviewsd.domain.reviews import Business, primary_language

# Constants, because access to enum members is slow.
_HIDES: Final = ClauseMark.HIDES
_WISHED: Final = ClauseMark.WISHED
_end: Final = operator.itemgetter(1)
_NAMED: Final = ("technicians", "service_areas")
_BUSINESS: Final = "business"
_LIKED_STARS: Final = 4
_DISLIKED_STARS: Final = 2


class _Owned(NamedTuple):
    """The payload of a pattern that names an entity."""

    kind: str
    """One of ``_NAMED``, ``_BUSINESS``, ``services``, or ``with`` for ``ServiceSetting.with_``."""
    id: str


class Rules:
    """The rules, for one business.

    Args:
        business: Has the category, which selects the preset of services, and the service areas.
        settings: The owner's settings.
    """

    def __init__(self, business: Business, settings: InsightSettings) -> None:
        self.services: tuple[ServiceSetting, ...] = (
            preset(business.category) if settings.services is None else settings.services
        )
        self.areas = {slug(name): name for name in business.service_areas if name.strip()}
        self.technicians = {person.id: person.name for person in settings.technicians}
        self.uncounted = frozenset(
            name for name, aspect in settings.aspects.items() if aspect.label == NOT_COUNTED
        )
        """The aspects of every trade that say nothing in this one."""
        self.digest = _digest(business, settings)
        words = words_of(business.name.partition(",")[0])
        self._name = [word.removesuffix("'s") for word in words]
        self._language = settings.language and primary_language(settings.language)
        self.language = self._language or primary_language(business.language)
        """The language in which reviews are quoted."""
        self._detector = Detector(primary_language(business.language), has_data)
        self._second = {service.id for service in self.services if service.with_}
        self._owned = tuple(self._owner_phrases(settings))
        self._preset = self.services if settings.services is None else ()
        self._matchers: dict[str, LanguageMatcher] = {}

    def label(self, text: str | None, rating: int) -> Labels:
        """Return the labels of a review."""
        return self.label_all([(text, rating)])[0] if has_words(text) else WORDLESS

    def label_all(self, texts: Sequence[tuple[str, int]]) -> list[Labels]:
        """Return the labels of reviews with words, from their texts and ratings."""
        ratings = [rating for _, rating in texts]
        return list(map(labels_of, self._read(texts), ratings))

    def read(self, text: str, rating: int) -> Reading:
        """Analyse a text clause by clause."""
        return self._read([(text, rating)])[0]

    def _read(self, texts: Sequence[tuple[str, int]]) -> list[Reading]:
        """Analyse texts with their ratings.

        All texts take a step before any takes the next one. A processor has the code and the tables of
        a step in its cache when it repeats it, which saves a tenth of the time.
        """
        matchers = [self._matcher_of(text) for text, _ in texts]
        found = [matcher.find(text) for matcher, (text, _) in zip(matchers, texts, strict=True)]
        readings = [
            self._sorted(tokens, matches, matcher.lexicon, rating)
            for matcher, (tokens, matches), (_, rating) in zip(matchers, found, texts, strict=True)
        ]
        for reading in readings:
            _weigh(reading)
        return readings

    def _matcher_of(self, text: str) -> LanguageMatcher:
        language = self._language or self._detector.language_of(text)
        matcher = self._matchers.get(language)
        if matcher is None:
            preset_words = _service_words(self._preset if language == ENGLISH else ())
            matcher = matcher_of(language, (*self._owned, *preset_words))
            self._matchers[language] = matcher
        return matcher

    def _sorted(
        self, tokens: Tokens, matches: list[Match], lexicon: Lexicon, rating: int
    ) -> Reading:
        """Return a text with each match in its clause or in the entities."""
        parts = clauses(tokens.words, lexicon.grammar)
        is_alone = len(parts) == 1
        readings = [ClauseReading(clause, rating, is_alone) for clause in parts]
        entities: dict[str, dict[str, list[Mention]]] = {}
        reading = Reading(tokens, lexicon, readings, entities, lexicon.language == self.language)
        if matches:
            self._sort(reading, matches)
        return reading

    def _sort(self, text: Reading, matches: list[Match]) -> None:
        """Assign each match to its clause or to the entities."""
        owned: list[tuple[int, int, _Owned]] = []
        hides = [(start, end) for start, end, payload in reversed(matches) if payload is _HIDES]
        begin = reach = -1  # of the hiding match with the greatest end so far
        rest = iter(text.clauses)
        reading = next(rest)  # a match is in a clause
        next_reading = next(rest, None)
        for start, end, payload in matches:  # in the order of their starts
            while next_reading is not None and next_reading.clause.start <= start:
                reading, next_reading = next_reading, next(rest, None)
            while hides and hides[-1][0] <= start:
                begin, reach = max((begin, reach), hides.pop(), key=_end)
            if isinstance(payload, Sense):
                is_hidden = start < reach and (end <= reach or begin < start)
                if not is_hidden or payload.aspect not in ASPECTS:  # the owner asked for it
                    reading.senses.append((start, end, payload))
            elif isinstance(payload, _Owned):
                owned.append((start, end, payload))
            elif (
                payload is not _HIDES
                and reading.mark is not _WISHED
                and isinstance(payload, ClauseMark)
                and not _compared(text, start, payload)
            ):
                reading.mark = payload
        if owned:
            _drop_names(text, owned)
            self._enter(owned, text.tokens, text.entities)

    def _enter(
        self,
        owned: Sequence[tuple[int, int, _Owned]],
        tokens: Tokens,
        entities: dict[str, dict[str, list[Mention]]],
    ) -> None:
        """Add the mentions of each entity."""
        seconds = set()
        namesakes = set()
        named = (*_NAMED, _BUSINESS)
        inner = within_longer(item for item in owned if item[2].kind in named)
        for start, end, owner in owned:
            if owner.kind == _BUSINESS:
                continue
            if owner.kind == "with":
                seconds.add(owner.id)
                continue
            is_meant = owner.kind == "services"
            if not is_meant and (start, end) in inner:
                continue
            if owner.kind == "service_areas":
                is_meant = place(tokens, start, end) is Naming.MEANT
            elif owner.kind == "technicians":
                naming = person(tokens, start, end, owner.id)
                if naming is Naming.NAMESAKE:
                    namesakes.add(owner.id)
                doubtful = owner.id in namesakes or self._is_business(tokens, start, owner.id)
                is_meant = naming is Naming.MEANT and (
                    not doubtful or end - start > 1 or is_staff(tokens, start)
                )
            if is_meant:
                entities.setdefault(owner.kind, {}).setdefault(owner.id, []).append(
                    Mention(start, end)
                )
        services = entities.get("services", {})
        for name in [n for n in services if n in self._second and n not in seconds]:
            del services[name]

    def _is_business(self, tokens: Tokens, at: int, owner: str) -> bool:
        """Return whether a token is the surname of a person and a word of the name of the business."""
        names = words_of(self.technicians[owner])
        word = tokens.words[at].removesuffix("'s")
        return len(names) > 1 and word == names[-1] and word in self._name

    def _owner_phrases(self, settings: InsightSettings) -> Iterator[OwnerPhrase]:
        """Yield what is looked up in every text, whatever its language."""
        for name, owner in _names(settings, self._name):
            yield OwnerPhrase(name, _Owned("technicians", owner), is_person=True)
        for area, name in self.areas.items():
            yield OwnerPhrase(name, _Owned("service_areas", area))
        for words in (self._name, *itertools.pairwise(self._name)):
            if len(words) > 1:
                is_whole = len(words) == len(self._name)
                yield OwnerPhrase(" ".join(words), _NAME if is_whole else _Owned(_BUSINESS, ""))
        for name, aspect in settings.aspects.items():
            senses = ((aspect.words, 0.0), (aspect.praise, STRONG), (aspect.complaint, -STRONG))
            for texts, strength in senses:
                for text in texts:
                    yield OwnerPhrase(text, Sense(aspect=name, strength=strength))
        if settings.services is not None:
            yield from _service_words(settings.services)


_NAME: Final = _Owned(_BUSINESS, "name")
"""The payload of the whole name of the business."""

_NOWHERE: Final[AbstractSet[int]] = frozenset()


def _drop_names(text: Reading, owned: Iterable[tuple[int, int, _Owned]]) -> None:
    """Drop the senses of words in the name of the business: "Vibe Rooms" says nothing of rooms.

    A name with an opinion word counts where it has a capital: "friendly service" may be just that.
    """
    tokens, valences = text.tokens, text.lexicon.valences
    for first, last, owner in owned:
        if owner == _NAME and (
            tokens.cut(last - 1, last)[:1].isupper()
            or valences.keys().isdisjoint(tokens.words[first:last])
        ):
            for reading in text.clauses:
                reading.senses[:] = [
                    sense for sense in reading.senses if not first <= sense[0] < sense[1] <= last
                ]


def _named(entities: Mapping[str, Mapping[str, Sequence[Mention]]]) -> AbstractSet[int]:
    """Return the tokens of names, because "Grace" and "Joy" are opinion words as well."""
    return {
        at
        for kind in _NAMED
        for mentions in entities.get(kind, {}).values()
        for mention in mentions
        for at in range(mention.start, mention.end)
    }


def _names(settings: InsightSettings, business: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the names of each person: name, aliases, given name, and surname with a title or an article.

    An article shows no person where the surname is a noun, or a word of the name of the business.
    """
    people = [(person.id, words_of(person.name), person.aliases) for person in settings.technicians]
    short: dict[str, set[str]] = {}
    for owner, words, aliases in people:
        plain_words = [word for word in words if word not in TITLES] or words
        names = plain_words[:1]  # empty for a name without letters
        if len(plain_words) > 1:
            surname = plain_words[-1]
            is_plain = surname in NOUN_SURNAMES or surname in business
            before = TITLES if is_plain else (*TITLES, *SURNAME_ARTICLES)
            names += [f"{word} {surname}" for word in before]
        for name in (*names, *(" ".join(words_of(alias)) for alias in aliases)):
            short.setdefault(name, set()).add(owner)
        yield " ".join(words), owner
    for name, owners in short.items():
        if len(owners) == 1:
            yield name, owners.pop()


def _service_words(services: Iterable[ServiceSetting]) -> Iterator[OwnerPhrase]:
    for service in services:
        for text in service.words:
            yield OwnerPhrase(text, _Owned("services", service.id), has_plural=True)
        for text in service.with_:
            yield OwnerPhrase(text, _Owned("with", service.id), has_plural=True)


def _weigh(text: Reading) -> None:
    """Assign the opinion words that are no names to their clauses, and decide each clause."""
    tokens, lexicon, readings, entities, _ = text
    words = tokens.words
    parts = halves(tokens.text)
    if parts:
        _assign_stars(readings, tokens, parts)
    names = _named(entities) if entities else _NOWHERE
    starts = [reading.clause.start for reading in readings[1:]]
    index, last = 0, len(starts)
    valences = lexicon.valences
    for at in itertools.compress(itertools.count(), map(valences.__contains__, words)):
        while index < last and starts[index] <= at:
            index += 1
        if at not in names:
            reading = readings[index]
            reading.opinions[at] = lexicon.valence(words, at, reading.clause.start)
    for reading in readings:
        if reading.opinions or reading.senses:
            decide(reading, words, lexicon)
    if parts:
        readings[:] = [reading for reading in readings if reading.stars]


def _assign_stars(readings: Iterable[ClauseReading], tokens: Tokens, parts: Sequence[Half]) -> None:
    """Give the clauses of each half its stars, and those of its heading none."""
    for reading in readings:
        begin = tokens.edges[2 * reading.clause.start]
        for part in parts:
            if part.start <= begin < part.end:
                reading.stars = _LIKED_STARS if part.liked else _DISLIKED_STARS
            elif part.begin <= begin < part.start:
                reading.stars = 0


def _digest(business: Business, settings: InsightSettings) -> bytes:
    """Return a digest of everything but the review that labels depend on."""
    parts = [RULES.encode(), settings.digest()]
    facts = (business.name, business.category, business.service_areas, business.language)
    parts += [msgspec.json.encode(facts)]
    return hashlib.blake2b(b"\0".join(parts), digest_size=16).digest()


def _compared(text: Reading, start: int, mark: ClauseMark) -> bool:
    """Return whether another business is only mentioned in a comparison or as the next one to call."""
    if mark is not ClauseMark.OTHERS:
        return False
    lexicon = text.lexicon
    words = text.tokens.words
    before = list(in_sentence(reversed(words[max(0, start - 4) : start])))
    return not (lexicon.comparing.isdisjoint(before) and lexicon.repairing.isdisjoint(before))
