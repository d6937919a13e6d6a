"""Decides which reviews, replies and names of an export are public at their platform (field.md, Imports).

One notion for all formats: the signs of a row decide before its platform parses it. A value of a sign that is
not understood is a question to the operator, which ``--set public=COLUMN=VALUE`` answers.
"""

import shlex
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from reviewsctl.importing.errors import RowWithdrawnError, SayMoreError
from reviewsctl.importing.publicity.signs import (
    ANY,
    Sense,
    Sign,
    Subject,
    is_thing,
    may_be_flag,
    sign_of,
)
from reviewsctl.importing.values import is_nothing, listed, normal, shown, word, yes_or_no
from reviewsctl.importing.vocabulary.words import PUBLICITY
from reviewsd.api.texts import printable

_SCALARS = frozenset((str, int, float, bool, type(None)))
_NUMBERED = frozenset(("id", "Id", "ID", "code"))
_OF_PROGRAMS = frozenset(("0", "1", "true", "false"))
_MAX_LEVELS = 4  # of the objects of a row
_MAX_VALUES = 1000  # of a column, counted for a question

Fields = Mapping[str, object]


@dataclass(slots=True)
class Verdict:
    """The judgment on a row with a public review."""

    fields: Mapping[str, object]
    """The row, without replies in lists that are not public."""
    shows_reply: bool = True
    shows_name: bool = True
    unknown: list[tuple[Sign, object]] = field(default_factory=list)
    """Signs with values that are not understood."""


class Publicity:
    """Decides which reviews of an import are public, and collects what it does not understand.

    Args:
        answers: Names of columns, each with its public values.
    """

    def __init__(self, answers: Mapping[str, Collection[str]] | None = None) -> None:
        self._answers = {
            normal(name): frozenset(value if value == ANY else normal(value) for value in values)
            for name, values in (answers or {}).items()
        }
        self._unused = {normal(name): name for name in answers or {}}
        self._unknown: dict[Sign, Counter[str]] = {}

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
                raise SayMoreError(f"public: expected COLUMN=VALUE, got {shown(pair)}")
            answers.setdefault(column.strip(), []).append(value.strip())
        return cls(answers)

    def judging(
        self, platform: str, columns: Mapping[str, str] | None = None, sample: Sequence[Fields] = ()
    ) -> Callable[[Fields], Verdict]:
        """Return what judges the rows of a file.

        It returns what a row of a public review says of its reply and its author's name, and raises a
        RowWithdrawnError where the review is not public.

        Args:
            platform: The name of the file's format.
            columns: Our names with the columns that the operator names for them; ``status`` is one, whatever it is called.
            sample: The first rows of a table that is of no known platform, whose values may show what its
                columns are.
        """
        judge = _Judge(self._answers, self._unused, platform, columns or {})
        judge.look_at(sample)
        return judge.judge

    def note(self, verdict: Verdict, *, has_reply: bool) -> None:
        """Remember what was not understood of a row that is imported."""
        for sign, value in verdict.unknown:
            if sign.subject is Subject.REPLY and not has_reply:
                continue
            counts = self._unknown.setdefault(sign, Counter())
            if len(counts) < _MAX_VALUES:
                counts[word(value) or ("" if is_nothing(value) else str(value))] += 1

    def settle(self) -> None:
        """Refuse the import if some of its reviews may not be public.

        Raises:
            SayMoreError: The operator has to say it; or has named a column that is not there.
        """
        if self._unused:
            names = ", ".join(printable(name) for _, name in sorted(self._unused.items()))
            raise SayMoreError(
                f"public: there is no column {names}", "Columns are named as they are"
            )
        unknown = (
            (sign, counts)
            for sign, counts in self._unknown.items()
            if not (sign.sense is Sense.LIKELY and all(map(yes_or_no, counts)))
        )
        if (open_question := next(unknown, None)) is None:
            return
        sign, counts = open_question
        what = "a reply" if sign.subject is Subject.REPLY else "a review"
        values = listed([f"{shown(value)} ({count:,})" for value, count in counts.most_common()])
        name = printable(sign.name)
        likeliest = max(
            counts, key=lambda value: (yes_or_no(value) is True, value != "", counts[value])
        )
        example = printable(likeliest)
        raise SayMoreError(
            f"column {shown(sign.name)} may say whether {what} is public, and its "
            f"values are not all known: {values}",
            f"Name each of them that is public, as in --set {shlex.quote(f'public={name}={example}')}; rows with the "
            f"others are then left out. If the column does not say it: --set {shlex.quote(f'public={name}={ANY}')}",
        )


def _are_typed_flags(values: Collection[str]) -> bool:
    """Return whether all values are a yes or no that people write; programs write 1 and "true"."""
    return bool(values) and all(
        yes_or_no(value) is not None and value not in _OF_PROGRAMS for value in values
    )


class _Judge:
    """Judges the rows of a file; the signs of its columns are remembered."""

    def __init__(
        self,
        answers: Mapping[str, frozenset[str]],
        unused: dict[str, str],
        platform: str,
        columns: Mapping[str, str],
    ) -> None:
        self._answers = answers
        self._unused = unused
        self._platform = PUBLICITY.platforms.get(platform, {})
        status = columns.get("status")
        self._status = None if status is None else normal(status)
        self._mapped = frozenset(map(normal, columns.values()))
        self._signs: dict[str, Sign | None] = {}

    def look_at(self, sample: Sequence[Fields]) -> None:
        """Decide which columns are no sign, or are one, by the values in the first rows."""
        columns = [name for row in sample[:1] for name in row if normal(name) not in self._answers]
        has_places = not PUBLICITY.sets["places"].isdisjoint(map(normal, columns))
        public, withheld = PUBLICITY.sets["public"], PUBLICITY.sets["withheld"]
        for name in columns:
            cells = (row.get(name) for row in sample)
            values = {
                normal(cell) for cell in cells if isinstance(cell, str) and not is_nothing(cell)
            }
            says_so = not values.isdisjoint(withheld)
            is_status = (says_so and values <= public | withheld) or (
                _are_typed_flags(values) and may_be_flag(name) and normal(name) not in self._mapped
            )
            if self._sign(name) is None and is_status:
                self._signs[name] = Sign(name, Subject.REVIEW, Sense.LIKELY)
            elif normal(name) == "state" and has_places and not says_so:
                self._signs[name] = None  # of a country

    def judge(self, fields: Fields) -> Verdict:
        verdict = Verdict(fields)
        self._judge(fields, "", verdict)
        return verdict

    def _judge(self, fields: Fields, prefix: str, verdict: Verdict) -> bool:
        """Judge the members of a row, or of an object in it; return whether there are signs."""
        signs, has_signs = self._signs, False
        for name, value in fields.items():
            path = f"{prefix}{name}" if prefix else name
            sign = signs[path] if path in signs else self._sign(path)
            if sign is None and type(value) in _SCALARS:
                continue
            if isinstance(value, dict):
                inner = self._is_part(path) and self._judge(value, f"{path}.", verdict)
                if inner or sign is None:
                    has_signs = has_signs or inner
                    continue
            elif sign is None and isinstance(value, list) and value and isinstance(value[0], dict):
                if not prefix:
                    self._prune(name, value, verdict)
                continue
            elif prefix and len(fields) > 1 and name in _NUMBERED:
                continue  # the number of a status that has a name
            if sign is not None:
                has_signs = True
                if not (is_public := sign.reads(value)):
                    self._apply(sign, value, is_public, verdict)
        return has_signs

    def _apply(
        self,
        sign: Sign,
        value: object,
        is_public: bool | None,  # noqa: FBT001  # what was read
        verdict: Verdict,
    ) -> None:
        if sign.subject is Subject.NAME:
            if is_public is False or sign.sense is Sense.WITHHELD:
                verdict.shows_name = False
        elif is_public is None:
            verdict.unknown.append((sign, value))
        elif sign.subject is Subject.REPLY:
            verdict.shows_reply = False
        else:
            raise RowWithdrawnError(f"not public (column {shown(sign.name)})")

    def _prune(self, name: str, elements: list[object], verdict: Verdict) -> None:
        """Take the replies out of a list that are not public."""
        if PUBLICITY.sets["replies"].isdisjoint(normal(name).split()):
            return
        public = []
        for element in elements:
            own = Verdict({})
            if isinstance(element, dict):
                self._judge(element, f"{name}.", own)
            if own.shows_reply:
                public.append(element)
                verdict.unknown += own.unknown
        if len(public) < len(elements):
            verdict.fields = {**verdict.fields, name: public}

    def _is_part(self, path: str) -> bool:
        """Return whether an object is part of the review, and not a thing that it names."""
        return path.count(".") < _MAX_LEVELS and not is_thing(path)

    def _sign(self, path: str) -> Sign | None:
        """Return the sign of a member, and remember it."""
        name, last = normal(path), normal(path.rpartition(".")[2])
        sign = sign_of(path)
        if name in self._answers or name == self._status:
            self._unused.pop(name, None)
            sign = sign or Sign(path, Subject.REVIEW, Sense.STATUS)
            sign = replace(sign, answers=self._answers.get(name, frozenset()))
        else:
            public = self._platform.get(name, self._platform.get(last))
            if public is not None:
                sign = None if not public or sign is None else replace(sign, public=public)
        self._signs[path] = sign
        return sign
