"""The output of ``reviewsctl reviews``: lines or JSON, questions and errors."""

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

import typer

from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.terminal.columns import table
from reviewsctl.terminal.output import complain, echo, json_line
from reviewsd.api.texts import counted, printable

if TYPE_CHECKING:
    from reviewsd.domain.reviews import Review
    from reviewsd.offline.corrections import ReviewEntry

STATES: Final = {
    "hide": "hidden",
    "stars-only": "anonymous, without words",
    "hide-text": "without words",
    "anonymize": "anonymous",
    "restore": "shown again",
    "erase": "erased",
}
"""The state of a review by its correction."""

_EXCERPT: Final = 60  # characters of a text on a line


class Output:
    """Prints for people, or JSON; with ``yes`` every question is answered by yes."""

    def __init__(self, *, as_json: bool, yes: bool = True) -> None:
        self._as_json = as_json
        self._yes = yes

    def show(self, reviews: "Iterable[Review]") -> None:
        """Print the chosen reviews, a line each."""
        for review in () if self._as_json else reviews:
            parts = (
                review.id,
                str(review.date),
                f"{review.rating}/5",
                review.source,
                review.author,
            )
            echo("  ".join([*parts, _excerpt(review)]).rstrip())

    def list(self, reviews: "Sequence[ReviewEntry]", total: int) -> None:
        """Print a table of reviews with their corrections, or a line of JSON for each."""
        if self._as_json:
            self._list_json(reviews)
            return
        rows = [
            (
                entry.review.id,
                str(entry.review.date),
                str(entry.review.rating),
                printable(entry.review.source),
                printable(entry.review.author),
                "" if entry.correction is None else STATES[entry.correction.action],
                printable(_excerpt(entry.review)),
            )
            for entry in reviews
        ]
        headings = ("ID", "DAY", "STARS", "SOURCE", "AUTHOR", "STATE", "TEXT")
        for line in table(headings, rows) if rows else ():
            typer.echo(line)
        typer.echo(f"{len(reviews):,} of {counted(total, 'review')}", err=True)

    @staticmethod
    def _list_json(reviews: "Sequence[ReviewEntry]") -> None:
        import msgspec  # see main

        for entry in reviews:
            correction = None
            if entry.correction is not None:
                members = msgspec.to_builtins(entry.correction)
                correction = {"action": entry.correction.action, **members}
            members = msgspec.to_builtins(entry.review)
            typer.echo(json_line({**members, "correction": correction}))

    def report(
        self,
        state: str,
        reviews: "Sequence[Review]",
        notes: Iterable[str],
        copies: "Sequence[Review]" = (),
        *,
        dry_run: bool = False,
    ) -> None:
        """Print the new state of the reviews, and notes on the consequences, a sentence each.

        A dry run only announces it. JSON has the ids of the copies that stay as they are.
        """
        if self._as_json:
            outcome = {
                "state": state,
                "reviews": [review.id for review in reviews],
                "dry_run": dry_run,
                "notes": list(notes),
                "copies": [review.id for review in copies],
            }
            typer.echo(json_line(outcome))
            return
        if dry_run:
            typer.echo("nothing was written; without --dry-run:")
        for note in notes:
            typer.echo(note)

    def warn(self, text: str) -> None:
        """Print a warning on stderr."""
        complain("warning", {"title": text}, as_json=self._as_json)

    def ask(self, question: str, *, warning: str = "") -> None:
        """Ask a question; where it is answered by --yes, print the warning instead.

        Raises:
            ImportRefusedError: The operator does not agree.
        """
        if self._yes:
            if warning:
                self.warn(warning)
            return
        if self._as_json or not sys.stdin.isatty():
            detail = f'there is no terminal for the question "{question}"'
            raise ImportRefusedError(detail, "Agree with --yes.")
        if not typer.confirm(question, default=False, err=True):
            raise ImportRefusedError("nothing was written")


def _excerpt(review: "Review") -> str:
    """Return the beginning of a review's text, on one line."""
    text = " ".join((review.text or "").split())
    return text if len(text) <= _EXCERPT else f"{text[:_EXCERPT]}…"
