"""A given insights.json without the words of withheld reviews (corrections.md).

Somebody else made the file, so nothing says which review a sentence is from. A string goes that has four words
in a row of a withheld text, or is shorter and stands in no review that is shown, or names an author who is not
to be named. Of ``per_review`` the entries of withheld reviews go, and of all lists their ids.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

import msgspec
from msgspec import Raw

from reviewsd.domain.corrected import Withheld

_RUN: Final = 4
"""Words in a row by which a text is recognized."""

_PLAIN: Final = frozenset(
    {"version", "generated_at", "model", "earliest", "latest", "trend", "month", "sentiment"}
)
"""Members whose strings are no words of a review."""

_NAMES: Final = frozenset({"id", "name", "label", "aliases"})
_VOCABULARY: Final = frozenset({"aspects", "services", "problems", "service_areas", "topics"})
"""Lists whose names are the owner's vocabulary; those of technicians are words of reviews."""

_word = re.compile(r"\w+")
_objects = msgspec.json.Decoder(dict[str, Raw])
_lists = msgspec.json.Decoder(list[Raw])
_encode = msgspec.json.Encoder().encode

IsWithheld = Callable[[str], bool]


def remove_words(insights: bytes, withheld: Withheld, texts: Callable[[], Iterable[str]]) -> bytes:
    """Return a valid insights.json without what withheld reviews say.

    Args:
        insights: The file.
        withheld: The reviews that are withheld, and the authors.
        texts: Yields the texts of the reviews that are shown.
    """
    insights = insights.removeprefix(b"\xef\xbb\xbf")
    hidden = [_words(text) for text in withheld.texts]
    runs = {run for words in hidden for run in _runs(words)}
    spaced = [_spaced(words) for words in hidden]
    names = [_spaced(words) for words in map(_words, withheld.names) if len(words) > 1]

    short: set[str] = set()

    def note_short(text: str) -> bool:
        words = _words(text)
        if 0 < len(words) < _RUN and any(_spaced(words) in each for each in spaced):
            short.add(_spaced(words))
        return False

    _Cleaner(frozenset(), note_short).clean(insights, "")
    if short:
        for text in texts():
            shown = _spaced(_words(text))
            short -= {each for each in short if each in shown}

    def is_withheld(text: str) -> bool:
        words = _words(text)
        phrase = _spaced(words)
        return (
            not runs.isdisjoint(_runs(words))
            or phrase in short
            or any(name in phrase for name in names)
        )

    return _Cleaner(withheld.ids, is_withheld).clean(insights, "") or b"{}"


def _words(text: str) -> list[str]:
    return _word.findall(text.casefold())


def _spaced(words: list[str]) -> str:
    """Words with a blank around each, so that a part of a word is not found."""
    return f" {' '.join(words)} "


def _runs(words: list[str]) -> Iterator[tuple[str, ...]]:
    """The runs of four words of a text."""
    return zip(*(words[start:] for start in range(_RUN)), strict=False)


class _Cleaner:
    """Leaves out of JSON what is withheld; numbers keep their spelling.

    Args:
        ids: The reviews that are withheld.
        is_withheld: Judges a string.
    """

    def __init__(self, ids: frozenset[str], is_withheld: IsWithheld) -> None:
        self._ids = ids
        self._is_withheld = is_withheld

    def clean(self, raw: bytes | Raw, member: str, *, named: bool = False) -> bytes | None:
        """Return a value, or None where nothing is left of it.

        Args:
            raw: The value.
            member: The closest member that it is of.
            named: Whether it belongs to an entity of the owner's vocabulary.
        """
        text = bytes(raw).strip()
        match text[:1]:
            case b"{":
                return self._object(text, named=named)
            case b"[":
                in_vocabulary = named or member in _VOCABULARY
                items = [
                    self.clean(each, member, named=in_vocabulary) for each in _lists.decode(text)
                ]
                return b"[" + b",".join(each for each in items if each is not None) + b"]"
            case b'"' if member not in _PLAIN:
                value = msgspec.json.decode(text, type=str)
                if member.endswith("_ids"):
                    return None if value in self._ids else text
                is_name = named and member in _NAMES | _VOCABULARY
                return None if not is_name and self._is_withheld(value) else text
        return text

    def _object(self, text: bytes, *, named: bool) -> bytes | None:
        members = []
        for name, raw in _objects.decode(text).items():
            if name == "per_review":
                entries = _objects.decode(raw)
                kept = {key: value for key, value in entries.items() if key not in self._ids}
                members.append(_encode(name) + b":" + _encode(kept))
                continue
            value = self.clean(raw, name, named=named)
            if value is not None:
                members.append(_encode(name) + b":" + value)
            elif name in _WHOLE:
                return None
        return b"{" + b",".join(members) + b"}"


_WHOLE: Final = frozenset({"question", "answer", "id", "name", "label"})
"""Members without which an object says nothing: it goes with them."""
