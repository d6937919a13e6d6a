"""``reviewsctl import``: exports of review platforms into reviews.json (interfaces.md 2)."""

import contextlib
import datetime
import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from reviewsctl.commands.data_options import ConfigFile, DataDir, Names
from reviewsctl.daemon.session import Json, Quiet, Session
from reviewsctl.terminal import interruption
from reviewsctl.terminal.output import EXIT_INTERRUPTED, complain, json_line

if TYPE_CHECKING:
    from reviewsctl.importing.options import ImportOptions, ImportResult

_EXPORTS: Final = "FILE|DIR|ZIP..."
_ANSWER_SECONDS: Final = 2.0  # the daemon is only asked whether there is something to offer

EPILOG: Final = """\b
    Formats (--from NAME; recognised by themselves):
      takeout         Google Takeout, "Google Business Profile": the zip, or its folder
      google-api      Google Business Profile API, accounts.locations.reviews.list
      places          Google Places API (New): five reviews at most
      outscraper      Outscraper, Google Maps reviews: CSV, XLSX, JSON
      apify           Apify, google-maps-reviews-scraper: JSON, NDJSON, CSV
      trustpilot      Trustpilot, service reviews: CSV, XLSX
      trustpilot-api  Trustpilot API, service reviews
      podium          Podium API, reviews of several sites
      yelp            Yelp Fusion API: three excerpts, no archive
      reviewsd        our own reviews.json, and what "reviewsctl export" writes
      csv             any other table with a rating and a date: CSV, XLSX, XLS, ODS, JSON

    \b
    Columns of "csv" are guessed and shown. --map NAME=COLUMN corrects them, NAME being one of
    rating, best, worst, date, author, text, title, reply, reply_date, verified, url, avatar,
    source, status, id.
    text=A+B takes both columns.

    \b
    Examples:
      reviewsctl import takeout-20261121T070000Z-001.zip --dry-run
      reviewsctl import takeout-20261121T070000Z-001.zip
      reviewsctl import page1.json page2.json trustpilot.csv
      reviewsctl import outscraper.xlsx --data /srv/reviews --names short
      reviewsctl import old.csv --map date=Posted --date-format %d/%m/%Y --unverified
      curl -sf https://shop.example/reviews.csv | reviewsctl import - --source shop
      reviewsctl import --undo --dry-run
      reviewsctl import --undo 2"""


def import_(  # noqa: PLR0913  # these are the command's options
    ctx: typer.Context,
    exports: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar=_EXPORTS, show_default=False, help="What was exported; - is standard input."
        ),
    ] = None,
    *,
    format_name: Annotated[
        str, typer.Option("--from", metavar="auto|NAME", help="What it is, see below.")
    ] = "auto",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be imported.")
    ] = False,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace",
            help="Remove reviews that the export does not have, of its sources and locations; the "
            "others stay. What goes is listed first, and more than a tenth is a question.",
        ),
    ] = False,
    undo: Annotated[
        bool,
        typer.Option(
            "--undo",
            help="Instead of an import: put reviews.json back as it was N changes ago (1), of which "
            "the last ten are kept. With --dry-run they are listed.",
        ),
    ] = False,
    names: Annotated[
        Names | None,
        typer.Option(
            show_default=False,
            help='Names in full (the default), or as "Jane D.": they are personal data. One that '
            "is short already stays so without this option.",
        ),
    ] = None,
    verified: Annotated[
        bool | None,
        typer.Option(
            "--verified/--unverified",
            show_default=False,
            help="Whether authors are known to be customers, where the export does not say. "
            'Needed for "csv" without such a column; else unverified.',
        ),
    ] = None,
    location: Annotated[
        str | None,
        typer.Option(
            metavar="ID|TITLE|all",
            show_default=False,
            help="Which one, when the export has several locations.",
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            show_default=False,
            help="What the business is called, where neither reviews.json nor the export says.",
        ),
    ] = None,
    timezone: Annotated[
        str,
        typer.Option(
            metavar="ZONE",
            help="The business's, as America/New_York: it decides on which day a review falls.",
        ),
    ] = "UTC",
    mapped: Annotated[
        list[str] | None,
        typer.Option(
            "--map", metavar="NAME=COLUMN", show_default=False, help="A column, see below."
        ),
    ] = None,
    public: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=VALUE",
            show_default=False,
            help="A value of a column by which its platform calls a review public, where that is not "
            "known. COLUMN=* where the column does not say it.",
        ),
    ] = None,
    date_format: Annotated[
        str | None,
        typer.Option(
            metavar="PATTERN",
            show_default=False,
            help="How a table spells dates, as strptime has it: %d/%m/%Y.",
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            show_default=False,
            help="Where the reviews of a csv were written, as google, when no column says.",
        ),
    ] = None,
    scale: Annotated[
        str | None,
        typer.Option(
            metavar="BEST|WORST-BEST",
            show_default=False,
            help="The best rating of a csv: 10 brings ten points to five stars, 5 takes half stars, "
            "6-1 school grades. Rounded, halves up.",
        ),
    ] = None,
    recommended: Annotated[
        bool,
        typer.Option(
            "--recommended",
            help="Take a recommendation of Facebook as 5 stars and its opposite as 1; they are "
            "refused otherwise.",
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
            help="List the reviews that are new, changed or removed, and the rows that were refused "
            "or skipped.",
        ),
    ] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Imports the reviews of a platform's export into reviews.json.

    What was recognised is shown first. Reviews get ids that are the same in every import, so the
    same export twice changes nothing, and a newer one adds what is new and updates what was edited.
    What you have added to the file yourself stays: the business, and members of reviews that the
    export does not have. What you have changed in a review is listed before it is overwritten. An
    older export takes no edits back. Rows without a usable rating or date are refused, and counted.

    The new file takes the place of the old one at once. The last ten versions are kept, and
    "reviewsctl import --undo" puts one of them back.
    """
    interruption.begin()
    from reviewsctl.importing.format import Columns, Rules  # msgspec, see main
    from reviewsctl.importing.options import ImportOptions
    from reviewsctl.importing.publicity.judge import Publicity
    from reviewsctl.importing.ratings import Scale
    from reviewsctl.importing.report import document, lines
    from reviewsctl.importing.standard_input import copied
    from reviewsctl.importing.target import configuration_in_use, reviews_file
    from reviewsctl.importing.undo_report import undone
    from reviewsctl.terminal.escaping import printable

    now = datetime.datetime.now(datetime.UTC)
    undo_command = " ".join(["reviewsctl import --undo", *_place(data, config)])
    with _refusals("not imported", as_json=as_json):
        configuration = configuration_in_use(data, config, os.environ)
    if configuration is not None and not (quiet or as_json):
        typer.echo(printable(f"configuration: {configuration.absolute()}"))
    if undo:
        with _refusals("not undone", as_json=as_json):
            target = reviews_file(data, configuration, os.environ)
            steps = _number(exports or [])
            with interruption.stoppable():
                report = undone(target, steps, now, dry_run=dry_run, command=undo_command)
        interruption.loaded()
        shown = [json_line(report.document)] if as_json else [] if quiet else report.lines
        for line in shown:
            typer.echo(printable(line))
        if not (dry_run or quiet or as_json):
            _offer(ctx.obj, target)
        return
    columns = Columns(mapped=_mapped(mapped or []), date_format=date_format, source=source)
    zone = _zone(timezone)
    with _refusals("not imported", as_json=as_json):
        options = ImportOptions(
            exports=_existing(exports or []),
            target=reviews_file(data, configuration, os.environ),
            format_name=format_name,
            rules=Rules(
                zone=zone,
                short_names=names is Names.SHORT,
                verified=verified,
                scale=Scale.parsed(scale, recommended=recommended),
                columns=columns,
                publicity=Publicity.parsed(public or []),
                today=now.astimezone(zone).date(),
            ),
            location=location,
            name=name,
            full_names=names is Names.FULL,
            replace=replace,
            yes=yes,
            dry_run=dry_run,
            now=now,
        )
        with interruption.stoppable(), copied(options) as readable:
            result = _imported(readable, silent=quiet or as_json)
    interruption.loaded()
    if as_json:
        typer.echo(json_line(document(options, result, verbose=verbose)))
        return
    for line in () if quiet else lines(options, result, verbose=verbose, undo=undo_command):
        typer.echo(printable(line))
    if result.is_written and not quiet:
        _offer(ctx.obj, options.target)


@contextlib.contextmanager
def _refusals(title: str, *, as_json: bool) -> Iterator[None]:
    """End the command on what an import refuses, and on an interrupt."""
    from reviewsctl.importing.errors import ImportRefusedError  # msgspec, see main

    try:
        yield
    except ImportRefusedError as refusal:
        members = {"title": title, "detail": refusal.detail}
        if refusal.remedy:
            members["remedy"] = refusal.remedy
        complain("error", members, as_json=as_json)
        raise typer.Exit(refusal.exit_code) from refusal
    except KeyboardInterrupt as stopped:
        members = {"title": "interrupted", "detail": "nothing was written"}
        complain("error", members, as_json=as_json)
        code = stopped.exit_code if isinstance(stopped, interruption.Stopped) else EXIT_INTERRUPTED
        raise typer.Exit(code) from None


def _imported(options: "ImportOptions", *, silent: bool) -> "ImportResult":
    from reviewsctl.importing.bounds import bound_memory
    from reviewsctl.importing.pipeline import run  # msgspec, see main
    from reviewsctl.terminal.import_prompts import prompts

    bound_memory()
    with prompts(silent=silent) as talk:
        return run(options, talk)


def _existing(exports: list[Path]) -> list[Path]:
    if not exports:
        raise typer.BadParameter("say what to import", param_hint=_EXPORTS)
    for path in exports:
        if not path.exists() and str(path) != "-":  # standard input
            raise typer.BadParameter(f"there is no {path}", param_hint=_EXPORTS)
    return exports


def _number(arguments: list[Path]) -> int:
    """Return how many versions to go back."""
    text = str(arguments[0]) if arguments else "1"
    if len(arguments) > 1 or not (text.isascii() and text.isdigit() and len(text) < 4):  # noqa: PLR2004
        raise typer.BadParameter("expected a number, as in --undo 2", param_hint="--undo")
    return int(text)


def _place(data: Path | None, config: Path | None) -> list[str]:
    """Return the options that name the data directory, as they can be typed."""
    options = {"--data": data, "--config": config}
    return [f"{name} {shlex.quote(str(path))}" for name, path in options.items() if path]


def _mapped(pairs: list[str]) -> dict[str, str]:
    mapped = {}
    for pair in pairs:
        ours, equals, column = pair.partition("=")
        if not (ours and equals):
            raise typer.BadParameter(f'expected NAME=COLUMN, got "{pair}"', param_hint="--map")
        mapped[ours.strip().lower()] = column.strip()
    return mapped


def _zone(name: str) -> datetime.tzinfo:
    if name.upper() == "UTC":
        return datetime.UTC
    import zoneinfo  # see main

    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        raise typer.BadParameter(
            f'there is no time zone "{name}"; they are named like America/New_York or '
            "Europe/Berlin (if this one exists, install tzdata)",
            param_hint="--timezone",
        ) from None


def _offer(session: Session, target: Path) -> None:
    """What to do next; on a terminal, and if the daemon serves this very file, does it."""
    serves = sys.stdin.isatty() and sys.stdout.isatty() and _serves(session, target)
    if serves and typer.confirm("Load it into the running daemon now?", default=True):
        with session.daemon() as daemon:
            from reviewsctl.terminal.output import show, steps
            from reviewsctl.terminal.status_views import render_reload

            with steps("reload", "reviewsctl status", quiet=False, as_json=False) as step:
                answer = daemon.reload(step)
        applied = answer.value.outcome in {"published", "unchanged"}
        show(render_reload(answer.value), err=not applied)
        if not applied:
            raise typer.Exit(1)
        return
    from reviewsctl.commands.insights import next_steps

    typer.echo("\n".join(next_steps(target)))


def _serves(session: Session, target: Path) -> bool:
    from reviewsctl.daemon import (
        client,
        errors,  # 25 ms, see main
    )

    given = client.Client(session.socket, answer_seconds=_ANSWER_SECONDS)
    try:
        return Path(given.status().value.data.dir).resolve() == target.parent
    except errors.DaemonError:
        return False
