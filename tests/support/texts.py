"""Texts that measure like real reviews, without being any.

The speed of a search depends on them: on how long they are, how often a substring occurs and how
rare the rarest words are. Lengths are log-normal. A sentence is a stock phrase, a run of words in
which function words and others take turns, or the first and then the second; no sentence of its own
makes up more than a few per cent of the texts.
"""

import random

import msgspec

from tests.support import vocabulary
from tests.support.vocabulary import pick

_MEDIAN_LENGTH, _LENGTH_SIGMA = 167, 0.72  # characters aimed at; sigma of their logarithm
_MAX_LENGTH = 5000
_FOREIGN = 0.05  # share of the texts in another language
_PRAISED = {5: 0.97, 4: 0.82, 3: 0.5, 2: 0.25, 1: 0.08}  # share of the phrases, by stars
_WORDS_AT_ONCE = 16_384


class AspectMention(msgspec.Struct, frozen=True):
    """An aspect that a text speaks of."""

    id: str
    sentiment: str
    phrase: str


class Texts:
    """Writes what customers say."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._words: list[str] = []
        self._next = 0

    def write(
        self, rating: int, technicians: list[str], services: list[str]
    ) -> tuple[str, list[AspectMention]]:
        """A text that names these technicians and services, and the aspects it speaks of."""
        rng = self._rng
        length = min(int(rng.lognormvariate(0, _LENGTH_SIGMA) * _MEDIAN_LENGTH), _MAX_LENGTH)
        openings = [pick(rng, vocabulary.NAMED) % name.split()[0] for name in technicians]
        openings += [pick(rng, vocabulary.SERVICED) % label for label in services]
        if rng.random() < _FOREIGN:
            return self._foreign(length, openings[:1]), []
        mentions: dict[str, AspectMention] = {}
        parts: list[str] = []
        while length > 0 or openings:
            opening = openings.pop(0) if openings else self._phrase(rating, mentions)
            sentence = self._sentence(opening, length)
            length -= len(sentence) + 2
            parts += sentence, self._stop()
        return self._finish("".join(parts).rstrip()), list(mentions.values())

    def _phrase(self, rating: int, mentions: dict[str, AspectMention]) -> str:
        """A stock phrase for every second sentence; each aspect once."""
        rng = self._rng
        if rng.random() < 0.5:
            return ""
        praises = rng.random() < _PRAISED[rating]
        aspect, phrase = pick(rng, vocabulary.PRAISE if praises else vocabulary.COMPLAINTS)
        if aspect in mentions:
            return ""
        opinion = "positive" if praises else "negative"
        mentions[aspect] = AspectMention(aspect, "neutral" if rating == 3 else opinion, phrase)
        return phrase

    def _sentence(self, opening: str, room: int) -> str:
        rng = self._rng
        size = 3 + int(rng.random() * 13)
        if opening and rng.random() < 0.3:
            sentence = opening
        else:
            words = self._take(max(2, min(size, (room - len(opening)) // 6)))
            sentence = " ".join([opening, *words] if opening else words).rstrip(",")
        if rng.random() < 0.015:
            return sentence.upper()
        return sentence[0].upper() + sentence[1:]

    def _take(self, count: int) -> list[str]:
        """The next words of an endless run in which function words and others take turns."""
        if self._next + count > len(self._words):
            half = _WORDS_AT_ONCE // 2
            self._words = [""] * _WORDS_AT_ONCE
            self._words[0::2] = vocabulary.glue_words().many(self._rng, half)
            self._words[1::2] = vocabulary.content_words().many(self._rng, half)
            for position in range(1, _WORDS_AT_ONCE, 26):
                self._words[position] += ","
            self._next = 0
        start, self._next = self._next, self._next + count
        return self._words[start : start + count]

    def _stop(self) -> str:
        chance = self._rng.random()
        if chance < 0.74:
            return ". "
        if chance < 0.92:
            return "! "
        if chance < 0.96:
            return ".\n\n"
        return "!!! " if chance < 0.98 else "... "

    def _finish(self, text: str) -> str:
        """The text as some people type: no capitals, curly apostrophes, emoji."""
        rng = self._rng
        chance = rng.random()
        if chance < 0.06:
            text = text.lower().rstrip(".")
        elif chance < 0.2:
            text = text.replace("'", "’")  # noqa: RUF001 - what telephones type
        if rng.random() < 0.09:
            text = f"{text} {pick(rng, vocabulary.EMOJI)}"
        return text

    def _foreign(self, length: int, openings: list[str]) -> str:
        rng = self._rng
        divider, words = pick(rng, vocabulary.LANGUAGES)
        sentence = divider.join(rng.choices(words, k=max(2, length // 7)))
        return ". ".join([*openings, sentence[0].upper() + sentence[1:]]) + "!"
