"""The terminal side of ``reviewsctl reviews``: lines or JSON, questions, refusals."""

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, NoReturn

import typer

from reviewsctl.terminal.output import EXIT_FAILED, complain, fail, json_line

if TYPE_CHECKING:
    from reviewsd.domain.reviews import Review
    from reviewsd.offline.corrections import CorrectedReview

_WORDS: Final = 60  # characters of a text on a line


class Output:
    """Prints for people, or JSON.

    Args:
        as_json: Whether it is JSON.
        yes: Whether every question is answered with yes.
    """

    def __init__(self, *, as_json: bool, yes: bool = True) -> None:
        self._as_json = as_json
        self._yes = yes

    def show(self, reviews: "Iterable[Review]") -> None:
        """Show which reviews are meant, a line each."""
        from reviewsctl.terminal.escaping import printable  # see main

        for review in () if self._as_json else reviews:
            parts = (
                review.id,
                str(review.date),
                f"{review.rating}/5",
                review.source,
                review.author,
            )
            typer.echo(printable("  ".join([*parts, _beginning(review)]).rstrip()))

    def list(self, found: "Sequence[CorrectedReview]", total: int) -> None:
        """Show a table of reviews with their corrections; as JSON a line each."""
        if self._as_json:
            self._list_json(found)
            return
        from reviewsctl.terminal.columns import Columns, Screen  # see main
        from reviewsctl.terminal.escaping import printable

        rows = [
            (
                each.review.id,
                str(each.review.date),
                str(each.review.rating),
                printable(each.review.source),
                printable(each.review.author),
                "" if each.correction is None else each.correction.action,
                printable(_beginning(each.review)),
            )
            for each in found
        ]
        table = Columns(("ID", "DAY", "STARS", "SOURCE", "AUTHOR", "STATE", "TEXT"), 6, Screen())
        for line in table.lines(rows, heading=True) if rows else ():
            typer.echo(line)
        typer.echo(f"{len(found):,} of {total:,} reviews", err=True)

    @staticmethod
    def _list_json(found: "Sequence[CorrectedReview]") -> None:
        import msgspec  # see main

        for each in found:
            correction = None if each.correction is None else msgspec.to_builtins(each.correction)
            members = msgspec.to_builtins(each.review)
            typer.echo(json_line({**members, "correction": correction}))

    def tell(self, state: str, reviews: "Sequence[Review]", lines: Iterable[str]) -> None:
        """Tell what was done."""
        if self._as_json:
            ids = [review.id for review in reviews]
            typer.echo(json_line({"state": state, "reviews": ids, "notes": list(lines)}))
            return
        for line in lines:
            typer.echo(line)

    def warn(self, text: str) -> None:
        """Warn on stderr."""
        complain("warning", {"title": text}, as_json=self._as_json)

    def ask(self, question: str) -> None:
        """End the command unless the operator agrees."""
        if self._yes:
            return
        if self._as_json or not sys.stdin.isatty():
            self.refuse(f"{question} There is no terminal to ask on", "Agree with --yes.")
        if not typer.confirm(question, default=False, err=True):
            self.refuse("nothing was written")

    def refuse(self, detail: str, remedy: str = "", code: int = EXIT_FAILED) -> NoReturn:
        """End the command with an error."""
        fail("not corrected", detail, remedy, as_json=self._as_json, code=code)


def _beginning(review: "Review") -> str:
    """The beginning of a review's text, on one line."""
    text = " ".join((review.text or "").split())
    return text if len(text) <= _WORDS else f"{text[:_WORDS]}…"
