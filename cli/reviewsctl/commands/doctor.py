"""``reviewsctl doctor``: one line for each thing that can be wrong (interfaces.md 1.1)."""

import datetime
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from reviewsctl.commands.data_options import ConfigFile
from reviewsctl.daemon.session import Json, Quiet, Session, own_version
from reviewsctl.terminal.output import EXIT_FOUND, colored, failing, json_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reviewsctl.daemon.errors import DaemonError
    from reviewsctl.doctor.verdict import Diagnosis
    from reviewsd.api.files import CheckReport, Shown
    from reviewsd.api.status import Status

_ANSWER_SECONDS: Final = 2.0  # of the daemon; doctor runs when things are broken
_VERDICT, _INDENT = 6, 22  # columns of the verdict, and with the name of the test

EPILOG: Final = """\b
    Examples:
      reviewsctl doctor
      reviewsctl doctor --offline
      reviewsctl doctor --json | jq '.tests[] | select(.verdict == "fail")'"""


def doctor(
    ctx: typer.Context,
    *,
    config: ConfigFile = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Test nothing that needs the network.")
    ] = False,
    outbound: Annotated[
        str, typer.Option(metavar="HOST", help="Whom to call to see whether https gets out.")
    ] = "example.com",
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Tests all that is needed to serve, and says what to do.

    Whether the daemon answers; configuration and data; who may read and replace the data; disk and
    clock; whether base_url leads here, with a valid certificate, past the proxy, to our own links;
    whether deliveries get out; systemd. Nothing is changed. A line begins with ok, warn, fail, or
    skip where it cannot be told from here. The exit code is 5 when something fails. It takes a
    few seconds, at worst half a minute.
    """
    session: Session = ctx.obj
    tested = []
    with failing(as_json=as_json):
        for each in _tests(session, config, None if offline else outbound):
            tested.append(each)
            if not as_json:
                _print(each, quiet=quiet)
    failed = any(each.verdict.value == "fail" for each in tested)
    if as_json:
        typer.echo(json_line({"ok": not failed, "tests": [_members(each) for each in tested]}))
    if failed:
        raise typer.Exit(EXIT_FOUND)


def _tests(session: Session, config: Path | None, outbound: str | None) -> "Iterator[Diagnosis]":
    from reviewsctl.daemon import local, start_failure  # all of them 60 ms, see main
    from reviewsctl.daemon.errors import DaemonError
    from reviewsctl.doctor import offline, public, running
    from reviewsctl.sources import overview

    now = time.time()
    shown = _settings(config)
    socket = session.given or _configured(shown) or session.socket
    answer = _status(socket)
    if isinstance(answer, DaemonError):
        directory = None if shown is None else Path(shown.text("state_dir"))
        answer = start_failure.explained(answer, directory)
    yield running.socket(answer, socket, own_version("reviewsd"))
    report = local.check(config, None, lambda _: None).value
    yield offline.configuration(report)
    yield offline.data(report)
    yield offline.directory(report, served=_serves(answer, report))
    if shown is not None:
        yield offline.disk(Path(shown.text("state_dir")), report)
    if report.data_dir is not None:
        yield from overview.diagnoses(
            Path(report.data_dir), datetime.datetime.fromtimestamp(now, datetime.UTC)
        )
    yield offline.clock(report, now)
    yield running.synchronised()
    yield running.serving(answer)
    yield running.hub(answer)
    if shown is not None:
        base_url = shown.text("base_url")
        yield running.same_configuration(answer, base_url, shown.text("data_dir"))
        yield public.proxy(
            base_url,
            _texts(shown, "listen"),
            _texts(shown, "server.trusted_proxies"),
            getattr(answer, "listen", ()),
        )
        if outbound is not None:
            yield from _public(base_url, now)
    if outbound is not None:
        yield public.outbound(outbound)
    yield running.systemd()


def _public(base_url: str, now: float) -> "Iterator[Diagnosis]":
    from reviewsctl.doctor import public  # see main
    from reviewsctl.doctor.verdict import Verdict

    resolved = public.resolves(base_url)
    yield resolved
    if resolved.verdict is not Verdict.FAIL:
        yield public.certificate(base_url, now)
        yield public.answers(base_url)
        yield public.agents(base_url)


def _configured(shown: "Shown | None") -> Path | None:
    """The socket of the configuration that is tested."""
    return None if shown is None else Path(shown.text("admin_socket"))


def _status(socket: Path) -> "Status | DaemonError":
    from reviewsctl.daemon import (
        client,
        errors,  # 25 ms, see main
    )

    try:
        return client.Client(socket, answer_seconds=_ANSWER_SECONDS).status().value
    except errors.DaemonError as error:
        return error


def _settings(config: Path | None) -> "Shown | None":
    """The configuration in effect; None where it is wrong, which another test tells."""
    from reviewsctl.daemon import local  # see main

    try:
        return local.settings(config).value
    except local.BadConfiguration:
        return None


def _serves(answer: "Status | DaemonError", report: "CheckReport") -> bool:
    """Whether a daemon answers and serves this very data."""
    data = getattr(answer, "data", None)
    return data is not None and data.dir == report.data_dir and data.state == "ok"


def _texts(shown: "Shown", key: str) -> tuple[str, ...]:
    found = shown.value(key)
    return tuple(map(str, found)) if isinstance(found, list) else ()


def _print(tested: "Diagnosis", *, quiet: bool) -> None:
    from reviewsctl.terminal.escaping import printable  # see main
    from reviewsctl.terminal.words import folded

    verdict = tested.verdict.value
    if quiet and verdict != "fail":
        return
    colour = {"ok": "green", "warn": "yellow", "fail": "red"}.get(verdict)
    head = colored(f"{verdict:<6}", colour)
    said = folded(f"{tested.name:<16}{printable(tested.said)}", indent=_INDENT, begun=_VERDICT)
    typer.echo(f"{head}{said}")
    if tested.remedy:
        remedy = folded(printable(tested.remedy), indent=_INDENT, begun=_INDENT)
        typer.echo(f"{'':<{_INDENT}}{remedy}")


def _members(tested: "Diagnosis") -> dict[str, str]:
    return {
        "name": tested.name,
        "verdict": tested.verdict.value,
        "said": tested.said,
        "remedy": tested.remedy,
    }
