"""``reviewsctl sync``: reads the sources of the configuration and imports their reviews (sources.md)."""

import re
from typing import Annotated, Final

import typer

from reviewsctl.commands.data_options import ConfigFile
from reviewsctl.daemon.session import Json, Quiet

EPILOG: Final = """\b
    Examples:
      reviewsctl sync
      reviewsctl sync google --dry-run --full
      reviewsctl sync -v
      reviewsctl sync --due
      reviewsctl sync --every 15m"""

_UNITS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_TIME: Final = re.compile(r"([1-9][0-9]{0,4})([smhd])")


def sync(  # noqa: PLR0913  # these are the options of the command
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME...]", show_default=False, help="Sources; all of them if none."
        ),
    ] = None,
    *,
    due: Annotated[
        bool, typer.Option("--due", help="Only those whose time has come, for timers and cron.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Read and compare; write nothing.")
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", help="Read everything, even if nothing seems to have changed.")
    ] = False,
    accept_loss: Annotated[
        bool,
        typer.Option(
            "--accept-loss",
            help="Remove all reviews that the named source no longer has, even more than its max_loss.",
        ),
    ] = False,
    every: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            show_default=False,
            help="Stay, and run those that are due again after this time: 30s, 15m, 1h.",
        ),
    ] = None,
    config: ConfigFile = None,
    verbose: Annotated[
        bool,
        typer.Option(
            "-v",
            "--verbose",
            help="List the reviews that are new, changed, missing or gone, the rows that were refused or skipped, and all notes.",
        ),
    ] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Downloads reviews from the sources, and imports them.

    Each source is downloaded completely and then imported. New, edited and removed reviews
    change reviews.json. A source that has lost more than its max_loss, belongs to another business or cannot
    be read changes nothing, and its remedy is printed; reviewsctl sources list shows it again.
    """
    from reviewsctl.sources.command import SyncOptions  # 0.2 s, see main
    from reviewsctl.sources.command import sync as run_sync

    if accept_loss and len(names or []) != 1:
        raise typer.BadParameter("name the one source whose loss is right", param_hint="NAME")
    seconds = None if every is None else _seconds(every)
    options = SyncOptions(
        names=names or [],
        config=config,
        every=seconds,
        due=due or every is not None,
        full=full,
        dry_run=dry_run,
        accept_loss=accept_loss,
        as_json=as_json,
        quiet=quiet,
        verbose=verbose,
    )
    raise typer.Exit(run_sync(options))


def _seconds(text: str) -> float:
    match = _TIME.fullmatch(text)
    if match is None:
        raise typer.BadParameter("expected a time such as 15m or 1h", param_hint="--every")
    return float(int(match[1]) * _UNITS[match[2]])
