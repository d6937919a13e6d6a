"""Labels reviews by rules (insights.md 4).

``Rules`` is created once for a business and its settings; ``read`` analyses a text clause by clause,
``label`` returns the labels of the result.
"""

import functools
import hashlib
from typing import Final, NamedTuple

import msgspec

from reviewsd.analysis.aspects import STRONG, ClauseMark, Sense, knowledge
from reviewsd.analysis.clause_rules import ClauseReading, decide
from reviewsd.analysis.labelling import Reading, labels_of
from reviewsd.analysis.labels import RULES, WORDLESS, Labels
from reviewsd.analysis.language import ENGLISH, is_english
from reviewsd.analysis.lexicon import valences
from reviewsd.analysis.names import is_name
from reviewsd.analysis.patterns import (
    BARRIER,
    MONEY,
    NUMBER,
    OTHER_WORD,
    Match,
    PatternMatcher,
    noun_forms,
    within_longer,
)
from reviewsd.analysis.presets import preset
from reviewsd.analysis.settings import InsightSettings, ServiceSetting
from reviewsd.analysis.text import BARRIERS, Tokens, clauses, tokenise
from reviewsd.analysis.wordlists import word_set
from reviewsd.domain.insights import slug
from reviewsd.domain.reviews import Business

_HIDES: Final = ClauseMark.HIDES  # a constant, because access to enum members is slow
_NAMED: Final = ("technicians", "service_areas")
_MAX_KINDS: Final = 50_000  # bounds the memory of words in no pattern
_MAX_WORD: Final = 30  # characters


class _Owned(NamedTuple):
    """The payload of a pattern that names an entity."""

    kind: str
    """``technicians``, ``service_areas``, ``services``, or ``with`` for ``ServiceSetting.with_``."""
    id: str


class _Kinds(dict[str, int]):
    """Maps tokens to kinds, with a bounded cache of words in no pattern."""

    def __missing__(self, word: str) -> int:
        if word.isalpha():
            if len(self) < _MAX_KINDS and len(word) < _MAX_WORD:
                self[word] = OTHER_WORD
            return OTHER_WORD
        if word[0] == "$":
            return self[MONEY]
        if word[0].isdigit():
            return self[NUMBER]
        return self.get(word.removesuffix("'s"), OTHER_WORD)


@functools.cache
def _matcher() -> PatternMatcher:
    file = knowledge()
    matcher = PatternMatcher(file.classes)
    for pattern, sense in file.patterns:
        matcher.add(pattern, sense)
    return matcher


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
        self.aspects = dict(knowledge().aspects) | {
            name: aspect.label for name, aspect in settings.aspects.items()
        }
        self.digest = _digest(business, settings)
        self._language = settings.language
        self._second = {service.id for service in self.services if service.with_}
        self._matcher = _matcher().copy()
        self._add_owned(settings)
        self._valences = valences()
        self._kinds = _Kinds(self._matcher.vocabulary(self._valences))
        self._kinds.update(dict.fromkeys(BARRIERS, BARRIER))

    def label(self, text: str | None, rating: int) -> Labels:
        """Return the labels of a review."""
        if text is None or not text.strip():
            return WORDLESS
        return labels_of(self.read(text, rating), rating)

    def read(self, text: str, rating: int) -> Reading:
        """Analyse a text clause by clause."""
        tokens = tokenise(text)
        words = tokens.words
        english = self._is_english(text, words)
        matches = self._matcher.find(list(map(self._kinds.__getitem__, words)))
        readings = [ClauseReading(clause) for clause in clauses(words)] if english else []
        entities: dict[str, dict[str, Match]] = {}
        if matches:
            self._sort(matches, tokens, readings, entities)
        if readings:
            self._weigh(readings, words, rating)
        return Reading(tokens, english, readings, entities)

    def _is_english(self, text: str, words: list[str]) -> bool:
        if self._language is not None:
            return self._language.partition("-")[0].lower() == ENGLISH
        return is_english(text, words)

    def _sort(
        self,
        matches: list[Match],
        tokens: Tokens,
        readings: list[ClauseReading],
        entities: dict[str, dict[str, Match]],
    ) -> None:
        """Assign each match to its clause or to the entities."""
        owned: list[tuple[Match, _Owned]] = []
        hides = [match for match in reversed(matches) if match.payload is _HIDES]
        reach = -1  # greatest end of the hiding matches so far
        rest = iter(readings)
        reading = next(rest, None)
        next_reading = next(rest, None)
        for match in matches:  # in the order of their starts
            payload = match.payload
            if isinstance(payload, _Owned):
                owned.append((match, payload))
                continue
            if reading is None or payload is _HIDES:
                continue
            while next_reading is not None and next_reading.clause.start <= match.start:
                reading, next_reading = next_reading, next(rest, None)
            while hides and hides[-1].start <= match.start:
                reach = max(reach, hides.pop().end)
            if isinstance(payload, Sense):
                if match.end > reach:
                    reading.senses.append((match, payload))
            elif isinstance(payload, ClauseMark) and not _compared(tokens.words, match, payload):
                reading.mark = payload
        if owned:
            self._enter(owned, tokens, entities, english=bool(readings))

    def _enter(
        self,
        owned: list[tuple[Match, _Owned]],
        tokens: Tokens,
        entities: dict[str, dict[str, Match]],
        *,
        english: bool,
    ) -> None:
        """Add the first mention of each entity."""
        seconds = set()
        inner = within_longer(match for match, owner in owned if owner.kind in _NAMED)
        for match, owner in owned:
            if owner.kind == "with":
                seconds.add(owner.id)
            elif owner.kind == "services":
                if english:
                    entities.setdefault(owner.kind, {}).setdefault(owner.id, match)
            elif (match.start, match.end) not in inner and is_name(tokens, match.start, match.end):
                entities.setdefault(owner.kind, {}).setdefault(owner.id, match)
        services = entities.get("services", {})
        for name in [n for n in services if n in self._second and n not in seconds]:
            del services[name]

    def _weigh(self, readings: list[ClauseReading], words: list[str], rating: int) -> None:
        """Assign the opinion words to their clauses, and decide each clause."""
        starts = [reading.clause.start for reading in readings[1:]]
        index, last = 0, len(starts)
        valences = map(self._valences.get, words)
        for opinion in [(at, value) for at, value in enumerate(valences) if value is not None]:
            while index < last and starts[index] <= opinion[0]:
                index += 1
            readings[index].words.append(opinion)
        for reading in readings:
            if reading.words or reading.senses:
                decide(reading, words, rating)

    def _add_owned(self, settings: InsightSettings) -> None:
        matcher = self._matcher
        for person in settings.technicians:
            for name in (person.name, *person.aliases):
                matcher.add_words(name, _Owned("technicians", person.id))
        for area, name in self.areas.items():
            matcher.add_words(name, _Owned("service_areas", area))
        for service in self.services:
            for text in service.words:
                self._add_service(text, _Owned("services", service.id))
            for text in service.with_:
                self._add_service(text, _Owned("with", service.id))
        for name, aspect in settings.aspects.items():
            senses = ((aspect.words, 0.0), (aspect.praise, STRONG), (aspect.complaint, -STRONG))
            for texts, strength in senses:
                for text in texts:
                    matcher.add_words(text, Sense(aspect=name, strength=strength))

    def _add_service(self, text: str, owned: _Owned) -> None:
        for form in _with_plural(text):
            self._matcher.add_words(form, owned)


def _with_plural(text: str) -> tuple[str, ...]:
    """Return a text, and the text with its last word in the plural."""
    first, blank, last = text.rpartition(" ")
    return tuple(first + blank + form for form in noun_forms(last)) if last.isalpha() else (text,)


def _digest(business: Business, settings: InsightSettings) -> bytes:
    """Return a digest of everything but the review that labels depend on."""
    parts = [RULES.encode(), settings.digest()]
    parts += [msgspec.json.encode((business.category, business.service_areas))]
    return hashlib.blake2b(b"\0".join(parts), digest_size=16).digest()


_COMPARING: Final = word_set("comparing")
_REPAIRING: Final = word_set("repairing")


def _compared(words: list[str], match: Match, mark: ClauseMark) -> bool:
    """Return whether another business is only mentioned in a comparison or as the next one to call."""
    if mark is not ClauseMark.OTHERS:
        return False
    before = words[max(0, match.start - 4) : match.start]
    return not (_COMPARING.isdisjoint(before) and _REPAIRING.isdisjoint(before))
