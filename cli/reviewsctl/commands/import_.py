"""``reviewsctl import``: exports of review platforms into reviews.json (interfaces.md 2)."""

import datetime
import os
import shlex
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from reviewsctl.commands.data_options import ConfigFile, DataDir
from reviewsctl.daemon.session import Json, Quiet, Session
from reviewsctl.terminal.output import echo, json_line
from reviewsd.api.places import absolute

_EXPORTS: Final = "FILE|DIR|ZIP..."

EPILOG: Final = """\b
    Examples:
      reviewsctl import reviews.csv --source website
      reviewsctl import reviews.csv --source website --replace
      reviewsctl import takeout-20261121T070000Z-001.zip --dry-run
      reviewsctl import page1.json page2.json trustpilot.csv
      reviewsctl import outscraper.xlsx --data /srv/reviews --set names=short
      reviewsctl import old.csv --map date=Posted --set date_format=%d/%m/%Y
      curl -sf https://shop.example/reviews.csv | reviewsctl import - --source shop

    To take an import back: reviewsctl reviews undo

    \b
    Formats are recognized by themselves; --from NAME chooses where several fit:
      takeout, google-api, google-batch, places, places-legacy, serpapi, outscraper, apify   (Google)
      trustpilot, trustpilot-api, outscraper-trustpilot
      facebook, apify-facebook, tripadvisor, apify-tripadvisor, yelp
      judgeme, judgeme-csv, stamped, yotpo, yotpo-csv, podium, birdeye
      reviewsd     what "reviewsctl export" writes, and any reviews.json
      csv, json    any other table or list with a rating and a date: CSV, XLSX, XLS, ODS, JSON

    \b
    Columns of "csv" and "json" are guessed and shown. --map NAME=COLUMN corrects them, NAME being one of
    rating, best, date, author, text, title, reply, reply_date, verified, url, avatar,
    location, source, status, id.
    text=A+B takes both columns, and NAME= none.

    \b
    Settings (--set NAME=VALUE, as often as needed):
      location=ID            which location, if there are several; or its title, or all; of an export of a single one
                             or of none, the one of reviews.json that its reviews are about
      name=TEXT              name of the business, where neither reviews.json nor the export has it
      names=short            publish names as "Jane D.": they are personal data; full undoes it
      timezone=ZONE          that of the business, as America/New_York: it decides on which day a review falls
      verified=yes           authors are known to be customers, where the export does not say
      scale=BEST             best rating of a table: 10, 5 for half stars; of grades 5-1 (Austria) or 6-1 (Germany)
      recommended=yes        a recommendation of Facebook is 5 stars, and its opposite 1
      date_format=PATTERN    dates of a table, as strptime has them: %d/%m/%Y
      earlier_source=NAME    these reviews are there under this source, by mistake; they get the new one, once
      public=COLUMN=VALUE    import rows with this value only; COLUMN=* if the column is not about being public"""


def import_(  # noqa: PLR0913  # these are the command's options
    ctx: typer.Context,
    exports: Annotated[
        list[Path],
        typer.Argument(metavar=_EXPORTS, show_default=False, help="Exports; - is standard input."),
    ],
    *,
    format_name: Annotated[
        str,
        typer.Option("--from", metavar="auto|NAME", help="The format, where several fit."),
    ] = "auto",
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="NAME=COLUMN",
            show_default=False,
            help="A column of a table that was not recognized, such as date=Posted.",
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            show_default=False,
            help="Where the reviews of a table were written, such as website, whatever a column says; the "
            "same name each time.",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            show_default=False,
            help="What the export leaves open, such as names=short; all are below.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be imported.")
    ] = False,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace",
            help="Also remove reviews that the export does not have, of its sources and locations alone. "
            "They are listed first. More than a tenth (three to five: a fifth) needs --yes or an answer.",
        ),
    ] = False,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes",
            help="Answer all questions with yes: it is the same business, the export is what the "
            "platform has now, and what --replace removes may go.",
        ),
    ] = False,
    data: DataDir = None,
    config: ConfigFile = None,
    verbose: Annotated[
        bool,
        typer.Option(
            "-v",
            "--verbose",
            help="List the reviews that are new, changed or removed, the rows that were refused or "
            "skipped, and all notes.",
        ),
    ] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Imports an export, or a table of yours, into reviews.json.

    The same file twice changes nothing, and a newer one adds what is new and updates what was edited.
    Rows without a usable rating or date are refused, and the first are listed.

    What you have added yourself stays: the business, replies, and what you have hidden. What you
    have changed in a review is listed before it is overwritten.
    """
    from reviewsctl.daemon.default_paths import is_unpublished
    from reviewsctl.importing.bounds import bounded_memory
    from reviewsctl.importing.exports import copied
    from reviewsctl.importing.options import ImportOptions  # msgspec, see main
    from reviewsctl.importing.pipeline import run
    from reviewsctl.importing.report import document, lines, problems
    from reviewsctl.importing.settings import parsed
    from reviewsctl.importing.target import configuration_in_use, reviews_file
    from reviewsctl.terminal.import_prompts import prompts

    now = datetime.datetime.now(datetime.UTC)
    configuration = configuration_in_use(data, config, os.environ)
    if configuration is not None and verbose and not (quiet or as_json):
        echo(f"configuration: {absolute(configuration)}")
    options = ImportOptions(
        exports=_existing(exports),
        target=reviews_file(data, configuration, os.environ),
        format_name=format_name,
        settings=parsed(settings or (), now, columns=columns or (), source=source),
        replace=replace,
        yes=yes,
        dry_run=dry_run,
        now=now,
        verbose=verbose,
        is_unpublished=is_unpublished(configuration, os.environ),
    )
    with (
        copied(options) as readable,
        bounded_memory(options.target),
        prompts(silent=quiet or as_json) as dialog,
    ):
        result = run(readable, dialog)
    if as_json:
        typer.echo(json_line(document(options, result)))
        return
    undo = undo_command(data, config)
    if quiet:
        echo(*problems(result), err=True)
    else:
        echo(*lines(options, result, dialog.described, undo=undo))
    if result.merge.is_written and not quiet:
        offer_reload(ctx.obj, options.target)


def _existing(exports: list[Path]) -> list[Path]:
    for path in exports:
        if not path.exists() and str(path) != "-":  # standard input
            raise typer.BadParameter(f"there is no {path}", param_hint=_EXPORTS)
    return exports


def undo_command(data: Path | None, config: Path | None) -> str:
    """Return the command that takes an import back, as it can be typed."""
    options = {"--data": data, "--config": config}
    place = [f"{name} {shlex.quote(str(path))}" for name, path in options.items() if path]
    return " ".join(["reviewsctl reviews undo", *place])


def offer_reload(session: Session, target: Path) -> None:
    """Show the next steps; on a terminal, if the daemon serves this file, offer to reload it."""
    serves = sys.stdin.isatty() and sys.stdout.isatty() and _serves(session, target)
    if serves and typer.confirm("Load it into the running daemon now?", default=True):
        from reviewsctl.commands.reload import load_now

        load_now(session)
        return
    from reviewsctl.commands.insights import next_step

    typer.echo(next_step(target))


def _serves(session: Session, target: Path) -> bool:
    from reviewsctl.daemon.errors import DaemonError  # 25 ms, see main

    status = session.quick_status()
    if isinstance(status, DaemonError):
        return False
    return Path(status.data.dir).resolve() == target.parent
