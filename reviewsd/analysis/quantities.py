"""Parses times of day, durations and amounts of money in the words of a text (insights.md 4, rule 3)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

KINDS: Final = frozenset({"time", "duration", "amount"})
"""The kinds of quantities: minutes from midnight or noon, minutes, and money."""

_CURRENCIES: Final = "$\u00a3\u20ac"
_BLANKS: Final = " \u00a0"
_MINUTES: Final = (5, 10, 20, 25)  # before "past" and "to" an hour; others are hours: "8 to 10"
_YEARS: Final = range(1950, 2060)
_HOUR: Final = 60  # minutes
_HOURS: Final = 24


class Quantities:
    """The words of numbers in one language.

    Args:
        words: The lists of a language file. ``values`` are the numbers by their words, ``unit-minutes`` the
            units of time, ``clock-shifts`` the minutes that words before an hour add ("half past"),
            ``clock-past`` and ``clock-to`` the words between minutes and an hour, ``clock-before`` further
            words before an hour, ``clock-words`` those after it, ``articles`` those that are a number
            before a unit ("an hour"), ``halves`` those that halve a unit ("half an hour"), ``range-words`` those between two numbers, ``after-number`` those after a
            number without a unit, and ``currencies`` those after an amount.
    """

    def __init__(self, words: Mapping[str, Iterable[str]]) -> None:
        self._values = _numbers(words.get("values", ()))
        self._articles = frozenset(words.get("articles", ()))
        self._units = _numbers(words.get("unit-minutes", ()))
        self._shifts = _numbers(words.get("clock-shifts", ()))
        self._past = frozenset(words.get("clock-past", ()))
        self._to = frozenset(words.get("clock-to", ()))
        self._clock = frozenset(words.get("clock-words", ()))
        self._halves = frozenset(words.get("halves", ()))
        self._between = self._past | self._to
        self._before_hour = self._between | frozenset(words.get("clock-before", ()))
        self._range = frozenset(words.get("range-words", ()))
        self._after = frozenset(words.get("after-number", ()))
        self._currencies = frozenset(words.get("currencies", ()))

    def values(
        self, words: Sequence[str], start: int, end: int, kinds: frozenset[str]
    ) -> tuple[int, dict[str, float]]:
        """Return the first number of the tokens ``start`` to ``end``, and its value for each possible kind.

        A duration, and a number without a unit that may be one, has its number as ``count`` as well.

        Args:
            words: The tokens of the text.
            start: The first token that may be the number.
            end: The token after the last one.
            kinds: The kinds that the words before the number allow.
        """
        at = next((at for at in range(start, end) if self._is_number(words, at)), -1)
        if at < 0:
            return at, {}
        at = self._end_of_range(words, at)
        word, after = words[at], self._word(words, at + 1)
        number = self._value(word)
        if word[0] in _CURRENCIES or word[-1] in _CURRENCIES or after in self._currencies:
            found = {"amount": number}
        elif after in self._units:
            if self._word(words, at - 1) in self._halves:  # half an hour
                number *= 0.5
            elif not self._halves.isdisjoint(words[at + 2 : at + 5]):  # two hours and a half
                number += 0.5
            found = {"duration": number * self._units[after], "count": number}
        elif after in self._clock or ":" in word:
            found = {"time": self._time(words, at)}
        elif after in self._after:
            found = {"time": self._time(words, at)}
            if self._word(words, at - 1) not in self._before_hour and number not in _YEARS:
                found |= {"amount": number, "count": number}
        else:
            found = {}
        return at, {
            kind: value
            for kind, value in found.items()
            if value >= 0 and ("duration" if kind == "count" else kind) in kinds
        }

    def _is_number(self, words: Sequence[str], at: int) -> bool:
        word = self._word(words, at)
        if word in self._articles:
            return self._word(words, at + 1) in self._units
        return word in self._values or word[0].isdigit() or word[0] in _CURRENCIES

    def _word(self, words: Sequence[str], at: int) -> str:
        return words[at] if 0 <= at < len(words) else "."

    def _end_of_range(self, words: Sequence[str], at: int) -> int:
        """Return the second number of "8 to 10" and "8-10"."""
        if self._is_number(words, at + 1):
            return at + 1
        if self._word(words, at + 1) in self._range and self._is_number(words, at + 2):
            return at + 2
        return at

    def _value(self, word: str) -> float:
        """Return the number of a word, -1 if it has none."""
        if word in self._values:
            return self._values[word]
        digits = word.strip(_CURRENCIES + _BLANKS).replace(":", ".")
        whole, point, rest = digits.replace(",", ".").rpartition(".")
        if point and len(rest) == len("000"):
            digits = whole.replace(".", "").replace(",", "") + rest
        elif point:
            digits = f"{whole.replace('.', '').replace(',', '')}.{rest}"
        return float(digits) if digits.replace(".", "", 1).isdecimal() else -1

    def _time(self, words: Sequence[str], at: int) -> float:
        """Return the minutes of a time of day, -1 if it is none."""
        hour, minutes = divmod(self._value(words[at]), 1)
        minutes = round(minutes * 100)  # of "9:30", which is 9.3
        if not 0 <= hour <= _HOURS or minutes >= _HOUR:
            return -1
        before, number = self._word(words, at - 1), self._value(self._word(words, at - 2))
        shift = self._shifts.get(f"{self._word(words, at - 2)}_{before}")  # "half past"
        if shift is not None:
            minutes += shift
        elif number in _MINUTES and before in self._between:
            minutes += number if before in self._past else -number
        else:
            minutes += self._shifts.get(before, 0)
        return hour * _HOUR + minutes


def _numbers(pairs: Iterable[str]) -> dict[str, float]:
    return {word: float(number) for word, _, number in (pair.partition("=") for pair in pairs)}
