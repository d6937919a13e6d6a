"""reviewsctl: the operator's tool (interfaces.md 1.1-1.4).

Here is the console script; the commands are in ``commands/root``.

A command asks the ``Client``, and prints the daemon's JSON under ``--json``, else the lines of
``status_views`` or ``hub_views``. ``commands/root`` ends it on errors. rich, ``http.client`` and
``importlib.metadata`` are imported where they are used: together they would add 40 ms to shell completion.
"""

import errno
import io
import os
import sys

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_INTERRUPTED = 130  # interfaces.md 1.4


def main() -> None:
    """The console script ``reviewsctl``."""
    try:
        _main()
    except KeyboardInterrupt as stopped:  # while it starts; commands have more to say
        sys.stderr.write("Error: interrupted\n")
        sys.exit(getattr(stopped, "exit_code", _INTERRUPTED))
    except OSError as fault:
        if fault.errno not in _NO_ROOM:
            raise
        where = "the output" if fault.filename is None else repr(fault.filename)
        sys.stderr.write(f"Error: cannot write {where}: {fault.strerror}\nMake room.\n")
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Python writes what is left when it ends
        sys.exit(1)


def _main() -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a name in a review must not end in a traceback
            stream.reconfigure(errors="backslashreplace")
    from reviewsctl.terminal.interruption import raise_signals

    raise_signals()
    from reviewsctl.commands.root import app

    app(prog_name="reviewsctl")


if __name__ == "__main__":
    main()
