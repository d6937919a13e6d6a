"""The steps of the commands of ``reviewsctl reviews``: read, choose reviews, correct, report."""

import datetime
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from reviewsctl.corrections import files
from reviewsctl.corrections.output import STATES, Output
from reviewsctl.daemon.errors import Missing
from reviewsctl.daemon.session import Session
from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.target import reviews_file
from reviewsd.api.texts import (
    counted,
    first_of,
    is_nameless,
    plain_text,
    printable,
    words_of,
)

if TYPE_CHECKING:
    from reviewsd.domain.corrections import Action, Reason
    from reviewsd.domain.reviews import AggregateRating, Review
    from reviewsd.offline.corrections import ReviewsWithCorrections

_ORIGINAL: Final = "the original on the platform, or in your table"
_ELSEWHERE: Final = f"not erased: copies in caches and with subscribers, your own backups and exports, and {_ORIGINAL}"
_EVERYWHERE: Final = "pages, feeds, JSON, search, insights and the tools of AI agents (MCP)"
_EFFECTS: Final[Mapping[str, str]] = {
    "hide": f"gone from {_EVERYWHERE}; its page answers 410",
    "hide-text": f"without its words and your reply in {_EVERYWHERE}; its stars count",
    "anonymize": f'by "Anonymous", without picture and link to the original, in {_EVERYWHERE}',
    "restore": f"in {_EVERYWHERE} again",
    "erase": (
        f"gone for good from your files and from {_EVERYWHERE}; later imports leave it out, and in a table without"
        " ids every row with its text, or with its author and day"
    ),
}
_UPDATE: Final = "feeds and subscribers get an update"
LIST: Final = "List them: reviewsctl reviews list"
_CANDIDATES: Final = 5  # reviews that are listed for an ambiguous id
_NAMED: Final = 3  # ids in the command that takes a correction back
_MOST_NAMING: Final = 10  # other reviews that are listed, as they may name an author
_HIDE_TEXT: Final = (
    "to leave their stars alone: reviewsctl reviews hide ID --reason personal-data --text"
)
_SHORTEST_NAME: Final = 3  # letters of a part of a name that is searched for


def reading(data: Path | None, config: Path | None) -> "tuple[Path, ReviewsWithCorrections]":
    """Return the path of reviews.json, and its reviews with their corrections.

    Raises:
        SayMoreError: No option or configuration names the data directory.
        ImportRefusedError: A file is missing or invalid.
    """
    target = reviews_file(data, config, os.environ)
    return target, files.read(target)


def named(references: Iterable[str], reviews: "ReviewsWithCorrections") -> "list[Review]":
    """Return the reviews of references, as ``named_or_erased`` does, none of which was erased.

    Raises:
        Missing: A reference matches no review.
        ImportRefusedError: A reference matches several, or a review that was erased, which is never taken back.
    """
    chosen = named_or_erased(references, reviews)
    erased = {review.id for review in reviews.erased}
    ids = [review.id for review in chosen if review.id in erased]
    if ids:
        raise ImportRefusedError(
            f"{ids[0]} was erased, and reviews.json has it again, as by an older copy",
            f"Take it out: reviewsctl reviews erase {shlex.join(ids)} --reason request",
        )
    return chosen


def named_or_erased(references: Iterable[str], reviews: "ReviewsWithCorrections") -> "list[Review]":
    """Return the reviews of references, without duplicates.

    Raises:
        Missing: A reference matches no review.
        ImportRefusedError: A reference matches several.
    """
    from reviewsd.offline.references import NoSuchReviewError  # 0.1 s, see main

    try:
        return list({review.id: review for review in map(reviews.find, references)}.values())
    except NoSuchReviewError as error:
        if not error.candidates:
            raise Missing("", str(error), LIST) from error
        candidates = [reviews.find(review_id) for review_id in error.candidates[:_CANDIDATES]]
        lines = [f"  {review.id}  {review.date}  {review.author}" for review in candidates]
        more = len(error.candidates) - len(candidates)
        lines += [f"  and {more:,} more"] if more else []
        remedy = "\n".join([*lines, "Name one of them with more of its id."])
        raise ImportRefusedError(str(error), remedy) from error


def of_author(author: str, reviews: "ReviewsWithCorrections") -> list[str]:
    """Return the ids of the reviews of an author, case and white space of the full name aside.

    Raises:
        Missing: There are none.
    """
    name = plain_text(author)
    ids = [entry.review.id for entry in reviews.reviews if plain_text(entry.review.author) == name]
    if not ids:
        remedy = f"Full names: reviewsctl reviews list --author {shlex.quote(author)}"
        raise Missing("", f"no review is of {author!r}", remedy)
    return ids


class Correcting:
    """A run of a command that corrects reviews; raises as ``reading``.

    Args:
        data: The value of ``--data``.
        config: The value of ``--config``.
        note: A note for the owner's log.
        output: Prints and asks.
        dry_run: Whether it only reports.
    """

    def __init__(
        self, data: Path | None, config: Path | None, note: str, output: Output, *, dry_run: bool
    ) -> None:
        self.target, self.reviews = reading(data, config)
        self._note = note
        self._output = output
        self._dry_run = dry_run
        self._now = datetime.datetime.now(datetime.UTC)

    def correct(
        self, chosen: "Sequence[Review]", action: "Action", reason: "Reason | None"
    ) -> None:
        """Write corrections.json and report the consequences; all but ``restore`` have a public reason.

        It asks before a selection by stars, and before it shows anything of what was hidden.
        """
        after = self.reviews.with_correction(chosen, action, reason, self._now)
        self._output.show(chosen)
        consequences = list(self._consequences(after, chosen, action))
        copies: list[Review] = []
        if reason is not None:
            copies = after.copies_left(chosen, action)
            consequences += _copies_left(copies, action, reason)
        if action == "anonymize" or reason == "request":
            consequences += _names_elsewhere(chosen, after)
        consequences += files.erased_note(len(self.reviews.erased))
        self._agree(self._shown_again(chosen, action), "Go on?")
        if action == "hide":
            question = f"Hide {counted(len(chosen), 'review')} anyway?"
            self._agree(after.selection_warning or "", question, "With these, ")
        if not self._dry_run:
            files.write(self.target, after)
            files.take_out_erased(self.target, after, self._now)
            self._log(chosen, action if reason is None else f"{action} ({reason})")
        self._output.report(STATES[action], chosen, consequences, copies, dry_run=self._dry_run)

    def restore(self, ids: "Sequence[str]") -> None:
        """Show reviews again, and have imports take rows that they have left out for erased reviews."""
        left_out = [review_id for review_id in ids if self.reviews.has_left_out(review_id)]
        if left_out:
            if not self._dry_run:
                files.write(self.target, self.reviews.with_taken(left_out, self._now))
                files.note(self.target, self._now, left_out, "restore", self._note)
            lines = [f"{name}: taken as another review by the next import" for name in left_out]
            self._output.report("taken", [], lines, dry_run=self._dry_run)
            self.reviews = files.read(self.target)
        others = [review_id for review_id in ids if review_id not in left_out]
        chosen = named(others, self.reviews)
        shown = [review for review in chosen if self.reviews.action(review) == "restore"]
        if shown:
            lines = [f"{review.id} was not hidden" for review in shown]
            self._output.report("unchanged", shown, lines)
        if len(shown) < len(chosen):
            self.correct([review for review in chosen if review not in shown], "restore", None)

    def erase(self, chosen: "Sequence[Review]", reason: "Reason", session: Session) -> None:
        """Erase reviews after a question, reload a running daemon, and report the consequences."""
        self._output.show(chosen)
        after = self.reviews.with_erasure(chosen, self._now)
        lines = [_EFFECTS["erase"], _rating_line(self.reviews, after), _UPDATE]
        if not self._dry_run:
            count = counted(len(chosen), "review")
            self._output.ask(f"Erase {count} for good? This cannot be undone.")
            files.erase(self.target, after, self._now)
            self._log(chosen, f"erase ({reason})")
            lines += _published(session, self.target)
        copies = after.copies_left(chosen, "erase")
        lines += [
            *_copies_left(copies, "erase", reason),
            *_names_elsewhere(chosen, after),
            _ELSEWHERE,
        ]
        self._output.report("erased", chosen, lines, copies, dry_run=self._dry_run)

    def _agree(self, warning: str, question: str, begin: str = "") -> None:
        """Ask about a warning, if there is one; a dry run prints it."""
        if warning and self._dry_run:
            self._output.warn(warning)
        elif warning:
            self._output.ask(f"{begin}{warning}. {question}", warning=warning)

    def _log(self, chosen: "Sequence[Review]", label: str) -> None:
        ids = [review.id for review in chosen]
        files.note(self.target, self._now, ids, label, self._note)

    def _shown_again(self, chosen: "Sequence[Review]", action: "Action") -> str:
        """Return that a correction shows reviews of which nothing is shown now; "" if it shows none."""
        if action in ("hide", "restore"):
            return ""
        hidden = [review.id for review in chosen if self.reviews.action(review) == "hide"]
        ids = first_of(hidden, _NAMED, ", ")
        return f"hidden now, and shown again, {STATES[action]}: {ids}" if hidden else ""

    def _consequences(
        self, after: "ReviewsWithCorrections", chosen: "Sequence[Review]", action: "Action"
    ) -> Iterator[str]:
        yield (
            f"{STATES[action]} within seconds by a running daemon (reviewsctl reload waits for it), and after every "
            "later import"
        )
        yield _EFFECTS[action]
        both = [review.id for review in chosen if after.action(review) == "stars-only"]
        if both:
            yield f"{STATES['stars-only']}, as what was decided before stays: {first_of(both, _NAMED, ', ')}"
        yield _rating_line(self.reviews, after)
        if action == "restore":
            yield _UPDATE
        else:
            yield (f"{_UPDATE}; copies that others have made may remain, and so does {_ORIGINAL}")
            ids = shlex.join([review.id for review in chosen[:_NAMED]])
            more = " ..." if len(chosen) > _NAMED else ""
            yield f"to show them again, with name and words: reviewsctl reviews restore {ids}{more}"
        yield f"readers are told: {after.readers_note or 'nothing, as all reviews are shown'}"
        if action == "anonymize":
            yield from _names_left(chosen)


def _rating_line(before: "ReviewsWithCorrections", after: "ReviewsWithCorrections") -> str:
    """Return what a correction changes of the average."""
    if after.has_own_rating:
        return "the aggregate_rating that reviews.json has is not changed, whatever it counts"
    was, becomes = before.rating, after.rating
    if was == becomes:
        return f"average rating: {_average(was)}, as before"
    return f"average rating: {_average(was)} before, {_average(becomes)} after"


def _average(rating: "AggregateRating") -> str:
    if rating.rating_value is None:
        return "none"
    return f"{rating.rating_value:.2f} of {counted(rating.review_count or 0, 'review')}"


def _copies_left(copies: "Iterable[Review]", action: str, reason: "Reason") -> Iterator[str]:
    """Yield the other sources that have a corrected review, with the command for each."""
    command, option = ("hide", " --text") if action == "hide-text" else (action, "")
    for copy in copies:
        yield (
            f"the same review is there from {printable(copy.source)}: {copy.id}, and stays; to {command} it too:"
            f" reviewsctl reviews {command} {shlex.quote(copy.id)} --reason {reason}{option}"
        )


def _published(session: Session, target: Path) -> Iterator[str]:
    from reviewsctl.daemon import client, errors  # 25 ms, see main

    daemon = client.Client(session.socket)
    try:
        if os.path.realpath(daemon.status().value.data.dir) != str(target.parent):
            yield "the running daemon serves another directory"
            return
        result = daemon.reload(lambda _: None).value
    except errors.DaemonError as error:
        yield f"not published yet, as no daemon answers: {error.detail}"
        return
    if result.outcome in {"published", "unchanged"}:
        yield "published: their pages answer 410"
    if result.config.problems:
        yield "not published yet: the daemon reads the files by itself soon, as its configuration has faults"
        yield "see whether they are gone: reviewsctl status"
        return
    for problem in result.problems:
        yield f"NOT published, and still shown: {problem}"


def _names_left(reviews: "Iterable[Review]") -> Iterator[str]:
    """Yield the places in texts and replies that may have the name of the author."""
    for review in reviews:
        parts = [part.casefold() for part in review.author.split() if len(part) >= _SHORTEST_NAME]
        for place, text, remedy in (
            ("its text", review.text or "", "hide the words with hide --text"),
            ("your reply", _reply(review), "write it without: reviewsctl reviews reply ID"),
        ):
            if any(part in text.casefold() for part in parts):
                yield f"{review.id}: the name may stand in {place}; {remedy}"


def _names_elsewhere(
    chosen: "Sequence[Review]", reviews: "ReviewsWithCorrections"
) -> Iterator[str]:
    """Yield the other reviews whose texts or replies may have the full name of an author."""
    ids = {review.id for review in chosen}
    people = [review.author for review in chosen if not is_nameless(review.author)]
    names = [_phrase(words) for words in map(words_of, people) if len(words) > 1]
    for place, words, remedy in (
        ("the text of", lambda review: review.text or "", _HIDE_TEXT),
        ("your reply to", _reply, "to write it without: reviewsctl reviews reply ID TEXT"),
    ):
        naming = [
            f"{review.id} ({review.date})"
            for review in (entry.review for entry in (reviews.reviews if names else ()))
            if review.id not in ids and _has_name(words(review), names)
        ]
        if naming:
            listed = first_of(naming, _MOST_NAMING, ", ")
            yield f"the name may stand in {place} other reviews, which stays: {listed}; {remedy}"


def _reply(review: "Review") -> str:
    return "" if review.owner_reply is None else review.owner_reply.text


def _phrase(name: "Sequence[str]") -> str:
    """Return the words of a name as a text has them; of an initial any surname that begins so."""
    phrase = f" {' '.join(name)} "
    return phrase.rstrip() if len(name[-1]) == 1 else phrase


def _has_name(text: str, names: "Iterable[str]") -> bool:
    spaced = f" {' '.join(words_of(text))} "
    return any(name in spaced for name in names)
