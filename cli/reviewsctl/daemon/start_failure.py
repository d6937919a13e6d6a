"""Why the daemon is not running: the reason that its last start left in the state directory."""

from pathlib import Path

import msgspec

from reviewsctl.daemon.errors import DaemonError, NotRunning
from reviewsctl.terminal.times import moment
from reviewsd.api.status import START_FAILURE, StartFailure


def explained(error: DaemonError, state_dir: Path | None) -> DaemonError:
    """Return the error with the reason of the last failed start, where it is known.

    Args:
        error: Why the daemon could not be asked.
        state_dir: The daemon's; None if no configuration names one.
    """
    if not isinstance(error, NotRunning) or state_dir is None:
        return error
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
