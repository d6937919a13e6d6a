"""Why the last start failed, kept in the state directory for ``reviewsctl status``.

A daemon that has exited has no admin socket left to answer on.
"""

import os
from pathlib import Path

import msgspec
from twisted.logger import Logger

from reviewsd.api.status import START_FAILURE, StartFailure
from reviewsd.api.times import instant
from reviewsd.runtime.state_dir import StartError

_log = Logger()


def record(state_dir: Path, error: StartError, now: float) -> None:
    """Write when, why and with which exit code a start failed.

    Args:
        state_dir: The locked state directory.
        error: The error that ended the start.
        now: POSIX seconds.
    """
    failure = StartFailure(at=instant(now), code=error.code, reason=str(error))
    draft = state_dir / f"{START_FAILURE}.new"
    try:
        draft.write_bytes(msgspec.json.encode(failure))
        os.replace(draft, state_dir / START_FAILURE)  # noqa: PTH105  a reader never sees half of it
    except OSError as fault:
        _log.warn("cannot write {path}: {reason}", path=str(draft), reason=fault.strerror)


def clear(state_dir: Path) -> None:
    """Remove the record, because a start has succeeded."""
    (state_dir / START_FAILURE).unlink(missing_ok=True)
