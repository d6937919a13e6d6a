"""``reviewsctl doctor``: tests everything that serving needs, a line each (interfaces.md 1.1)."""

import datetime
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from reviewsctl.commands.data_options import ConfigFile
from reviewsctl.daemon.session import Json, Quiet, Session, own_version
from reviewsctl.terminal.output import EXIT_FOUND, colored, json_line
from reviewsd.api.program import installed_at
from reviewsd.api.texts import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reviewsctl.daemon.errors import DaemonError
    from reviewsctl.doctor.verdict import Diagnosis
    from reviewsd.api.files import CheckReport, EffectiveConfig
    from reviewsd.api.status import Status

_INDENT: Final = 22  # columns of the verdict and the name of the test

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
        str, typer.Option(metavar="HOST", help="The host to which an https connection is tried.")
    ] = "example.com",
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Tests everything that serving needs, and says what to fix.

    It tests the daemon, the configuration and whether it is in effect, the data and its
    permissions, disk and clock, the public address with its certificate and proxy, outbound https,
    and systemd. It changes nothing. Each line begins with ok, warn or fail, or with skip where a
    test cannot be made from here. The exit code is 5 if a test fails. It takes a few seconds, at
    most half a minute.
    """
    session: Session = ctx.obj
    tests, failed = [], False
    for name, diagnosis in _tests(session, config, None if offline else outbound):
        tests.append({"name": name, **asdict(diagnosis)})
        failed = failed or diagnosis.verdict == "fail"
        if not as_json:
            _print(name, diagnosis, quiet=quiet)
    if as_json:
        typer.echo(json_line({"ok": not failed, "tests": tests}))
    if failed:
        raise typer.Exit(EXIT_FOUND)


def _tests(
    session: Session, config: Path | None, outbound: str | None
) -> "Iterator[tuple[str, Diagnosis]]":
    from reviewsctl.daemon import local  # all of them 60 ms, see main
    from reviewsctl.doctor import offline, public, running
    from reviewsctl.sources import overview

    now = time.time()
    settings = _settings(config)
    answer, version = session.quick_status(), own_version("reviewsd")
    yield "admin socket", running.socket(answer, session.socket, version, installed_at())
    report = local.check(config, None, lambda _: None).value
    yield "configuration", offline.configuration(report)
    if report.unread_addresses:
        yield "notices", offline.notices(report)
    yield "data", offline.data(report)
    yield "data directory", offline.directory(report, served=_serves(answer, report))
    yield "data files", offline.ownership(report)
    if settings is not None:
        yield "disk", offline.disk(Path(settings.text("state_dir")), report)
    if report.data_dir is not None:
        moment = datetime.datetime.fromtimestamp(now, datetime.UTC)
        sources = overview.diagnoses(Path(report.data_dir), moment)
        yield from (("sources", diagnosis) for diagnosis in sources)
    yield "clock", offline.clock(report, now)
    yield "serving", running.serving(answer)
    yield "hub", running.hub(answer)
    if settings is not None:
        yield "in effect", running.same_configuration(answer, settings)
        yield from _address_tests(settings, answer, now, offline=outbound is None)
    if outbound is not None:
        yield "outbound https", public.outbound(outbound)
    yield "systemd", running.systemd()


def _address_tests(
    settings: "EffectiveConfig", answer: "Status | DaemonError", now: float, *, offline: bool
) -> "Iterator[tuple[str, Diagnosis]]":
    from reviewsctl.doctor import public  # see main

    base_url = settings.text("base_url")
    listen, trusted = map(settings.texts, ("listen", "server.trusted_proxies"))
    yield "proxy", public.proxy(base_url, listen, trusted, getattr(answer, "listen", ()))
    if offline:
        return
    resolved = public.resolves(base_url)
    yield "address", resolved
    if resolved.verdict != "fail":
        yield "tls", public.certificate(base_url, now)
        yield "answers", public.answers(base_url)


def _settings(config: Path | None) -> "EffectiveConfig | None":
    """Return the configuration in effect, or None if it is invalid, which another test reports."""
    from reviewsctl.daemon import local  # see main

    try:
        return local.settings(config).value
    except local.Unusable:
        return None


def _serves(answer: "Status | DaemonError", report: "CheckReport") -> bool:
    data = getattr(answer, "data", None)
    return data is not None and data.dir == report.data_dir and data.state == "ok"


def _print(name: str, diagnosis: "Diagnosis", *, quiet: bool) -> None:
    verdict = diagnosis.verdict
    if quiet and verdict != "fail":
        return
    color = {"ok": "green", "warn": "yellow", "fail": "red"}.get(verdict)
    head = colored(f"{verdict:<6}", color)
    typer.echo(f"{head}{name:<16}{printable(diagnosis.detail)}")
    if diagnosis.remedy:
        typer.echo(f"{'':<{_INDENT}}{printable(diagnosis.remedy)}")
