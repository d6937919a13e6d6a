"""The inside of ``reviewsctl sync`` and ``sources``: configuration and output."""

import contextlib
import datetime
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import typer

from reviewsctl.daemon import local
from reviewsctl.daemon.errors import Missing
from reviewsctl.importing.bounds import bounded_memory
from reviewsctl.sources import adding, readers, report
from reviewsctl.sources.local_files import fitting, no_file
from reviewsctl.sources.oauth import log_in
from reviewsctl.sources.run import RunOptions
from reviewsctl.sources.state import BusyError
from reviewsctl.sources.sync import Sync, state_folder
from reviewsctl.sources.wire import Wire
from reviewsctl.terminal.errors import CommandError
from reviewsctl.terminal.output import (
    EXIT_FAILED,
    NOTHING_WRITTEN,
    complain,
    echo,
    json_line,
)
from reviewsd.api.places import REVIEWS_FILE
from reviewsd.api.spelling import nearest
from reviewsd.api.texts import printable
from reviewsd.config.errors import ConfigError
from reviewsd.config.schema import Config

_TESTING: Final = (
    'While the consent screen of the project says "Testing", a login lasts 7 days: publish it.'
)


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


def _report_wait(text: str) -> None:
    """Print what a command waits for, at a terminal."""
    if sys.stderr.isatty():
        echo(text, err=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncOptions(RunOptions):
    """All options of ``reviewsctl sync``."""

    names: Sequence[str]
    config: Path | None
    every: float | None = None
    """Seconds between two rounds; None for one round."""
    as_json: bool
    quiet: bool = False
    verbose: bool = False
    """Whether the reviews that are new, changed or gone are listed, with all notes."""


@contextlib.contextmanager
def readable_files() -> Iterator[None]:
    """Raise a fault of a file or folder in the block as ``CommandError``."""
    try:
        yield
    except OSError as error:
        detail = f"{error.filename or 'a file'}: {error.strerror}"
        raise CommandError("not synced", detail) from error


def loaded(config: Path | None, names: Sequence[str] = ()) -> Config:
    """Return the configuration.

    Raises:
        Unusable: It cannot be used.
        Missing: It has no source of a name.
    """
    settings = local.configuration(config)
    existing = [source.name for source in settings.sources]
    unknown = [name for name in names if name not in existing]
    if unknown:
        detail = f"no source {printable(unknown[0])}{nearest(unknown[0], existing)}"
        raise Missing("not found", detail, f"There are: {', '.join(existing) or 'none'}")
    return settings


def sync(options: SyncOptions) -> int:
    """Run ``reviewsctl sync`` and return its exit code.

    A configuration that is changed between two rounds is read again; a fault in it ends the round.
    """
    config = loaded(options.config, options.names)
    if options.every is None:
        return _run(options, config)
    while True:
        try:
            _run(options, loaded(options.config, options.names))
        except CommandError as error:
            complain("error", error.members(), as_json=options.as_json)
        time.sleep(options.every)


def _run(options: SyncOptions, config: Config) -> int:
    sync = Sync(
        config=config,
        environ=os.environ,
        options=options,
        now=_now,
        report_wait=(lambda _: None) if options.quiet else _report_wait,
    )
    width = max(map(len, options.names or [source.name for source in config.sources]), default=0)
    code, began = 0, time.monotonic()
    try:
        with bounded_memory(config.data_dir / REVIEWS_FILE), readable_files():
            for outcome in sync.run(options.names):
                seconds, began = time.monotonic() - began, time.monotonic()
                code = code if outcome.state.is_read or outcome.waiting else EXIT_FAILED
                if options.as_json:
                    typer.echo(json_line(report.document(outcome)))
                elif not options.quiet or outcome.is_notable:
                    lines = report.lines(
                        outcome,
                        seconds,
                        width,
                        dry_run=options.dry_run,
                        verbose=options.verbose,
                    )
                    echo(*lines, err=options.quiet)
    except BusyError:
        if not options.due:
            raise
    if not config.sources:
        remedy = "Add one: reviewsctl sources add"
        raise CommandError("no sources", "the configuration has none", remedy)
    if options.dry_run and not (options.as_json or options.quiet):
        echo(NOTHING_WRITTEN)
    return code


def log_in_or_out(name: str, config: Path | None, *, is_login: bool) -> None:
    """Run ``reviewsctl sources login`` or ``logout``."""
    settings = loaded(config, [name])
    source = next(entry for entry in settings.sources if entry.name == name)
    if source.type != "google-business":
        detail = f"a source of type {source.type} has no login, but files with its secrets"
        raise CommandError("no login", detail)

    wire = Wire(
        allow_private=False,
        requests_left=source.requests_per_day,
        now=_now,
        report_wait=_report_wait,
    )
    folder = state_folder(settings, os.environ)
    tokens = readers.google_tokens(source, wire, folder, os.environ, _now)
    if not is_login:
        tokens.log_out()
        typer.echo("Logged out: the tokens are removed and revoked.")
        return
    log_in(tokens, echo, sys.stdin)
    typer.echo(f"Logged in. Try it: reviewsctl sources test {name}")
    typer.echo(_TESTING)


def remove(name: str, config: Path | None) -> None:
    """Run ``reviewsctl sources remove``.

    Raises:
        CommandError: It has a login, which only ``logout`` revokes, or only a person can.
    """
    settings = loaded(config, [name])
    with readable_files():
        if (state_folder(settings, os.environ) / "tokens" / name).exists():
            remedy = f"First: reviewsctl sources logout {name}"
            raise CommandError("not removed", f"{name} has a login", remedy)
        file = adding.remove(config, os.environ, name)
    echo(f"removed from {file}; the reviews of {name} stay")


def add(kind: str, name: str, settings: Sequence[tuple[str, str]], config: Path | None) -> None:
    """Run ``reviewsctl sources add``."""
    try:
        with readable_files():
            file = adding.add(config, os.environ, kind, name, settings)
    except ConfigError as error:
        raise local.Unusable("configuration", error.lines) from error
    echo(f"added to {file}")
    (path,) = (source.path for source in loaded(config).sources if source.name == name)
    if path is not None and not fitting(path):
        fault = no_file(path)
        echo(f"note: {fault.detail}. {fault.remedy}")
    values = dict(settings)
    is_table = kind in {"file", "url"} and not any(".zip" in value for value in values.values())
    if is_table and "import.source" not in values:
        typer.echo(
            'If it is a table of your own that does not say where reviews were written, readers see "import"; '
            "--set import.source=NAME names it. An export of a platform says it itself."
        )
    typer.echo(f"Try it: reviewsctl sources test {name}")
    typer.echo(
        "Then: reviewsctl sync; the timer of reviewsctl service install repeats it, or sync --every 1h"
    )
