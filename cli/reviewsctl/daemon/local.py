"""Configuration, data and insights as ``reviewsd`` reads them, without a running daemon.

The functions import ``reviewsd.offline``: that takes some 300 ms, which other commands save.
"""

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from reviewsctl.daemon.errors import Missing
from reviewsctl.daemon.transport import Answer
from reviewsctl.terminal.errors import CommandError
from reviewsd.api.files import CheckReport, EffectiveConfig
from reviewsd.api.jobs import Step
from reviewsd.api.texts import printable

if TYPE_CHECKING:
    from reviewsd.config.schema import Config
    from reviewsd.offline.backup import StoppedState
    from reviewsd.offline.insights import Folder

_T = TypeVar("_T")


class Unusable(CommandError):  # noqa: N818  # named as the outcome it is
    """The configuration or the data is missing, or cannot be used."""

    def __init__(self, subject: str, lines: Sequence[str]) -> None:
        first, *rest = map(printable, lines)
        remedy = "\n".join([*rest, "See all: reviewsctl check"])
        super().__init__(f"the {subject} cannot be used", first, remedy)


def check(
    config: Path | None, data: Path | None, step: Callable[[Answer[Step]], None]
) -> Answer[CheckReport]:
    """Check configuration and data, and return all problems and warnings.

    Args:
        config: The configuration file; None for the one that the daemon would find.
        data: The data directory; None for the configuration's.
        step: Called with each step of a long check.
    """
    from reviewsd.offline.check import inspect

    return _answer(inspect(config, data, os.environ, lambda progress: step(_answer(progress))))


def settings(config: Path | None, content: bytes | None = None) -> Answer[EffectiveConfig]:
    """Return the configuration in effect, or with another content of its file.

    Raises:
        Unusable: It is missing or invalid.
    """
    from reviewsd.config import load, show

    with _errors():
        return _answer(show.shown(load.load(config, os.environ, content=content)))


def configuration(config: Path | None) -> "Config":
    """Return the configuration; arguments and errors as ``settings``."""
    from reviewsd.config import load

    with _errors():
        return load.load(config, os.environ).config


def json_fault(text: bytes) -> tuple[int, int, str] | None:
    """Return line, column and reason of the first place where UTF-8 is not JSON, as ``check`` has them."""
    from reviewsd.domain import json_file

    return json_file.fault(text)


@contextlib.contextmanager
def data_folder(config: Path | None, data: Path | None) -> "Iterator[Folder]":
    """Read the data directory for a block of code; arguments as ``check``.

    Raises:
        Unusable: No directory is named, and the configuration cannot be used; or the data cannot be used, here or
            in the block.
        Missing: What is asked for in the block is not there.
    """
    from reviewsd.offline import insights

    with _errors():
        try:
            yield insights.read(config, data, os.environ)
        except insights.NothingThereError as error:
            raise Missing("not found", str(error), error.remedy) from error


def state(config: Path | None) -> "StoppedState":
    """Copy the state of a daemon that does not run.

    Raises:
        Unusable: The configuration is missing or invalid.
        CommandError: The store cannot be copied.
        OSError: No copy can be made.
    """
    from reviewsd.config.errors import ConfigError
    from reviewsd.offline import backup
    from reviewsd.store.transactions import StoreError

    try:
        return backup.state(config, os.environ)
    except ConfigError as error:
        raise Unusable("configuration", error.lines) from error
    except StoreError as error:
        raise CommandError("the backup was not written", str(error)) from error


def _answer(value: _T) -> Answer[_T]:
    return Answer(value, printable(msgspec.json.encode(value).decode()))


@contextlib.contextmanager
def _errors() -> Iterator[None]:
    from reviewsd.config.errors import ConfigError
    from reviewsd.domain.data_errors import DataError
    from reviewsd.publish.sources import Unsettled

    try:
        yield
    except ConfigError as error:
        raise Unusable("configuration", error.lines) from error
    except DataError as error:
        raise Unusable("data", error.lines()) from error
    except Unsettled as error:
        raise Unusable("data", ["the data files are being written; try again"]) from error
    except OSError as error:
        raise Unusable(
            "data", [f"{error.filename or 'temporary files'}: {error.strerror}"]
        ) from error
