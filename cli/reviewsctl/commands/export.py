"""``reviewsctl export``: the reviews as CSV or NDJSON, streamed (interfaces.md 1.1)."""

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from reviewsctl.commands.data_options import ConfigFile, DataDir
from reviewsctl.terminal.output import printable_lines

if TYPE_CHECKING:
    from pathlib import Path

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
        Literal["full", "short"],
        typer.Option(help='Names in full, or as "Jane D.": they are personal data.'),
    ] = "full",
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
    import msgspec  # see main

    from reviewsctl.importing.errors import ImportRefusedError
    from reviewsctl.importing.target import reviews_file

    path = reviews_file(data, config, os.environ)
    try:
        texts = _texts(path, every=every)
        rows = _csv if as_csv else _jsonl
        for line in rows(texts, short=names == "short"):
            if sys.stdout.isatty():
                sys.stdout.write(printable_lines(line.decode().replace("\r\n", "\n")))
            else:
                sys.stdout.buffer.write(line)
        sys.stdout.flush()
    except msgspec.MsgspecError as error:
        raise ImportRefusedError(f"{path.name}: {error}", "See: reviewsctl check") from error
    except BrokenPipeError:  # the reader has closed the pipe, as head does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _texts(path: "Path", *, every: bool) -> Iterator[bytes]:
    """Yield the JSON of each review as readers see it, or of all that are not erased as reviews.json has them."""
    from reviewsctl.corrections.imports import KnownCorrections  # see main
    from reviewsctl.files.folders import opened
    from reviewsctl.importing.errors import ImportRefusedError
    from reviewsctl.importing.readers.json_file import Document

    try:
        with opened(path.parent) as folder:
            file = folder.open(path.name)
    except OSError as fault:
        raise ImportRefusedError(
            f"cannot read {path}: {fault.strerror}", "Name the data directory with --data DIR."
        ) from fault
    with file:
        document = Document(file.read(), path.name, "See: reviewsctl check")
        reviews = document.elements("reviews")
    corrections = KnownCorrections(path.parent)
    for index, review in enumerate(reviews):
        if not isinstance(document.value(review), dict):
            raise ImportRefusedError(
                f"{path.name}: $.reviews[{index}] is no object", "See: reviewsctl check"
            )
        text = corrections.exported(bytes(review), every=every)
        if text is not None:
            yield text


def _jsonl(texts: Iterator[bytes], *, short: bool) -> Iterator[bytes]:
    import msgspec  # see main

    from reviewsctl.importing.values import short_name

    for text in texts:
        record = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
        author = msgspec.json.decode(record.get("author", b"null"))
        if short and isinstance(author, str) and author.strip():
            record["author"] = msgspec.Raw(msgspec.json.encode(short_name(author)))
            record["author_avatar_url"] = msgspec.Raw(b"null")
            text = msgspec.json.encode(record)  # noqa: PLW2901  the same review
        yield msgspec.json.format(text, indent=-1) + b"\n"


def _csv(texts: Iterator[bytes], *, short: bool) -> Iterator[bytes]:
    import csv  # see main
    import io

    import msgspec

    from reviewsctl.importing.platforms.own import COLUMNS
    from reviewsctl.importing.values import short_name

    line = io.StringIO()
    table = csv.DictWriter(line, COLUMNS, extrasaction="ignore")
    table.writeheader()
    for text in texts:
        yield line.getvalue().encode()
        line.seek(0)
        line.truncate()
        review = msgspec.json.decode(text)
        author, reply = review.get("author"), review.get("owner_reply")
        reply = reply if isinstance(reply, dict) else {}
        table.writerow(
            {
                **review,
                "author": short_name(author) if short and author else author,
                "author_avatar_url": None if short else review.get("author_avatar_url"),
                "owner_reply_text": reply.get("text"),
                "owner_reply_date": None if reply.get("undated") is True else reply.get("date"),
                "verified": str(review.get("verified")).lower(),
            }
        )
    yield line.getvalue().encode()
