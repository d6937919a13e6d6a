"""Asks the ``reviewsd`` of this installation about files and settings; nothing has to be running.

The models and rules are the daemon's own, and this tool imports nothing of it but ``reviewsd.api``: it
runs ``python -P -m reviewsd`` with the options that ``reviewsd/app/check.py`` is made for, and reads JSON.
``-P`` keeps the folder it is run in off the module path, where a stranger's ``json.py`` may lie.

Importing this costs about 25 ms (``subprocess``, msgspec), see main.
"""

import contextlib
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Final, NoReturn, TypeVar

import msgspec

from reviewsctl.daemon.errors import DaemonError
from reviewsctl.daemon.transport import Answer, decode
from reviewsctl.terminal.escaping import printable
from reviewsd.api.files import CheckReport, Shown
from reviewsd.api.insights import Compared, Explanation, Overview, ServedInsights, Suggested
from reviewsd.api.jobs import JobLine, Step

_EX_CONFIG: Final = 78
_EX_DATAERR: Final = 65

_T = TypeVar("_T")


class BadConfiguration(DaemonError):  # noqa: N818  # named as the outcome it is
    """There is no configuration, or it cannot be used."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__(
            "the configuration cannot be used",
            lines[0] if lines else "",
            remedy="\n".join([*lines[1:], "All that is wrong: reviewsctl check"]),
        )


class NotInstalled(DaemonError):  # noqa: N818  # the same
    """The daemon's own program does not work."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__(
            "reviewsd cannot be run",
            lines[-1] if lines else "it said nothing",
            remedy=f"See: {sys.executable} -P -m reviewsd --version",
        )


def check(
    config: Path | None, data: Path | None, step: Callable[[Answer[Step]], None]
) -> Answer[CheckReport]:
    """Everything that is wrong with, or odd about, configuration and data.

    Args:
        config: The configuration file, if it is to be another than the daemon would find.
        data: The data directory, if it is to be another than the configuration's.
        step: Called with each step of a long check.
    """
    arguments = [*_option("--config", config), *_option("--data", data)]
    with _running("--check", "--json", *arguments) as (process, said):
        assert process.stdout is not None  # noqa: S101  # it is a pipe
        for line in process.stdout:
            if decode(line, JobLine).value.type == "progress":
                step(decode(line, Step))
            else:
                return decode(line, CheckReport)
        process.wait()
        raise NotInstalled(_lines(said))


class Conversation:
    """What a running ``reviewsd`` is told and tells, a line at a time; made by ``conversation``."""

    def __init__(self, process: "subprocess.Popen[bytes]", said: IO[bytes]) -> None:
        self._process = process
        self._said = said

    def tell(self, line: bytes) -> None:
        """Tell it a line, which ends so."""
        assert self._process.stdin is not None  # noqa: S101  # it is a pipe
        try:
            self._process.stdin.write(line)
            self._process.stdin.flush()
        except BrokenPipeError:
            self._fail()

    def hear(self, kind: type[_T]) -> _T:
        """The next line."""
        assert self._process.stdout is not None  # noqa: S101  # it is a pipe
        line = self._process.stdout.readline()
        if not line.endswith(b"\n"):
            self._fail()
        return decode(line, kind).value

    def _fail(self) -> NoReturn:
        _judge(self._process.wait(), self._said)
        raise NotInstalled(_lines(self._said))


@contextlib.contextmanager
def conversation(
    config: Path | None, data: Path | None, *arguments: str
) -> "Iterator[Conversation]":
    """A ``reviewsd`` that answers line by line, for the block."""
    where = [*_option("--config", config), *_option("--data", data)]
    with _running(*arguments, *where, stdin=subprocess.PIPE) as (process, said):
        yield Conversation(process, said)


class BadData(DaemonError):  # noqa: N818  # the same
    """The data cannot be used."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__(
            "the data cannot be used",
            lines[0] if lines else "",
            remedy="\n".join([*lines[1:], "All that is wrong: reviewsctl check"]),
        )


def insights(
    config: Path | None, data: Path | None, *, made: bool = False
) -> Answer[ServedInsights[Overview]]:
    """The insights that are served, or made now.

    Args:
        config: The configuration file, if it is to be another than the daemon would find.
        data: The data directory, if it is to be another than the configuration's.
        made: Those that the rules make, ``per_review`` included, whatever is served.
    """
    which = "made" if made else "served"
    arguments = [*_option("--config", config), *_option("--data", data)]
    return decode(_whole("--insights", which, *arguments), ServedInsights[Overview])


def compared(config: Path | None, data: Path | None) -> Answer[Compared]:
    """What the rules make against insights.json; arguments as ``insights``."""
    arguments = [*_option("--config", config), *_option("--data", data)]
    return decode(_whole("--insights", "compared", *arguments), Compared)


def suggested(config: Path | None, data: Path | None) -> Answer[Suggested]:
    """Candidates for insights.yaml; arguments as ``insights``."""
    arguments = [*_option("--config", config), *_option("--data", data)]
    return decode(_whole("--insights", "suggested", *arguments), Suggested)


def explanation(config: Path | None, data: Path | None, review_id: str) -> Answer[Explanation]:
    """Why a review has the labels it has; arguments as ``insights``."""
    arguments = [*_option("--config", config), *_option("--data", data)]
    return decode(_whole(f"--explain={review_id}", *arguments), Explanation)


def settings(config: Path | None) -> Answer[Shown]:
    """The configuration in effect.

    Raises:
        BadConfiguration: There is none, or it is wrong.
    """
    return decode(_whole("--show-config", *_option("--config", config)), Shown)


def schema() -> dict[str, object]:
    """The JSON Schema of the configuration file, without descriptions."""
    return msgspec.json.decode(_whole("--config-schema"), type=dict[str, object])


def _option(name: str, path: Path | None) -> list[str]:
    return [] if path is None else [name, str(path)]


def _whole(*arguments: str) -> bytes:
    with _running(*arguments) as (process, said):
        output, _ = process.communicate()
        _judge(process.returncode, said)
        return output


def _judge(code: int, said: IO[bytes]) -> None:
    if code == _EX_CONFIG:
        raise BadConfiguration(_lines(said))
    if code == _EX_DATAERR:
        raise BadData(_lines(said))
    if code:
        raise NotInstalled(_lines(said))


@contextlib.contextmanager
def _running(
    *arguments: str, stdin: int = subprocess.DEVNULL
) -> "Iterator[tuple[subprocess.Popen[bytes], IO[bytes]]]":
    """The program while it runs, and what it says on stderr."""
    command = [sys.executable, "-P", "-m", "reviewsd", *arguments]
    with tempfile.TemporaryFile() as said:  # a file never fills up, as a pipe nobody reads would
        try:
            process = subprocess.Popen(  # noqa: S603  # our own program
                command, stdin=stdin, stdout=subprocess.PIPE, stderr=said
            )
        except OSError as fault:
            raise NotInstalled([str(fault)]) from fault
        with process:
            try:
                yield process, said
            finally:
                process.kill()


def _lines(said: IO[bytes]) -> list[str]:
    """What it said, without its name before each line."""
    said.seek(0)
    lines = said.read().decode(errors="replace").splitlines()
    return [printable(line.removeprefix("reviewsd: ")) for line in lines]
