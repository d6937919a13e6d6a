"""The inside of ``reviewsctl sync`` and ``sources``: configuration, reactor, output."""

import contextlib
import datetime
import os
import signal
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import typer
from twisted.internet import task
from twisted.internet.defer import CancelledError, Deferred, ensureDeferred
from twisted.internet.task import deferLater

from reviewsctl.files.folders import opened
from reviewsctl.importing.bounds import bound_memory
from reviewsctl.importing.options import Prompts
from reviewsctl.sources import adding, readers, report, state
from reviewsctl.sources.budget import RequestBudget
from reviewsctl.sources.faults import ReadFailedError
from reviewsctl.sources.logging_in import log_in
from reviewsctl.sources.run import RunOptions
from reviewsctl.sources.state import SourceState, StateUnreadableError
from reviewsctl.sources.sync import REVIEWS, BusyError, Sync, state_folder
from reviewsctl.terminal.escaping import printable
from reviewsctl.terminal.output import EXIT_FAILED, complain, echo, fail, json_line
from reviewsd.config import load as configuration
from reviewsd.config.errors import ConfigError
from reviewsd.config.schema import Config

EXIT_UNKNOWN: Final = 4
_DNS_THREADS: Final = 2
_TESTING: Final = (
    'While the consent screen of the project says "Testing", a login lasts 7 days: publish it.'
)


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncOptions:
    """The options of ``reviewsctl sync``."""

    names: Sequence[str]
    config: Path | None
    due: bool
    every: float | None
    """Seconds between two rounds; None for one round."""
    run: RunOptions
    as_json: bool
    quiet: bool


@contextlib.contextmanager
def refusals(*, as_json: bool) -> Iterator[None]:
    """End the command on a configuration or a folder that cannot be used."""
    try:
        yield
    except ConfigError as error:
        first, *rest = map(printable, error.lines)
        fail("the configuration cannot be used", first, "\n".join(rest), as_json=as_json)
    except StateUnreadableError as error:
        remedy = "Move it away to start over; the next sync reads all sources completely."
        fail("not synced", str(error), remedy, as_json=as_json)
    except OSError as error:
        fail("not synced", f"{error.filename or 'a file'}: {error.strerror}", as_json=as_json)


def loaded(config: Path | None, names: Sequence[str], *, as_json: bool) -> Config:
    """Return the configuration.

    Raises:
        typer.Exit: It cannot be used, or has no source of a name.
    """
    with refusals(as_json=as_json):
        settings = configuration.load(config, os.environ)[0]
    existing = [source.name for source in settings.sources]
    unknown = [name for name in names if name not in existing]
    if unknown:
        detail = f"no source {printable(unknown[0])}; there are: {', '.join(existing) or 'none'}"
        fail("not found", detail, as_json=as_json, code=EXIT_UNKNOWN)
    return settings


def states_of(config: Config) -> Mapping[str, SourceState]:
    """Return what is known of the sources.

    Raises:
        StateUnreadableError: sources.json cannot be read.
        OSError: There is no data directory.
    """
    with opened(config.data_dir) as folder:
        return state.load(folder)


def in_reactor(main: Callable[[Any], Coroutine[Deferred[Any], Any, int]]) -> int:
    """Run a coroutine in Twisted's reactor, which is installed here, and return its exit code.

    A signal cancels it, so that downloads are deleted; the exit code is then that of a shell.
    """
    codes: list[int] = []
    received: list[int] = []

    async def run(reactor: Any) -> None:  # noqa: ANN401  # interfaces of a reactor, which are many
        reactor.suggestThreadPoolSize(_DNS_THREADS)
        await deferLater(reactor, 0)  # it runs now, and its handlers of signals can be replaced

        async def begin() -> int:
            await deferLater(reactor, 0)
            return await main(reactor)

        running = ensureDeferred(begin())

        def stop(number: int, _frame: object) -> None:
            received.append(number)
            reactor.callFromThread(running.cancel)

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, stop)
        with contextlib.suppress(CancelledError):
            codes.append(await running)

    try:
        task.react(run)
    except SystemExit as ended:
        if ended.code:
            return EXIT_FAILED
    if received or not codes:
        return 128 + (received or [signal.SIGINT])[0]
    return codes[0]


def sync(options: SyncOptions, prompts: Prompts) -> int:
    """Run ``reviewsctl sync`` and return its exit code."""
    loaded(options.config, options.names, as_json=options.as_json)

    async def rounds(reactor: Any) -> int:  # noqa: ANN401  # as above
        while True:
            code = await _round(options, prompts, reactor)
            if options.every is None:
                return code
            await deferLater(reactor, options.every)

    return in_reactor(rounds)


async def _round(options: SyncOptions, prompts: Prompts, reactor: Any) -> int:  # noqa: ANN401
    """Run the sources once; a configuration that was changed meanwhile is read again."""
    try:
        config = loaded(options.config, options.names, as_json=options.as_json)
        with refusals(as_json=options.as_json):
            return await _run(options, prompts, reactor, config)
    except typer.Exit as ended:
        return ended.exit_code


async def _run(options: SyncOptions, prompts: Prompts, reactor: Any, config: Config) -> int:  # noqa: ANN401
    if not config.sources:
        remedy = "Add one: reviewsctl sources add"
        fail("no sources", "the configuration has none", remedy, as_json=options.as_json)
    bound_memory(config.data_dir / REVIEWS)
    sync = Sync(
        config=config,
        environ=os.environ,
        prompts=prompts,
        options=options.run,
        reactor=reactor,
        now=_now,
    )
    width = max(len(name) for name in options.names or [source.name for source in config.sources])
    code, began = 0, time.monotonic()
    try:
        async for outcome, requests in sync.run(options.names, due=options.due):
            seconds, began = time.monotonic() - began, time.monotonic()
            is_good = outcome.state.state == "ok"
            code = code if is_good else EXIT_FAILED
            if options.as_json:
                typer.echo(json_line(report.document(outcome, requests)))
            elif not (options.quiet and is_good and not outcome.warning):
                dry_run = options.run.dry_run
                lines = report.lines(outcome, requests, seconds, width, dry_run=dry_run)
                echo(*lines, err=options.quiet)
    except BusyError:
        if not options.due:
            fail("not synced", "another sync is running", as_json=options.as_json)
    return code


def log_in_or_out(name: str, config: Path | None, *, is_login: bool) -> int:
    """Run ``reviewsctl sources login`` or ``logout`` and return the exit code."""
    settings = loaded(config, [name], as_json=False)
    source = next(entry for entry in settings.sources if entry.name == name)
    if source.type != "google-business":
        detail = f"a source of type {source.type} has no login, but files with its secrets"
        fail("no login", detail, as_json=False)

    async def main(reactor: Any) -> int:  # noqa: ANN401  # as above
        budget = RequestBudget(limit=source.requests_per_day, used_before=0)
        wire = readers.wire(source, budget, reactor, _now)
        folder = state_folder(settings, os.environ)
        try:
            tokens = readers.google_tokens(source, wire, folder, os.environ, _now)
            if not is_login:
                await tokens.log_out()
                typer.echo("Logged out: the tokens are removed and revoked.")
                return 0
            await log_in(reactor, tokens, tokens.client, echo)
        except ReadFailedError as fault:
            members = {"title": "failed", "detail": fault.detail, "remedy": fault.remedy}
            complain("error", members, as_json=False)
            return EXIT_FAILED
        typer.echo(f"Logged in. Try it: reviewsctl sources test {name}")
        typer.echo(_TESTING)
        return 0

    return in_reactor(main)


def add(kind: str, name: str, settings: Sequence[tuple[str, str]], config: Path | None) -> None:
    """Run ``reviewsctl sources add``."""
    try:
        with refusals(as_json=False):
            file = adding.add(config, os.environ, kind, name, settings)
    except adding.CannotAddError as fault:
        fail("not added", str(fault), f"Add this to it:\n{fault.block}", as_json=False)
    echo(f"added to {file}")
    values = dict(settings)
    is_table = kind in {"file", "url"} and not any(".zip" in value for value in values.values())
    if is_table and "import.source" not in values:
        typer.echo(
            'A table without a column for it has reviews of the source "import"; --set import.source=NAME '
            "names another"
        )
    typer.echo(f"Try it: reviewsctl sources test {name}")
    typer.echo(
        "Then: reviewsctl sync; the timer of reviewsctl service install repeats it, or sync --every 1h"
    )
