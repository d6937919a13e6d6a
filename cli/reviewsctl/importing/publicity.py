"""Which reviews, replies and names of an export are public at their platform (field.md, Imports).

One notion for all formats. A *sign* is a member of a row whose name says that it is about this: a
status, a flag of either sense, a date of deletion. A sign whose value is understood decides; one whose
value is not understood is a question to the operator, which ``--public COLUMN=VALUE`` answers. A list,
a sheet or a file whose name says that its reviews are held back is not read at all.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Final, Self

from reviewsctl.importing import publicity_words as vocabulary
from reviewsctl.importing.errors import SayMoreError
from reviewsctl.importing.review import RowWithdrawnError
from reviewsctl.importing.values import is_nothing, normal, shown, word, yes_or_no
from reviewsctl.terminal.escaping import printable

ANY: Final = "*"
"""``--public COLUMN=*``: the column does not say which reviews are public."""

_MAX_WORDS = 15  # of a name, which may be the question of a form
_MAX_LEVELS = 4  # of the objects of a row
_MAX_NAMES = 10_000  # that are remembered
_MAX_REASONS = 50  # columns that are named as reasons
_MAX_VALUES = 1000  # of a column, counted for a question
_SHOWN = 8  # of them in the question
_DATE_DIGITS = 4  # a date has a year


class Subject(Enum):
    """What a sign is about."""

    REVIEW = auto()
    REPLY = auto()
    NAME = auto()
    """The reviewer's name."""


class Sense(Enum):
    """What a sign means that is set."""

    PUBLIC = auto()
    WITHHELD = auto()
    STATUS = auto()
    """Only a word can say it."""
    DOUBTFUL = auto()
    """A platform may still publish what was reported to it."""
    KIND = auto()
    """The row may be something else than a review that the business received."""


@dataclass(frozen=True, slots=True)
class Sign:
    """How a member of a row says whether something is public."""

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
        text = normal(str(value)) if isinstance(value, list) else normal(word(value) or "")
        if ANY in self.answers or text in self.answers:
            return True
        if self.public is not None:
            return text in self.public
        is_public = self._reads(value, text)
        return False if is_public is None and self.answers else is_public

    def _reads(self, value: object, text: str) -> bool | None:
        if self.sense is Sense.KIND:
            return text not in vocabulary.NOT_RECEIVED
        if is_nothing(value):
            if self.sense in (Sense.WITHHELD, Sense.DOUBTFUL):
                return True
            return False if self.sense is Sense.PUBLIC and self.is_presence else None
        if text in vocabulary.WITHHELD:
            return False
        if text in vocabulary.PUBLIC or text in vocabulary.SAYS_NOTHING:
            return True
        return self._reads_flag(value, text)

    def _reads_flag(self, value: object, text: str) -> bool | None:
        is_set = yes_or_no(value)
        if is_set is None and (self.is_presence or sum(map(str.isdigit, text)) >= _DATE_DIGITS):
            is_set = True
        match self.sense:
            case Sense.PUBLIC:
                return is_set
            case Sense.WITHHELD:
                return None if is_set is None else not is_set
            case Sense.DOUBTFUL:
                return True if is_set is False else None
            case _:
                return None


def sign_of(name: str) -> Sign | None:
    """Return what a member is a sign of, by its name; None if it is none.

    Args:
        name: Of a column, or the names of nested objects joined by dots.
    """
    words = _told(normal(name).split())
    last = _told(normal(name.replace("/", ".").rstrip(". ").rpartition(".")[2]).split())
    if not last or len(last) > _MAX_WORDS or last[-1] in vocabulary.NO_SIGNS:
        return None
    is_presence = not vocabulary.PRESENCE.isdisjoint(last)
    sense = _sense([each for each in last if each not in vocabulary.PRESENCE])
    subject = None if sense is None else _subject(words, sense)
    if sense is None or subject is None:
        return None
    if sense is Sense.STATUS and not vocabulary.REASONS.isdisjoint(last):
        sense = Sense.DOUBTFUL  # what was moderated for a reason
    if sense in (Sense.STATUS, Sense.KIND) and is_presence:
        return None  # when a status was changed, and by whom
    return Sign(name, subject, sense, is_presence)


def is_withheld_name(name: str) -> bool:
    """Return whether a list, a sheet or a file is called after reviews that are held back.

    Not after an archive, where reviews may be that are public and old.
    """
    words = normal(name.partition(".")[0]).split()
    if any(each.startswith(("arch", "arqu", "gearch")) for each in words):
        return False
    own = [each for each in words if each not in vocabulary.OWN]
    return " ".join(own) in vocabulary.WITHHELD or _sense(own) is Sense.WITHHELD


def _told(words: list[str]) -> list[str]:
    """Return a name without where something is shown, and who did it: "published on website"."""
    for place, each in enumerate(words[1:-1], start=1):
        if each in vocabulary.BY:
            return words[: place + 1]
        if each in vocabulary.PLACE:
            return words[:place]
    return words


def _sense(words: Sequence[str]) -> Sense | None:
    """Return what a name without dates and people means."""
    own = [each for each in words if each not in vocabulary.OWN]
    is_negated = not vocabulary.NEGATIONS.isdisjoint(own)
    positive, negative = (
        any(_begins(each, stems) for each in own)
        for stems in (vocabulary.POSITIVE_STEMS, vocabulary.NEGATIVE_STEMS)
    )
    bare = [each for each in own if each not in vocabulary.FILLERS | vocabulary.NEGATIONS]
    if len(bare) == 1 and words[-1] == bare[0]:
        positive = positive or bare[0] in vocabulary.LAST_PUBLIC
        negative = negative or bare[0] in vocabulary.LAST_WITHHELD
    negative = negative or any(map(_is_anonymous, own))
    if positive and negative:
        return Sense.STATUS
    if positive or negative:
        return Sense.PUBLIC if positive is not is_negated else Sense.WITHHELD
    if any(_begins(each, vocabulary.DOUBTFUL_STEMS) for each in own):
        return Sense.DOUBTFUL
    rest = [each for each in own if each not in vocabulary.REPLIES]
    if not vocabulary.STATUSES.isdisjoint(own) or rest == ["state"]:
        return Sense.STATUS
    return Sense.KIND if len(rest) == 1 and rest[0] in vocabulary.KINDS else None


def _subject(words: Collection[str], sense: Sense) -> Subject | None:
    """Return what a sign is about; None if it is about something that is not published."""
    if not vocabulary.REPLIES.isdisjoint(words):
        return Subject.REPLY
    is_flag = sense in (Sense.PUBLIC, Sense.WITHHELD)
    if any(map(_is_anonymous, words)) or not vocabulary.NAMES.isdisjoint(words):
        return Subject.NAME if is_flag else None
    if not vocabulary.PEOPLE.isdisjoint(words):
        if any(_begins(each, vocabulary.SHOWING_STEMS) for each in words):
            return Subject.REVIEW
        hides = any(each.startswith(("hid", "priv")) for each in words)
        return Subject.NAME if is_flag and hides else None
    return Subject.REVIEW if vocabulary.THINGS.isdisjoint(words) else None


def _begins(each: str, stems: tuple[str, ...]) -> bool:
    return each.startswith(stems) and each not in ("publisher", "publishers")


def _is_anonymous(each: str) -> bool:
    return each.startswith(("anonym", "anonim", "anoniem"))


@dataclass(slots=True)
class Verdict:
    """What a row says of itself, where its review is public."""

    fields: Mapping[str, object]
    """The row, without replies in lists that are not public."""
    shows_reply: bool = True
    shows_name: bool = True
    unknown: list[tuple[Sign, object]] = field(default_factory=list)
    """Signs whose values are not understood."""


class Publicity:
    """Decides which reviews of an import are public, and collects what it does not understand.

    Args:
        answers: ``--public``: names of columns, each with its public values.
    """

    def __init__(self, answers: Mapping[str, Collection[str]] | None = None) -> None:
        self._answers = {
            normal(name): frozenset(each if each == ANY else normal(each) for each in values)
            for name, values in (answers or {}).items()
        }
        self._names = {normal(name): name for name in answers or {}}
        self._unused = set(self._answers)
        self._signs: dict[tuple[str, str], Sign | None] = {}
        self._unknown: dict[Sign, Counter[str]] = {}
        self._reasons: set[str] = set()

    @classmethod
    def parsed(cls, pairs: Sequence[str]) -> Self:
        """Return one with the answers of a command line, each ``COLUMN=VALUE``.

        Raises:
            SayMoreError: One has another form.
        """
        answers: dict[str, list[str]] = {}
        for pair in pairs:
            column, equals, value = pair.partition("=")
            if not (normal(column) and equals):
                raise SayMoreError(f"--public: expected COLUMN=VALUE, got {shown(pair)}")
            answers.setdefault(column.strip(), []).append(value.strip())
        return cls(answers)

    def judge(
        self, fields: Mapping[str, object], platform: str, status: str | None = None
    ) -> Verdict:
        """Return what a row of a public review says of its reply and its author's name.

        Args:
            fields: The row.
            platform: The name of its format.
            status: A column that the operator calls a status, whatever its name.

        Raises:
            RowWithdrawnError: The review is not public.
        """
        verdict = Verdict(fields)
        self._judge(fields, "", platform, status, verdict)
        return verdict

    def note(self, verdict: Verdict, *, has_reply: bool) -> None:
        """Remember what was not understood of a row that is imported."""
        for sign, value in verdict.unknown:
            if sign.subject is Subject.REPLY and not has_reply:
                continue
            counts = self._unknown.setdefault(sign, Counter())
            if len(counts) < _MAX_VALUES:
                counts[word(value) or ("" if is_nothing(value) else str(value))] += 1

    def settle(self) -> None:
        """Refuse the import if it is not known of all its reviews that they are public.

        Raises:
            SayMoreError: The operator has to say it; or has named a column that is not there.
        """
        if self._unused:
            names = ", ".join(printable(self._names[each]) for each in sorted(self._unused))
            raise SayMoreError(
                f"--public: there is no column {names}", "Columns are named as they are"
            )
        if not self._unknown:
            return
        sign, counts = next(iter(self._unknown.items()))
        what = "a reply" if sign.subject is Subject.REPLY else "a review"
        values = ", ".join(
            f"{shown(value)} ({count:,})" for value, count in counts.most_common(_SHOWN)
        )
        more = f" and {len(counts) - _SHOWN:,} more" if len(counts) > _SHOWN else ""
        name, example = (
            printable(sign.name),
            printable(max(counts, key=lambda each: (each != "", counts[each]))),
        )
        raise SayMoreError(
            f"column {shown(sign.name)} may say whether {what} is public at its platform, and its "
            f"values are not all known: {values}{more}",
            f'Name each of them that is public, as in --public "{name}={example}"; rows with the others '
            f'are then left out. If the column does not say it: --public "{name}={ANY}"',
        )

    def _judge(
        self,
        fields: Mapping[str, object],
        prefix: str,
        platform: str,
        status: str | None,
        verdict: Verdict,
    ) -> None:
        for name, value in fields.items():
            path = f"{prefix}{name}"
            if isinstance(value, dict):
                if prefix.count(".") < _MAX_LEVELS and self._is_part(path):
                    self._judge(value, f"{path}.", platform, status, verdict)
                continue
            if isinstance(value, list) and value and isinstance(value[0], dict):
                self._prune(name, value, platform, verdict, top=not prefix)
                continue
            sign = self._sign(path, platform, status)
            is_public = True if sign is None else sign.reads(value)
            if sign is None or is_public:
                continue
            if sign.subject is Subject.NAME:
                if is_public is False or sign.sense is Sense.WITHHELD:
                    verdict.shows_name = False
            elif is_public is None:
                verdict.unknown.append((sign, value))
            elif sign.subject is Subject.REPLY:
                verdict.shows_reply = False
            else:
                raise RowWithdrawnError(self._reason(sign))

    def _prune(
        self, name: str, elements: list[object], platform: str, verdict: Verdict, *, top: bool
    ) -> None:
        """Take the replies out of a list that are not public."""
        if not top or vocabulary.REPLIES.isdisjoint(normal(name).split()):
            return
        kept = []
        for element in elements:
            own = Verdict({})
            if isinstance(element, dict):
                self._judge(element, f"{name}.", platform, None, own)
            if own.shows_reply:
                kept.append(element)
                verdict.unknown += own.unknown
        if len(kept) < len(elements):
            verdict.fields = {**verdict.fields, name: kept}

    def _is_part(self, path: str) -> bool:
        """Whether an object is part of the review, and not a thing that it names."""
        words = normal(path).split()
        return vocabulary.THINGS.isdisjoint(words)

    def _sign(self, path: str, platform: str, status: str | None) -> Sign | None:
        key = platform, path
        if key not in self._signs:
            if len(self._signs) >= _MAX_NAMES:
                self._signs.clear()
            self._signs[key] = self._found(path, platform, status)
        return self._signs[key]

    def _found(self, path: str, platform: str, status: str | None) -> Sign | None:
        name = normal(path)
        sign = sign_of(path)
        known = vocabulary.PLATFORMS.get(platform, {})
        if name in self._answers:
            self._unused.discard(name)
            sign = sign or Sign(path, Subject.REVIEW, Sense.STATUS)
            return replace(sign, answers=self._answers[name])
        last = normal(path.rpartition(".")[2])
        if name in known or last in known:
            public = known[name if name in known else last]
            return None if public is None or sign is None else replace(sign, public=public)
        if status is not None and name == normal(status):
            return sign or Sign(path, Subject.REVIEW, Sense.STATUS)
        return sign

    def _reason(self, sign: Sign) -> str:
        if len(self._reasons) < _MAX_REASONS:
            self._reasons.add(sign.name)
        named = f" (column {shown(sign.name)})" if sign.name in self._reasons else ""
        return f"not public at the platform{named}"
