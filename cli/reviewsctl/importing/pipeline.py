"""One import from beginning to end: recognise, read, stage, merge, replace."""

import datetime
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from reviewsctl.daemon.messages import Progress
from reviewsctl.files.folders import Folder, opened
from reviewsctl.importing.bounds import MAX_USELESS, MEMORY
from reviewsctl.importing.errors import ImportRefusedError, SayMoreError
from reviewsctl.importing.format import Format, Reader, Row, Rules
from reviewsctl.importing.merge import Merge, Tally
from reviewsctl.importing.readers.archive import DAMAGED
from reviewsctl.importing.readers.json_file import DOWNLOAD, OWN_VALUE, Document
from reviewsctl.importing.readers.parts import Part, parts_of
from reviewsctl.importing.readers.watching import WORTH_SHOWING, Reading, Tell
from reviewsctl.importing.recognize import Source, chosen
from reviewsctl.importing.review import RowRefusedError, RowSkippedError
from reviewsctl.importing.staging import Staging, staging
from reviewsctl.importing.writing import draft
from reviewsctl.terminal.escaping import printable

ALL = "all"
"""What ``--location`` takes for several locations in one file."""

MAX_LISTED = 10_000  # refused rows that are kept for --verbose

_SHOWN, _LONG = 20, 200  # locations in a message, and characters of each

_MEND = "Mend it, or move it away to begin anew; what is wrong: reviewsctl check"


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What the operator wants."""

    export: Path
    target: Path
    """The reviews.json that is to be written."""
    wanted: str
    """The format's name, or auto."""
    rules: Rules
    verified: bool | None
    """None: not said."""
    location: str | None
    name: str | None
    """Of the business, when there is no reviews.json yet."""
    replace: bool
    dry_run: bool
    now: datetime.datetime


@dataclass(slots=True, kw_only=True)
class Outcome:
    """How it went."""

    format: Format
    files: int
    says: list[str] = field(default_factory=list)
    """What was recognised, for the operator, before the result."""
    notes: list[str] = field(default_factory=list)
    """What they should know of the result."""
    tally: Tally = field(default_factory=Tally)
    refused: int = 0
    refusals: list[tuple[str, str]] = field(default_factory=list)
    """The first of them: where, and why."""
    skipped: Counter[str] = field(default_factory=Counter)
    """Rows that are no reviews, by reason."""
    twice: int = 0
    """Reviews that the export has more than once."""
    elsewhere: int = 0
    """Reviews of other locations."""
    written: bool = False
    backup: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """How it is told and asked while it runs."""

    tell: Tell
    say: Callable[[Outcome], None]
    """Shows what was recognised, before the long part."""
    ask: Callable[[Mapping[str, str]], str] | None
    """Which location, of these with their descriptions; None where nobody can be asked."""


def reviews(count: int) -> str:
    """``1 review``, ``1,204 reviews``."""
    return f"{count:,} review{'' if count == 1 else 's'}"


def run(order: Order, talk: Talk) -> Outcome:
    """Imports.

    Raises:
        ImportRefusedError: It cannot be done; nothing was written.
        SayMoreError: The operator has to decide something first; nothing was written.
    """
    try:
        return _run(order, talk)
    except DAMAGED as fault:
        raise ImportRefusedError(
            f"{order.export} is damaged: {fault}", "Download or export it again."
        ) from fault
    except RecursionError as fault:
        raise ImportRefusedError(f"{order.export}: nested too deeply", DOWNLOAD) from fault
    except MemoryError as fault:
        raise ImportRefusedError(
            f"{order.export} takes more than {MEMORY // 1024**2} MB of memory: that is no export",
            "Nothing was written.",
        ) from fault
    except sqlite3.Error as fault:
        raise ImportRefusedError(
            f"the reviews could not be put aside in {order.target.parent}: {fault}",
            "Nothing was written. Is there room? It takes three times the size of the reviews.",
        ) from fault
    except OSError as fault:
        raise ImportRefusedError(
            f"{fault.filename or order.target.parent}: {fault.strerror or fault}",
            "Nothing was written. Is there room, and may you write there? Try sudo.",
        ) from fault


def _run(order: Order, talk: Talk) -> Outcome:
    parts = parts_of(order.export)
    try:
        return _import(order, talk, parts)
    finally:
        for part in parts:
            part.close()


def _import(order: Order, talk: Talk, parts: Sequence[Part]) -> Outcome:
    kind, sources, ignored = chosen(parts, order.wanted)
    _verified(order, kind)
    outcome = Outcome(format=kind, files=len(sources))
    outcome.says = _recognised(order, kind, sources, ignored)
    rules = order.rules
    readers = [(source, kind.reader(source.head, rules)) for source in sources]
    talk.say(outcome)
    place = order.target.parent
    writable = os.access(place, os.W_OK)
    if not (writable or order.dry_run):
        raise ImportRefusedError(f"you may not write to {place}", "Use sudo, or ask its owner.")
    with opened(place) as folder, staging(place if writable and folder.private else None) as staged:
        reading = Reading("reading", sum(source.part.size for source in sources), talk.tell)
        for source, read in readers:
            prefix = f"{source.part.name}: " if len(sources) > 1 else ""
            for where, row in source.rows(reading.watched(source.part)):
                _stage(staged, outcome, f"{prefix}{where}", read, row)
        outcome.twice = staged.added - staged.count()
        location = _located(order, staged, outcome, talk)
        _usable(order, staged, outcome)
        _notes(outcome, sources, staged, rules)
        _merge(order, folder, staged, outcome, talk, _members(order, sources, location))
    return outcome


def _stage(staged: Staging, outcome: Outcome, where: str, read: Reader, row: Row) -> None:
    """Add one row, or note why it is none."""
    try:
        staged.add(read(row))
    except RowRefusedError as refusal:
        outcome.refused += 1
        if len(outcome.refusals) < MAX_LISTED:
            outcome.refusals.append((where, str(refusal)))
    except RowSkippedError as skip:
        outcome.skipped[str(skip)] += 1
    else:
        return
    useless = outcome.refused + outcome.skipped.total()
    if useless > max(MAX_USELESS, 9 * staged.added):
        raise _useless(outcome, f"not one in ten of its first {useless + staged.added:,} rows")


def _verified(order: Order, kind: Format) -> None:
    if order.verified is None and not kind.says_verified:
        raise SayMoreError(
            f"{kind.title} does not say whether its reviews are verified",
            "Say --verified if they come from a platform that checks who writes, else --unverified",
        )
    order.rules.verified = True if order.verified is None else order.verified


def _recognised(
    order: Order, kind: Format, sources: Sequence[Source], ignored: Sequence[str]
) -> list[str]:
    writing = sources[0].writing
    files = f", {len(sources):,} files" if len(sources) > 1 else ""
    manner = f" ({writing}{files})" if writing else f" ({files[2:]})" if files else ""
    says = [f"{order.export.name}: {kind.title}{manner}"]
    says += kind.says_columns(sources[0].head, order.rules.columns)
    if kind.leaves:
        says.append(f"not taken: {kind.leaves}")
    if ignored:
        more = f" and {len(ignored) - 3:,} more" if len(ignored) > 3 else ""  # noqa: PLR2004
        says.append(f"other files, left alone: {', '.join(ignored[:3])}{more}")
    return says


def _located(order: Order, staged: Staging, outcome: Outcome, talk: Talk) -> str:
    """Leaves the reviews of one location; returns which, empty for no particular one."""
    counts = staged.places()
    titles = {place: order.rules.places.get(place, "") for place in counts}
    if len(counts) <= 1 and order.location in (None, ALL):
        return next(iter(counts), "")
    if order.location == ALL:
        return ""
    wanted = order.location
    if wanted is None:
        described = {
            place: f"{titles[place] or 'without a title'} ({reviews(counts[place])})"
            for place in counts
        }
        if talk.ask is None:
            lines = "\n".join(_first([f"  {place}  {text}" for place, text in described.items()]))
            raise SayMoreError(
                f"it holds the reviews of {len(counts):,} locations:\n{lines}",
                f"Choose one with --location ID, or take all of them with --location {ALL}",
            )
        wanted = talk.ask(described)
    found = [
        place
        for place, title in titles.items()
        if wanted.strip().casefold() in (place.casefold(), title.strip().casefold())
    ]
    if wanted == ALL:
        return ""
    if len(found) != 1:
        there = ", ".join(_first([f"{place} ({titles[place]})" for place in titles if place]))
        raise SayMoreError(
            f'--location: {"several are" if found else "none is"} called "{wanted}"',
            f"There are: {there}" if there else "This export does not tell locations apart.",
        )
    outcome.elsewhere = staged.keep(found[0])
    return found[0]


def _first(items: Sequence[str]) -> list[str]:
    """The first of many for a message, and how many more there are."""
    more = [f"  and {len(items) - _SHOWN:,} more"] if len(items) > _SHOWN else []
    return [*(printable(item[:_LONG]) for item in items[:_SHOWN]), *more]


def _usable(order: Order, staged: Staging, outcome: Outcome) -> None:
    if staged.count():
        return
    if outcome.refused:
        raise _useless(outcome, f"none of its {outcome.refused:,} rows")
    if order.replace:
        raise ImportRefusedError(
            "it holds no reviews, and --replace would leave none", "Nothing was written."
        )


def _useless(outcome: Outcome, rows: str) -> ImportRefusedError:
    why = [f"{where}: {reason}" for where, reason in outcome.refusals[:3]] or outcome.skipped
    return ImportRefusedError(
        f"{rows} can be imported ({'; '.join(why)})",
        "Was it recognised as what it is? --from NAME says so; for a table see --map.",
    )


def _notes(outcome: Outcome, sources: Sequence[Source], staged: Staging, rules: Rules) -> None:
    for reason, count in outcome.skipped.items():
        outcome.notes.append(f"{count:,} skipped: {reason}")
    if outcome.twice:
        outcome.notes.append(f"{outcome.twice:,} were there more than once")
    if outcome.elsewhere:
        outcome.notes.append(f"{outcome.elsewhere:,} left out: of other locations")
    for name, text in _MENTIONED.items():
        if count := rules.tally[name]:
            outcome.notes.append(text.format(count=f"{count:,}"))
    around = {name: value for source in sources for name, value in source.head.around.items()}
    outcome.notes += outcome.format.warnings(around, staged.count())


_MENTIONED = {
    "no-id": "without an id of their own: {count}; theirs is made of source, author, date and text, "
    "so one that is edited will come as a new review",
    "no-source": "no column says where a review was written: {count} have the source "
    '"import" (--source NAME says it)',
    "undated-reply": "owner replies without a date: {count}; they got that of the review",
    "recommendation": "recommendations (Facebook): {count}; they arrive as 5 stars or 1 and are kept "
    "so",
}


def _members(
    order: Order, sources: Sequence[Source], place: str
) -> Callable[[], dict[str, object]]:
    """What a new file has beside its reviews."""

    def members() -> dict[str, object]:
        around: dict[str, object] = dict(sources[0].head.around)
        if isinstance(around.get("business"), dict):
            return around
        name = order.name or order.rules.places.get(place) or sources[0].head.title
        if not name:
            raise SayMoreError(
                f"there is no {order.target} yet, and the export does not say what the business is "
                "called",
                'Say it with --name "Acme Plumbing"',
            )
        return {"business": {"name": name}}

    return members


def _merge(
    order: Order,
    folder: Folder,
    staged: Staging,
    outcome: Outcome,
    talk: Talk,
    members: Callable[[], dict[str, object]],
) -> None:
    """Writes the new file, and puts it in place if it says something else."""
    count = staged.count()

    def step(done: int) -> None:
        if count * 100 >= WORTH_SHOWING:  # some 100 bytes each at least
            talk.tell(Progress(stage="writing", done=done, total=count))

    def merge(out: BinaryIO) -> Tally:
        merging = Merge(
            staged,
            out,
            step,
            by_id=outcome.format.by_id,
            replace=order.replace,
            updated_at=order.now.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        )
        there = folder.look(name)
        if there is None:
            merging.anew(members())
            return merging.tally
        with Reading("merging", there.st_size, talk.tell).file(folder.open(name)) as file:
            merging.onto(Document(file, name, _MEND, OWN_VALUE))
        return merging.tally

    name = order.target.name
    if order.dry_run:
        with open(os.devnull, "wb") as nowhere:  # noqa: PTH123  # no file
            outcome.tally = merge(nowhere)
    else:
        with draft(folder, name) as new:
            outcome.tally = merge(new.file)
            if outcome.tally.different or folder.look(name) is None:
                backup = new.commit()
                outcome.backup = None if backup is None else order.target.with_name(backup)
                outcome.written = True
    given = outcome.tally.given
    if outcome.tally.different and given is not None and given != outcome.tally.total:
        outcome.notes.append(
            f"aggregate_rating in the file is kept: it says {reviews(given)}, there are "
            f"{outcome.tally.total:,} now. Leave it out of the file to have it computed"
        )
