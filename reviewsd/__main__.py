"""The command ``reviewsd``: read the configuration, then run the daemon, or only check it.

Exit codes (O7): 0 stopped by a signal; 1 failed; 2 wrong command line; 78 wrong configuration or state
directory, or invalid data and no last good snapshot.
"""

import argparse
import datetime
import errno
import gc
import os
import signal
import sys
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from reviewsd.api.places import named_configuration
from reviewsd.api.texts import counted, printable
from reviewsd.runtime.state_dir import EX_CONFIG, StartError

if TYPE_CHECKING:
    from twisted.internet.defer import Deferred
    from twisted.internet.posixbase import PosixReactorBase

    from reviewsd.config.load import Loaded
    from reviewsd.config.schema import Config

    Serve = Callable[[PosixReactorBase], Coroutine[Deferred[Any], Any, None]]

# Other modules are imported where they are needed, so that --help takes 30 ms instead of 600.

AS_ROOT = (
    "running as root, but reviewsd needs no privileges; the shipped systemd unit gives it none"
)
"""The warning when the daemon starts as root (O12)."""

MAX_PORT = 65_535

INTERRUPTED = 130  # the exit code of shells for SIGINT

_PRIVATE = 0o077  # umask: files of the daemon are private


def main() -> None:
    """Entry point of the command."""
    gc.disable()  # until all is imported: collections find nothing, and take a tenth of the start
    try:
        code = run(sys.argv[1:], os.environ)
    except KeyboardInterrupt:  # only before the reactor runs, which installs its own handler
        code = _fail(["interrupted"], INTERRUPTED)
    sys.exit(code)


def run(arguments: list[str], environ: Mapping[str, str]) -> int:
    """Run the command line, and return the exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.version:
        from importlib.metadata import version

        print(f"reviewsd {version('reviewsd')}")
        return 0
    if options.port is not None and not options.demo:
        listen = f'listen: ["tcp:{options.port}:interface=127.0.0.1"]'
        parser.error(f"--port belongs to --demo; otherwise write into the configuration: {listen}")
    if options.config is not None and options.demo:
        parser.error("--demo has a configuration of its own; leave out --config")
    os.umask(_PRIVATE)
    if options.demo:
        return _run_demo(options, environ)
    file = None if options.config is None else named_configuration(options.config)
    return _run(options, file, environ)


def _run_demo(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Run the demo, and remove its files afterwards."""
    from reviewsd.demo import demo

    with ExitStack() as stack:
        try:
            path = stack.enter_context(demo.temporary(environ, options.port))
        except StartError as error:
            return _fail([str(error)], error.code)
        except OSError as error:
            place = f"{error.filename}: " if error.filename else ""
            return _fail([f"cannot write the files of the demo: {place}{error.strerror}"], 1)
        return _run(options, path, environ, partial(demo.print_guide, path.parent, environ))


def _run(
    options: argparse.Namespace,
    path: Path | None,
    environ: Mapping[str, str],
    announce: Callable[[Sequence[str]], None] = lambda _: None,  # the log has the addresses
) -> int:
    from reviewsd.config import load as configuration
    from reviewsd.config.errors import ConfigError
    from reviewsd.publish import page_settings

    try:
        file = configuration.find(path, environ).absolute()
        loaded = _read(file, environ, options.node)
    except ConfigError as error:
        return _fail(error.lines, EX_CONFIG)
    config = loaded.config
    page_warnings = page_settings.warnings(config, datetime.datetime.now(datetime.UTC))
    for warning in (*loaded.warnings, *(f"{key}: {reason}" for key, reason in page_warnings)):
        _say(f"warning: {warning}")
    if options.check:
        gc.enable()
        return check(file, environ)
    from twisted.logger import Logger

    from reviewsd.app.daemon import serve
    from reviewsd.runtime import logs

    gc.freeze()  # what is imported lives on, so no collection need visit it
    gc.enable()
    logs.start(options.log_format, environ, sys.stdout)
    if os.geteuid() == 0 and not options.demo:
        Logger().warn(AS_ROOT)
    start = partial(
        serve,
        config=config,
        environ=environ,
        announce=announce,
        read=partial(_read_again, file, environ, options.node),
        wait_for_data=options.wait_for_data,
        placed=loaded.placed,
    )
    return run_daemon(start, config.state_dir)


def _read(file: Path, environ: Mapping[str, str], node: str | None) -> "Loaded":
    """Load the configuration of a node."""
    from dataclasses import replace

    from reviewsd.config import load as configuration
    from reviewsd.config.node import as_node

    loaded = configuration.load(file, environ)
    return loaded if node is None else replace(loaded, config=as_node(loaded.config, node, file))


def _read_again(
    file: Path, environ: Mapping[str, str], node: str | None
) -> "tuple[Config, Sequence[str]]":
    """Load the configuration as the next start would, for a reload.

    Raises:
        ConfigError: It cannot be used, or a file or package that it needs cannot.
    """
    from reviewsd.config.errors import ConfigError
    from reviewsd.offline.needed_files import files_fault

    loaded = _read(file, environ, node)
    # Without the environment, as systemd copies the credentials of the next start only then
    if (fault := files_fault(loaded.config, {}, by_daemon=True)) is not None:
        raise ConfigError((loaded.problem(fault),))
    return loaded.config, loaded.warnings


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="reviewsd",
        description="Serve one business's reviews as public read-only JSON and feeds.",
        epilog="Without --config: $REVIEWSD_CONFIG, ./reviewsd.yaml, /etc/reviewsd/reviewsd.yaml. "
        "Every key can be overridden: REVIEWSD_CACHE__MAX_AGE=10. "
        "Operate a running daemon with reviewsctl.",
    )
    add = parser.add_argument
    add("--version", action="store_true", help="show the version, then exit")
    add("--config", type=Path, metavar="FILE", help="the configuration, YAML, or its folder")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument(
        "--check",
        action="store_true",
        help="check configuration and data, then exit: 0 when all is well, 78 otherwise",
    )
    mode.add_argument(
        "--demo",
        action="store_true",
        help="serve a sample business on http://127.0.0.1:8080 with temporary state; see --port",
    )
    port_help = "port of the demo; 0 is any free one (default: 8080, or the next one that is free)"
    add("--port", type=_port, metavar="N", help=port_help)
    add(
        "--log-format",
        choices=("text", "json"),
        default="text",
        help="log each event as a line of text or as a JSON object (default: text)",
    )
    add(
        "--node",
        metavar="NAME",
        help="run as one of several nodes of this machine, which share PostgreSQL (hub.store)",
    )
    add(
        "--wait-for-data",
        action="store_true",
        help="start even without valid data, and answer 503 until there is some (for containers)",
    )
    return parser


def _port(text: str) -> int:
    """Return the number of a port.

    Raises:
        ArgumentTypeError: The text is not the number of a port.
    """
    if text.isascii() and text.isdigit() and int(text) <= MAX_PORT:
        return int(text)
    raise argparse.ArgumentTypeError(f"expected a port from 0 to {MAX_PORT}, got {text!r}")


def check(file: Path, environ: Mapping[str, str]) -> int:
    """Check a valid configuration and the files that it names; return the exit code."""
    from reviewsd.offline.check import inspect

    report = inspect(file, None, environ, lambda _: None)
    facts = report.facts
    if report.problems or facts is None:
        return _fail([line for problem in report.problems for line in problem.lines], EX_CONFIG)
    insights = "yes" if facts.insights else "made from them" if facts.made else "none"
    print(
        f"configuration and data are valid: {counted(facts.reviews, 'review')}, insights {insights}"
    )
    return 0


def run_daemon(start: "Serve", state_dir: Path) -> int:
    """Run the reactor until SIGTERM or SIGINT, and return the exit code.

    Args:
        start: Starts the daemon, and serves until it is cancelled.
        state_dir: The directory to name in the error message when the disk is full.
    """
    from twisted.internet import reactor  # importing it installs it
    from twisted.internet.defer import CancelledError, Deferred
    from twisted.logger import Logger

    # libc's resolver reads it: a look-up without an answer must not hold a thread for 20 s
    os.environ.setdefault("RES_OPTIONS", "timeout:2 attempts:1")  # E6
    unix = cast("PosixReactorBase", reactor)
    # All timers of Twisted use this method, which is time.time: a wall clock that was set back by an hour
    # stopped everything for an hour (D13). Only twisted.web's access log, which is off, needs a wall clock
    unix.seconds = time.monotonic
    running: Deferred[None] = Deferred()
    ended: Deferred[None] = Deferred()
    code, stopping = 0, False
    end_at_once = signal.getsignal(signal.SIGTERM)  # the default, or that of the demo

    async def run_until_ended() -> None:
        nonlocal code
        try:
            await start(unix)
        except Exception as error:  # noqa: BLE001 - logged, unless the cause is outside this program
            match error:
                case CancelledError() if stopping:
                    pass
                case StartError(code=exit_code):
                    code = _fail(str(error).splitlines(), exit_code)
                case OSError(errno=errno.ENOSPC | errno.EDQUOT, filename=name, strerror=why):
                    code = _fail([f"cannot write {name or state_dir}: {why}; make room"], 1)
                case _:
                    code = 1
                    Logger().failure("the daemon failed")
        finally:
            ended.callback(None)
            if not stopping:
                reactor.stop()

    def begin() -> None:
        nonlocal running
        running = Deferred.fromCoroutine(run_until_ended())

    def shut_down() -> Deferred[None]:
        nonlocal stopping
        stopping = True
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, end_at_once)  # a second signal ends the process at once (O4)
        running.cancel()
        return ended

    reactor.callWhenRunning(begin)
    reactor.addSystemEventTrigger("before", "shutdown", shut_down)
    reactor.run()
    return code


def _fail(lines: Sequence[str], code: int) -> int:
    for line in lines:
        _say(line)
    return code


def _say(line: str) -> None:
    text = printable(line)
    with suppress(OSError):  # standard error may be a file on a full disk
        # The further lines of a message are indented
        print(text if line.startswith(" ") else f"reviewsd: {text}", file=sys.stderr)


if __name__ == "__main__":
    main()
