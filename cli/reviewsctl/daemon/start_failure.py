"""Why the daemon is not running: the reason that its last start left in the state directory."""

from pathlib import Path

import msgspec

from reviewsctl.daemon.errors import NotRunning
from reviewsctl.terminal.times import moment
from reviewsd.api.status import START_FAILURE, StartFailure


def explained(error: NotRunning, state_dir: Path) -> NotRunning:
    """Return the error with the reason of the last failed start, where it is known, by the daemon's ``state_dir``."""
    try:
        content = (state_dir / START_FAILURE).read_bytes()
        failure = msgspec.json.decode(content, type=StartFailure)
    except FileNotFoundError:
        return error
    except (OSError, msgspec.DecodeError):
        return error.with_detail(
            "root and the user of the daemon can see whether its last start failed, and why"
        )
    reason = " ".join(failure.reason.split())
    return error.with_detail(
        f"its last start failed at {moment(failure.at)} with exit code {failure.code}: {reason}"
    )
