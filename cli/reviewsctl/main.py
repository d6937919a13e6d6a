"""reviewsctl: the operator's tool (interfaces.md 1.1-1.4).

Here is the console script. What is asked for most must be quick: ``--help`` alone prints a file,
without Typer, which takes 50 ms of its 60; a test holds the file equal to what Typer says. All else is
in ``commands/root``.

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
_WIDTH = 80  # columns; what the file is made for


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
    if (
        sys.argv[1:] in (["-h"], ["--help"])
        and "_REVIEWSCTL_COMPLETE" not in os.environ
        and _wide()
    ):
        with open(os.path.join(os.path.dirname(__file__), "shipped", "help.txt")) as text:  # noqa: PTH118, PTH120, PTH123  pathlib takes 8 ms
            sys.stdout.write(text.read())
        sys.stdout.flush()
        return
    from reviewsctl.terminal.interruption import raise_signals

    raise_signals()
    from reviewsctl.commands.root import app

    app(prog_name="reviewsctl")


def _wide() -> bool:
    """Whether what shows the help has room for it; Typer folds it where not."""
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns >= _WIDTH
    except OSError:
        return not os.environ.get("COLUMNS")  # no terminal


if __name__ == "__main__":
    main()
