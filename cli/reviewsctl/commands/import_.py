"""``reviewsctl import``: exports of review platforms into reviews.json (interfaces.md 2)."""

import contextlib
import datetime
import os
import sys
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from reviewsctl.daemon.session import Json, Quiet, Session
from reviewsctl.terminal import interruption
from reviewsctl.terminal.output import EXIT_INTERRUPTED, complain, console, json_line

if TYPE_CHECKING:
    from reviewsctl.importing.order import Order, Outcome
    from reviewsctl.importing.readers.watching import Tell
    from reviewsd.api.jobs import Step

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
      csv             any other table with a rating and a date

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
      reviewsctl import old.csv --map date=Posted --date-format %d/%m/%Y --unverified"""


class Names(Enum):
    """What ``--names`` takes."""

    FULL = "full"
    SHORT = "short"


ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        show_default=False,
        help="The daemon's configuration, which names the data directory. Found as the daemon "
        "finds it: $REVIEWSD_CONFIG, ./reviewsd.yaml, /etc/reviewsd/reviewsd.yaml.",
    ),
]
DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data", metavar="DIR", show_default=False, help="The data directory itself instead."
    ),
]


def import_(  # noqa: PLR0913  # these are the command's options
    ctx: typer.Context,
    exports: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE|DIR|ZIP...", exists=True, show_default=False, help="What was exported."
        ),
    ],
    *,
    wanted: Annotated[
        str, typer.Option("--from", metavar="auto|NAME", help="What it is, see below.")
    ] = "auto",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be imported.")
    ] = False,
    merge: Annotated[
        bool,
        typer.Option(
            "--merge/--replace",
            help="Keep reviews that the export does not have, or leave out those of its sources "
            "and locations; the others stay. What goes is listed first.",
        ),
    ] = True,
    names: Annotated[
        Names, typer.Option(help='Names in full, or as "Jane D.": they are personal data.')
    ] = Names.FULL,
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
            "--yes", help="It is the same business, and what --replace removes may go: ask nothing."
        ),
    ] = False,
    data: DataDir = None,
    config: ConfigFile = None,
    verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="List the rows that were refused or skipped.")
    ] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Imports the reviews of a platform's export into reviews.json.

    What was recognised is shown first. Reviews get ids that are the same in every import, so the
    same export twice changes nothing, and a newer one adds what is new and updates what was edited.
    What you have added to the file yourself stays: the business, and members of reviews that the
    export does not have. Rows without a usable rating or date are refused, one by one, and counted.

    The new file takes the place of the old one at once; that is kept as reviews.json.bak.
    """
    interruption.begin()
    from reviewsctl.importing.errors import ImportRefusedError  # msgspec, see main
    from reviewsctl.importing.format import Columns, Rules
    from reviewsctl.importing.order import Order
    from reviewsctl.importing.publicity.judge import Publicity
    from reviewsctl.importing.ratings import Scale
    from reviewsctl.importing.report import document, lines
    from reviewsctl.importing.target import reviews_file
    from reviewsctl.terminal.escaping import printable

    columns = Columns(mapped=_mapped(mapped or []), date_format=date_format, source=source)
    zone = _zone(timezone)
    now = datetime.datetime.now(datetime.UTC)
    try:
        order = Order(
            exports=exports,
            target=reviews_file(data, config, os.environ),
            wanted=wanted,
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
            replace=not merge,
            yes=yes,
            dry_run=dry_run,
            now=now,
        )
        with interruption.stoppable():
            outcome = _imported(order, quiet=quiet, as_json=as_json)
    except ImportRefusedError as refusal:
        members = {"title": "not imported", "detail": refusal.detail}
        if refusal.remedy:
            members["remedy"] = refusal.remedy
        complain("error", members, as_json=as_json)
        raise typer.Exit(refusal.exit_code) from refusal
    except KeyboardInterrupt as stopped:
        members = {"title": "interrupted", "detail": "nothing was written"}
        complain("error", members, as_json=as_json)
        code = stopped.exit_code if isinstance(stopped, interruption.Stopped) else EXIT_INTERRUPTED
        raise typer.Exit(code) from None
    interruption.loaded()
    if as_json:
        typer.echo(json_line(document(order, outcome, verbose=verbose)))
        return
    for line in () if quiet else lines(order, outcome, verbose=verbose):
        typer.echo(printable(line))
    if outcome.written and not quiet:
        _offer(ctx.obj, order.target)


def _imported(order: "Order", *, quiet: bool, as_json: bool) -> "Outcome":
    from reviewsctl.importing.order import Talk
    from reviewsctl.importing.pipeline import run  # msgspec, see main
    from reviewsctl.terminal.escaping import printable

    _bound_memory()
    silent = quiet or as_json

    def say(lines: "Sequence[str]") -> None:
        for line in () if silent else lines:
            typer.echo(printable(line))

    display = _Display()

    def ask(locations: Mapping[str, str]) -> str:
        display.close()
        return _ask(locations)

    def confirm(question: str) -> bool:
        display.close()
        return typer.confirm(question, default=False, err=True)

    tell = (lambda _: None) if silent else display.tell
    talk = Talk(tell=tell, say=say, ask=None)
    if not silent and sys.stdin.isatty() and sys.stderr.isatty():
        talk = Talk(tell=tell, say=say, ask=ask, confirm=confirm)
    with contextlib.closing(display):
        return run(order, talk)


def _bound_memory() -> None:
    """Have what takes more than an import may end as a MemoryError, not with the whole machine."""
    import resource  # see main

    from reviewsctl.importing.bounds import MEMORY

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limits = [each for each in (soft, hard) if each != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min([MEMORY, *limits]), hard))


class _Display:
    """Progress on stderr that appears when there is some: a small import needs no rich."""

    def __init__(self) -> None:
        self._stack = contextlib.ExitStack()
        self._tell: Tell | None = None

    def tell(self, step: "Step") -> None:
        """Shows a step."""
        if self._tell is None:
            from reviewsctl.terminal import progress  # rich, see main

            self._tell = self._stack.enter_context(progress.shown(console(err=True)))
        self._tell(step)

    def close(self) -> None:
        """Takes it away, until the next step."""
        self._stack.close()
        self._tell = None


def _ask(locations: Mapping[str, str]) -> str:
    from reviewsctl.terminal.escaping import printable

    places = list(locations)
    typer.echo("It holds the reviews of several locations:", err=True)
    for index, place in enumerate(places, start=1):
        typer.echo(printable(f"  {index}  {locations[place]}, {place}"), err=True)
    number: int = typer.prompt("Which one", type=int, err=True)
    if not 1 <= number <= len(places):
        raise typer.BadParameter(f"expected 1 to {len(places)}, got {number}")
    return places[number - 1]


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
