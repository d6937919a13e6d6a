"""Signs: the members of a row that say whether something of it is public, by their names and values."""

import functools
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from reviewsctl.importing.values import is_nothing, normal, word, yes_or_no
from reviewsctl.importing.vocabulary.words import GUESSES, PUBLICITY
from reviewsd.domain.halves import DISLIKED, LIKED

ANY: Final = "*"
"""``--set public=COLUMN=*``: the column does not say which reviews are public."""

_MAX_WORDS = 15  # of a name, which may be the question of a form
_DATE_DIGITS = 4  # a date has a year
_NAMES = frozenset(name for names in GUESSES.values() for name in names) | {*LIKED, *DISLIKED}


class Subject(Enum):
    """The subject of a sign."""

    REVIEW = auto()
    REPLY = auto()
    NAME = auto()
    """The reviewer's name."""


class Sense(Enum):
    """The meaning of a sign that is set."""

    PUBLIC = auto()
    WITHHELD = auto()
    STATUS = auto()
    """Only a word can say it."""
    DOUBTFUL = auto()
    """A platform may still publish what was reported to it."""
    LIKELY = auto()
    """Only its values look like a status, or are yes and no: none holds a review back, but they are asked about."""
    KIND = auto()
    """The row may be something else than a review that the business received."""


@dataclass(frozen=True, slots=True)
class Sign:
    """A member of a row that says whether something is public."""

    name: str
    subject: Subject
    sense: Sense
    is_presence: bool = False
    """Whether any value sets it: a date, a person, a reason."""
    public: frozenset[str] | None = None
    """The values that are public, where the platform names them: no other is."""
    answers: frozenset[str] = frozenset()
    """Values that the operator calls public; what is not understood beside them is not."""

    def reads(self, value: object) -> bool | None:
        """Return whether a value says that its subject is public; None if it is not understood."""
        if self.is_presence and isinstance(value, str) and value[:_DATE_DIGITS].isdecimal():
            text = "" if is_nothing(value) else value[:_DATE_DIGITS]  # dates need no closer look
        else:
            text = (
                normal(str(value)) if isinstance(value, list | dict) else normal(word(value) or "")
            )
        if ANY in self.answers or text in self.answers:
            return True
        if self.public is not None:
            return text in self.public
        is_public = self._reads(value, text)
        return False if is_public is None and self.answers else is_public

    def _reads(self, value: object, text: str) -> bool | None:
        if self.sense is Sense.KIND:
            return (
                text not in PUBLICITY.sets["not_received"]
                and text not in PUBLICITY.sets["withheld"]
            )
        if is_nothing(value):
            if self.sense in (Sense.WITHHELD, Sense.DOUBTFUL, Sense.LIKELY):
                return True
            if self.sense is Sense.PUBLIC and self.is_presence:
                return self.subject is Subject.REPLY  # a reply may be without its date
            return None
        if text in PUBLICITY.sets["withheld"]:
            return None if self.sense is Sense.LIKELY else False
        if text in PUBLICITY.sets["public"] or text in PUBLICITY.sets["says_nothing"]:
            return True
        return self._reads_flag(value, text)

    def _reads_flag(self, value: object, text: str) -> bool | None:
        is_set = yes_or_no(value)
        if text[:_DATE_DIGITS].isdecimal() and len(text) >= _DATE_DIGITS:
            is_set = True
        if is_set is None and (self.is_presence or sum(map(str.isdigit, text)) >= _DATE_DIGITS):
            is_set = True
        if is_set is None or self.sense in (Sense.STATUS, Sense.LIKELY):
            return None
        if self.sense is Sense.DOUBTFUL:
            return None if is_set else True
        return is_set is (self.sense is Sense.PUBLIC)


def sign_of(name: str) -> Sign | None:
    """Return what a member is a sign of, by its name; None if it is none.

    Args:
        name: Of a column, or the names of nested objects joined by dots.
    """
    *around, own = _components(name)
    last = _without_places(normal(own).split())
    words = [*_without_places(normal(" ".join(around)).split()), *last]
    if not last or len(last) > _MAX_WORDS or last[-1] in PUBLICITY.sets["no_signs"]:
        return None
    is_presence = not PUBLICITY.sets["presence"].isdisjoint(last)
    sense = _sense([word for word in last if word not in PUBLICITY.sets["presence"]])
    if last[0] in PUBLICITY.sets["to_be"] and (
        sense is Sense.PUBLIC or any(word.startswith(PUBLICITY.lists["check"]) for word in last)
    ):
        sense = Sense.DOUBTFUL  # "to be approved": it is not yet, or it was
    subject = None if sense is None else _subject(words, sense)
    if sense is None or subject is None:
        return None
    if sense is Sense.STATUS and not PUBLICITY.sets["reasons"].isdisjoint(last):
        sense = Sense.DOUBTFUL  # what was moderated for a reason
    if sense in (Sense.STATUS, Sense.KIND) and is_presence:
        return None  # the date and the author of a change
    return Sign(name, subject, sense, is_presence)


def may_be_flag(name: str) -> bool:
    """Return whether yes and no in a column may be about publication, though its name does not say so."""
    words = normal(name).split()
    is_known = any(word.startswith(PUBLICITY.lists["other_flags"]) for word in words)
    return not is_known and not is_thing(name) and normal(name) not in _NAMES


def is_withheld_name(name: str) -> bool:
    """Return whether a list, a sheet or a file is called after reviews that are held back.

    Not after an archive, where reviews may be that are public and old.
    """
    words = normal(name.partition(".")[0]).split()
    if not PUBLICITY.sets["archives"].isdisjoint(words):
        return False
    own = [word for word in words if word not in PUBLICITY.sets["own"]]
    return " ".join(own) in PUBLICITY.sets["withheld"] or _sense(own) is Sense.WITHHELD


def _components(path: str) -> list[str]:
    """Return the names of nested objects, without those that only wrap, or stand for, another one."""
    plain = path.partition("(")[0] or path
    dotted = plain if " " in plain else plain.replace("/", ".")  # "Yes/no" is no path
    *around, last = dotted.rstrip(". ").split(".")
    objects = [name for name in around if normal(name) not in PUBLICITY.sets["wrappers"]]
    while objects and normal(last) in PUBLICITY.sets["generic"]:
        last = objects.pop()
    if objects and PUBLICITY.sets["presence"].issuperset(normal(last).split()):
        last = f"{objects.pop()} {last}"  # deleted.by
    return [*objects, last]


@functools.lru_cache(maxsize=4096)
def is_thing(path: str) -> bool:
    """Return whether an object of a row is something that the review names, and not a part of it."""
    return any(
        not PUBLICITY.sets["things"].isdisjoint(normal(name).split()) for name in _components(path)
    )


def _without_places(words: list[str]) -> list[str]:
    """Return a name without the place where something is shown and the person: "published on website"."""
    for index, part in enumerate(words[1:-1], start=1):
        if part in PUBLICITY.sets["by"]:
            return words[: index + 1]
        if part in PUBLICITY.sets["place"]:
            return words[:index]
    return words


def _sense(words: Sequence[str]) -> Sense | None:
    """Return what a name without dates and people means."""
    own = [word for word in words if word not in PUBLICITY.sets["own"]]
    is_negated = not PUBLICITY.sets["negations"].isdisjoint(own)
    positive, negative = (
        any(_begins(word, stems) for word in own)
        for stems in (
            PUBLICITY.lists["positive"] + PUBLICITY.lists["consents"],
            PUBLICITY.lists["negative"],
        )
    )
    bare = [
        word for word in own if word not in PUBLICITY.sets["fillers"] | PUBLICITY.sets["negations"]
    ]
    if len(bare) == 1 and words[-1] in {bare[0], *PUBLICITY.sets["trailing"]}:
        positive = positive or bare[0] in PUBLICITY.sets["last_public"]
        negative = negative or bare[0] in PUBLICITY.sets["last_withheld"]
    if words:  # "show name", and "Namen nennen"
        verb, name = PUBLICITY.sets["show_verbs"], PUBLICITY.sets["names"]
        ends = ((words[0], words[-1]), (words[-1], words[0]))
        positive = positive or any(one in verb and other in name for one, other in ends)
    negative = negative or any(map(_is_anonymous, own))
    if positive and negative:
        return Sense.STATUS
    if positive or negative:
        return Sense.PUBLIC if positive is not is_negated else Sense.WITHHELD
    if any(_begins(word, PUBLICITY.lists["doubtful"]) for word in own):
        return Sense.DOUBTFUL
    rest = [word for word in own if word not in PUBLICITY.sets["replies"]]
    if any(word.startswith(PUBLICITY.lists["status"]) for word in own) or rest == ["state"]:
        return Sense.STATUS
    return Sense.KIND if len(rest) == 1 and rest[0] in PUBLICITY.sets["kinds"] else None


def _subject(words: Collection[str], sense: Sense) -> Subject | None:
    """Return what a sign is about; None if it is about something that is not published."""
    if not PUBLICITY.sets["replies"].isdisjoint(words):
        return Subject.REPLY
    is_flag = sense in (Sense.PUBLIC, Sense.WITHHELD)
    if any(map(_is_anonymous, words)):
        return Subject.NAME if is_flag else None
    if is_flag and not PUBLICITY.sets["names"].isdisjoint(words):
        return Subject.NAME
    if not PUBLICITY.sets["people"].isdisjoint(words):
        about_reviews = PUBLICITY.lists["showing"] + PUBLICITY.lists["consents"]
        if any(_begins(word, about_reviews) for word in words):
            return Subject.REVIEW
        hides = any(word.startswith(("hid", "priv")) for word in words)
        return Subject.NAME if is_flag and hides else None
    return Subject.REVIEW if PUBLICITY.sets["things"].isdisjoint(words) else None


def _begins(word: str, stems: tuple[str, ...]) -> bool:
    return word.startswith(stems) and word not in ("publisher", "publishers")


def _is_anonymous(word: str) -> bool:
    return word.startswith(("anonym", "anonim", "anoniem"))
