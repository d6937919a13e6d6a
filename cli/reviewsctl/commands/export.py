"""``reviewsctl export``: the reviews as CSV or NDJSON, streamed (interfaces.md 1.1)."""

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from reviewsctl.commands.data_options import ConfigFile, DataDir, Names
from reviewsctl.terminal.escaping import printable_lines

if TYPE_CHECKING:
    from pathlib import Path

    from reviewsctl.importing.readers.json_file import Piece

EPILOG = """\b
    Examples:
      reviewsctl export --csv > reviews.csv
      reviewsctl export --jsonl --names short | jq -r .text
      reviewsctl export --csv --data /srv/reviews"""


def export(
    *,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="A table: a line for each review, UTF-8, commas.")
    ] = False,
    as_jsonl: Annotated[
        bool, typer.Option("--jsonl", help="NDJSON: a line for each review, all members kept.")
    ] = False,
    names: Annotated[
        Names, typer.Option(help='Names in full, or as "Jane D.": they are personal data.')
    ] = Names.FULL,
    every: Annotated[
        bool,
        typer.Option(
            "--all",
            help="What is hidden or anonymous too, as reviews.json has it (reviewsctl reviews).",
        ),
    ] = False,
    data: DataDir = None,
    config: ConfigFile = None,
) -> None:
    """Prints the reviews as CSV or NDJSON, as readers see them.

    "reviewsctl import" reads both kinds back, with the same ids. In the CSV an empty cell is null,
    and members that are not in the data model are left out. Texts are verbatim: a spreadsheet may
    take one that begins with "=" for a formula, so load columns as text. On a terminal control
    characters are shown escaped.
    """
    if as_csv == as_jsonl:
        raise typer.BadParameter("say either --csv or --jsonl")
    from reviewsctl.importing.target import reviews_file  # see main

    short = names is Names.SHORT
    try:
        path = reviews_file(data, config, os.environ)
        write = _csv(_out(), short=short) if as_csv else _jsonl(_out(), short=short)
        _each(path, write if every else _shown(path, write))
    except BrokenPipeError:  # the reader has closed the pipe, as head does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _shown(path: "Path", write: "Callable[[Piece], None]") -> "Callable[[Piece], None]":
    """Write reviews as readers see them."""
    import msgspec  # see main

    from reviewsctl.corrections.imports import KnownCorrections
    from reviewsctl.importing.errors import ImportRefusedError

    corrections = KnownCorrections(path.parent)

    def write_shown(piece: "Piece") -> None:
        try:
            public = corrections.shown(piece.text)
        except msgspec.MsgspecError as error:
            raise ImportRefusedError(f"{path.name}: {error}", "See: reviewsctl check") from error
        if public == piece.text:
            write(piece)
        elif public is not None:
            write(piece._replace(value=msgspec.json.decode(public), text=public))

    return write_shown


def _each(path: "Path", write: "Callable[[Piece], None]") -> None:
    from reviewsctl.files.folders import opened  # see main
    from reviewsctl.importing.errors import ImportRefusedError
    from reviewsctl.importing.readers.json_file import Document

    try:
        with opened(path.parent) as folder:
            file = folder.open(path.name)
        is_output = os.path.sameopenfile(file.fileno(), sys.stdout.fileno())
    except OSError as fault:
        raise ImportRefusedError(
            f"cannot read {path}: {fault.strerror}", "Name the data directory with --data DIR."
        ) from fault
    with file:
        if is_output:
            raise ImportRefusedError(
                f"the output is {path.name} itself, which the shell empties before this command runs",
                "Restore the last version: reviewsctl reviews undo",
            )
        document = Document(file.read(), path.name, "See: reviewsctl check")
        reviews = document.members().get("reviews")
        for index, review in enumerate([] if reviews is None else document.elements(reviews)):
            piece = document.piece(review)
            if not isinstance(piece.value, dict):
                raise ImportRefusedError(
                    f"{path.name}: $.reviews[{index}] is no object",
                    "See: reviewsctl check",
                )
            write(piece)
    sys.stdout.flush()


def _out() -> "Callable[[bytes], object]":
    """Return a function that writes to stdout, with control characters escaped on a terminal."""
    if not sys.stdout.isatty():
        return sys.stdout.buffer.write

    def show(line: bytes) -> None:
        sys.stdout.write(printable_lines(line.decode().replace("\r\n", "\n")))

    return show


def _jsonl(out: "Callable[[bytes], object]", *, short: bool) -> "Callable[[Piece], None]":
    import msgspec  # see main

    from reviewsctl.importing.values import short_name

    members = msgspec.json.Decoder(dict[str, msgspec.Raw])

    def write(piece: "Piece") -> None:
        line = piece.text
        author = piece.value.get("author") if isinstance(piece.value, dict) else None
        if short and isinstance(author, str) and author.strip():
            record = members.decode(line)
            line = msgspec.json.encode({**record, "author": short_name(author)})
        out(msgspec.json.format(line, indent=-1) + b"\n")

    return write


def _csv(out: "Callable[[bytes], object]", *, short: bool) -> "Callable[[Piece], None]":
    import csv  # see main
    import io

    from reviewsctl.importing.platforms.own import COLUMNS
    from reviewsctl.importing.values import short_name

    line = io.StringIO()
    table = csv.writer(line)

    def put(cells: list[object]) -> None:
        table.writerow(cells)
        out(line.getvalue().encode())
        line.seek(0)
        line.truncate()

    def write(piece: "Piece") -> None:
        review = piece.value if isinstance(piece.value, dict) else {}
        reply = review.get("owner_reply")
        reply = reply if isinstance(reply, dict) else {}
        author = review.get("author")
        cells = {
            **review,
            "author": short_name(author) if short and author else author,
            "owner_reply_text": reply.get("text"),
            "owner_reply_date": reply.get("date"),
            "verified": str(review.get("verified")).lower(),
        }
        put([cells.get(column) for column in COLUMNS])

    put(list(COLUMNS))
    return write
