"""Removes the words of withheld reviews from insights.json (corrections.md).

Another program made the file, so the review of a sentence is unknown. A string is removed if it has
four consecutive words of a withheld text, if it is shorter and occurs in no shown review, or if it
names a hidden author; so is a member whose name is not one of ours. The entries of withheld reviews and their
ids in lists are removed as well.
"""

from collections.abc import Callable, Iterable
from typing import Final

import msgspec
from msgspec import Raw, Struct

from reviewsd.api.texts import RUN, runs_of, words_of
from reviewsd.domain import insights as insight_types
from reviewsd.domain.corrected import Withheld
from reviewsd.domain.data_errors import member
from reviewsd.domain.json_file import BOM

_PLAIN: Final = frozenset(
    {"version", "generated_at", "model", "earliest", "latest", "trend", "month", "sentiment"}
)
"""Members with strings that never quote a review."""

_NAMES: Final = frozenset({"id", "name", "label", "aliases"})
_VOCABULARY: Final = frozenset({"aspects", "services", "problems", "service_areas", "topics"})
"""Lists with names in the owner's words. Names of technicians come from reviews."""

_MEMBERS: Final = frozenset(
    name
    for kind in vars(insight_types).values()
    if isinstance(kind, type) and issubclass(kind, Struct)
    for name in kind.__struct_encode_fields__
)
"""The names of members that quote no review."""

_objects = msgspec.json.Decoder(dict[str, Raw])
_lists = msgspec.json.Decoder(list[Raw])
_encode = msgspec.json.Encoder().encode

IsWithheld = Callable[[str], bool]


def remove_words(
    insights: bytes,
    withheld: Withheld,
    texts: Callable[[], Iterable[str]],
    removed: Callable[[str], None] = lambda _: None,
) -> bytes:
    """Return a valid insights.json without the words of withheld reviews.

    Args:
        insights: The file.
        withheld: The withheld reviews and authors.
        texts: Yields the texts of the shown reviews.
        removed: Called with the JSON path of everything that is left out.
    """
    insights = insights.removeprefix(BOM)
    hidden = [words_of(text) for text in withheld.texts]
    runs = {run for words in hidden for run in runs_of(words)}
    spaced = [_spaced(words) for words in hidden]
    names = [_spaced(words) for words in map(words_of, withheld.names) if len(words) > 1]

    short: set[str] = set()

    def collect_short(text: str) -> bool:
        words = words_of(text)
        if 0 < len(words) < RUN and any(_spaced(words) in phrase for phrase in spaced):
            short.add(_spaced(words))
        return False

    _Cleaner(frozenset(), collect_short, lambda _: None).clean(insights, "")
    if short:
        for text in texts():
            shown_words = _spaced(words_of(text))
            short -= {phrase for phrase in short if phrase in shown_words}

    def is_withheld(text: str) -> bool:
        words = words_of(text)
        phrase = _spaced(words)
        return (
            not runs.isdisjoint(runs_of(words))
            or phrase in short
            or any(name in phrase for name in names)
        )

    return _Cleaner(withheld.ids, is_withheld, removed).clean(insights, "") or b"{}"


def _spaced(words: list[str]) -> str:
    """Join words with blanks on both sides, so that only complete words match."""
    return f" {' '.join(words)} "


class _Cleaner:
    """Removes withheld strings from JSON, and keeps the spelling of numbers.

    Args:
        ids: The ids of the withheld reviews.
        is_withheld: Returns whether to remove a string.
        removed: Called with the JSON path of each string and entry that is removed.
    """

    def __init__(
        self, ids: frozenset[str], is_withheld: IsWithheld, removed: Callable[[str], None]
    ) -> None:
        self._ids = ids
        self._is_withheld = is_withheld
        self._removed = removed
        self._path: list[str | int] = []

    def clean(self, raw: bytes | Raw, name: str, *, named: bool = False) -> bytes | None:
        """Return the clean value, or None to remove it.

        Args:
            raw: The value.
            name: The name of the closest member around it.
            named: Whether it belongs to an entity of the owner's vocabulary.
        """
        text = bytes(raw).strip()
        match text[:1]:
            case b"{":
                return self._object(text, named=named)
            case b"[":
                return self._list(text, name, named=named or name in _VOCABULARY)
            case b'"' if name not in _PLAIN:
                value = msgspec.json.decode(text, type=str)
                if name.endswith("_ids"):
                    is_removed = value in self._ids
                else:
                    is_name = named and name in _NAMES | _VOCABULARY
                    is_removed = not is_name and self._is_withheld(value)
                if is_removed:
                    self._removed(_path_of(self._path))
                    return None
        return text

    def _list(self, text: bytes, name: str, *, named: bool) -> bytes:
        items = []
        for index, raw in enumerate(_lists.decode(text)):
            self._path.append(index)
            value = self.clean(raw, name, named=named)
            self._path.pop()
            if value is not None:
                items.append(value)
        return b"[" + b",".join(items) + b"]"

    def _object(self, text: bytes, *, named: bool) -> bytes | None:
        members = []
        for name, raw in _objects.decode(text).items():
            self._path.append(name)
            value: bytes | None
            if name not in _MEMBERS and self._is_withheld(name):
                self._removed(_path_of(self._path))
                value = None
            elif name == "per_review":
                value = self._entries(raw)
            else:
                value = self.clean(raw, name, named=named)
            self._path.pop()
            if value is not None:
                members.append(_encode(name) + b":" + value)
            elif name in _REQUIRED:
                return None
        return b"{" + b",".join(members) + b"}"

    def _entries(self, raw: Raw) -> bytes:
        """Return the entries of ``per_review`` without those of withheld reviews."""
        entries = _objects.decode(raw)
        for review_id in filter(self._ids.__contains__, entries):
            self._removed(_path_of([*self._path, review_id]))
        return _encode({name: entry for name, entry in entries.items() if name not in self._ids})


def _path_of(steps: Iterable[str | int]) -> str:
    """Return a JSON path such as ``$.faq[2].answer``."""
    path = "$"
    for step in steps:
        path = f"{path}[{step}]" if isinstance(step, int) else member(path, step)
    return path


_REQUIRED: Final = frozenset({"question", "answer", "id", "name", "label"})
"""Members whose object is removed with them."""
