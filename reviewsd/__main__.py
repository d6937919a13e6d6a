"""The command ``reviewsd``: read the configuration, then run the daemon, or only check it.

Exit codes (O7): 0 stopped as asked, 1 failed, 2 wrong command line, 78 wrong configuration, state,
or data without a last good snapshot.
"""

import argparse
import datetime
import os
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from twisted.internet.posixbase import PosixReactorBase

import msgspec
from twisted.logger import Logger

from reviewsd.app import check as inspection
from reviewsd.app import insights, pages
from reviewsd.app.daemon import program_version, serve
from reviewsd.app.reload import Read
from reviewsd.config import load as configuration
from reviewsd.config import show
from reviewsd.config.errors import ConfigError
from reviewsd.config.schema import Config
from reviewsd.demo import demo
from reviewsd.domain.dataset import Dataset
from reviewsd.domain.findings import DataError
from reviewsd.http1 import urls
from reviewsd.http1.routes import LISTED
from reviewsd.publish import sources
from reviewsd.publish.publication import load_sources
from reviewsd.runtime import logs
from reviewsd.runtime.printing import printable
from reviewsd.runtime.state_dir import EX_CONFIG, StartError
from reviewsd.runtime.timers import steady

AS_ROOT = "running as root: it needs no rights at all, and the shipped systemd unit gives it none"
"""Said once (O12)."""

EX_DATAERR = 65  # sysexits.h

_PRIVATE = 0o077  # umask: what this daemon writes is nobody else's business


def main() -> None:
    """Entry point of the command."""
    sys.exit(run(sys.argv[1:], os.environ))


def run(arguments: list[str], environ: Mapping[str, str]) -> int:
    """Do what the command line says; returns the exit code."""
    options = _parser().parse_args(arguments)
    os.umask(_PRIVATE)
    with ExitStack() as stack:
        if options.config_schema:
            return _answer(show.schema(), 0)
        if options.insights or options.explain is not None:
            return tell_insights(options, environ)
        if options.check and options.json:
            return check_for_programs(options.config, options.data, environ)
        path = stack.enter_context(demo()) if options.demo else options.config
        try:
            file = configuration.find(path, environ).absolute()
            loaded = configuration.examine(file, environ)
        except ConfigError as error:
            return _fail(error.lines, EX_CONFIG)
        if options.show_config:
            return _answer(show.shown(loaded), 0)
        config, warnings = loaded.config, loaded.warnings
        odd = pages.doubts(config, datetime.datetime.now(datetime.UTC))
        for warning in (*warnings, *(f"{key}: {reason}" for key, reason in odd)):
            _say(f"warning: {warning}")
        if options.check:
            return check(config)
        logs.start(
            options.log_format, journal=logs.is_journal(environ, sys.stdout), stream=sys.stdout
        )
        if os.geteuid() == 0 and not options.demo:
            Logger().warn(AS_ROOT)
        guide = _demo_guide(config) if options.demo else lambda: None
        read = partial(configuration.load, file, environ)
        return run_daemon(config, environ, guide, read, options.log_format)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="reviewsd",
        description="Serve one business's verified reviews as public read-only JSON and feeds.",
        epilog="Without --config: $REVIEWSD_CONFIG, /etc/reviewsd/reviewsd.yaml, ./reviewsd.yaml. "
        "Every key can be overridden: REVIEWSD_CACHE__MAX_AGE=10. "
        "Operate a running daemon with reviewsctl.",
    )
    parser.add_argument("--version", action="version", version=f"reviewsd {program_version()}")
    parser.add_argument("--config", type=Path, metavar="FILE", help="the configuration, YAML")
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--check",
        action="store_true",
        help="check configuration and data, then exit: 0 when all is well, 78 otherwise",
    )
    what.add_argument(
        "--demo",
        action="store_true",
        help="serve a sample business on http://127.0.0.1:8080 with temporary state",
    )
    parser.add_argument(
        "--log-format",
        choices=("text", "json"),
        default="text",
        help="one line for people, or one JSON object for machines (default: text)",
    )
    for hidden in ("--json", "--show-config", "--config-schema"):  # what reviewsctl asks
        parser.add_argument(hidden, action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--data", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--insights", choices=("served", "made"), help=argparse.SUPPRESS)
    parser.add_argument("--explain", help=argparse.SUPPRESS)
    return parser


def check(config: Config) -> int:
    """Validate the files that the configuration names as the daemon would; itself it has been."""
    if (fault := inspection.files_fault(config)) is not None:
        return _fail([fault], EX_CONFIG)
    try:
        found = sources.read(config.data_dir, config.data.max_bytes)
        dataset, _ = load_sources(found)
        if (fault := pages.fault(config, dataset)) is not None:
            return _fail([fault], EX_CONFIG)
    except DataError as error:
        return _fail(error.lines(), EX_CONFIG)
    except sources.Unsettled:
        return _fail([inspection.WRITTEN], EX_CONFIG)
    except OSError as error:
        return _fail([f"{config.data_dir}: cannot read now: {error.strerror}"], 1)
    print(
        f"configuration and data are valid: {len(dataset.records):,} reviews, "
        f"insights {_insights(dataset, config)}"
    )
    return 0


def _insights(dataset: Dataset, config: Config) -> str:
    if dataset.insights is not None:
        return "yes"
    return "made from them" if config.data.insights == "auto" else "none"


def tell_insights(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Tell the insights, or why a review has its labels, as JSON."""
    try:
        folder = insights.read(options.config, options.data, environ)
        if options.explain is not None:
            return _answer(folder.explanation(options.explain), 0)
        return _answer(folder.insights(made=options.insights == "made"), 0)
    except ConfigError as error:
        return _fail(error.lines, EX_CONFIG)
    except DataError as error:
        return _fail(error.lines(), EX_DATAERR)
    except sources.Unsettled:
        return _fail([inspection.WRITTEN], EX_DATAERR)
    except OSError as error:
        return _fail([f"{error.filename}: {error.strerror}"], EX_DATAERR)


def check_for_programs(path: Path | None, data: Path | None, environ: Mapping[str, str]) -> int:
    """Tell all there is to tell of configuration and data, as JSON lines."""
    report = inspection.inspect(path, data, environ, _print_json)
    return _answer(report, EX_CONFIG if report.problems else 0)


def run_daemon(
    config: Config,
    environ: Mapping[str, str],
    announce: Callable[[], None],
    read: Read,
    log_format: logs.Format,
) -> int:
    """Run the reactor until SIGTERM or SIGINT; returns the exit code."""
    from twisted.internet import reactor  # noqa: PLC0415  importing it installs it
    from twisted.internet.defer import CancelledError, Deferred  # noqa: PLC0415
    from twisted.python.failure import Failure  # noqa: PLC0415

    # Read by the system's resolver: a name that nobody answers for must not hold a thread for 20 s
    os.environ.setdefault("RES_OPTIONS", "timeout:2 attempts:1")  # E6
    unix = steady(cast("PosixReactorBase", reactor))
    running: Deferred[None] = Deferred()
    ended: Deferred[None] = Deferred()
    code, stopping = 0, False

    def failed(failure: Failure) -> None:
        nonlocal code
        match failure.value:
            case CancelledError() if stopping:
                pass
            case StartError(code=wanted):
                code = _fail(str(failure.value).splitlines(), wanted)
            case _:
                code = 1
                Logger().failure("the daemon failed", failure)

    def finish(_: object) -> None:
        ended.callback(None)
        if not stopping:
            reactor.stop()

    def begin() -> None:
        nonlocal running
        running = Deferred.fromCoroutine(serve(unix, config, environ, announce, read, log_format))
        running.addErrback(failed)
        running.addCallback(finish)

    def shut_down() -> Deferred[None]:
        nonlocal stopping
        stopping = True
        for each in (signal.SIGTERM, signal.SIGINT):
            signal.signal(each, signal.SIG_DFL)  # a second one ends it at once (O4)
        running.cancel()
        return ended

    reactor.callWhenRunning(begin)
    reactor.addSystemEventTrigger("before", "shutdown", shut_down)
    reactor.run()
    return code


def _demo_guide(config: Config) -> Callable[[], None]:
    base = config.base_url
    listed = "\n".join(
        f"    {base}{route.prefix}{route.example}" for route in LISTED if route.path != urls.MCP
    )

    def announce() -> None:
        print(
            f"""
  A sample business is being served. Open in a browser:
    {base}/

  Or curl:
{listed}

  Give it to an AI agent:  claude mcp add --transport http reviews {base}{urls.MCP}

  Edit {config.data_dir}/reviews.json and see the change served in two seconds.
  In another terminal:  reviewsctl --socket {config.admin_socket} status
  Ctrl-C stops it and removes everything.
""",
            flush=True,
        )

    return announce


def _answer(document: object, code: int) -> int:
    _print_json(document)
    return code


def _print_json(document: object) -> None:
    print(printable(msgspec.json.encode(document).decode()), flush=True)


def _fail(lines: "list[str] | tuple[str, ...]", code: int) -> int:
    for line in lines:
        _say(line)
    return code


def _say(line: str) -> None:
    shown = printable(line)
    print(f"reviewsd: {shown}" if not line.startswith(" ") else shown, file=sys.stderr)


if __name__ == "__main__":
    main()
