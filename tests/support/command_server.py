"""The server of ``commands``: it has the imports of ``reviewsctl`` and ``reviewsd``, and forks.

These are nine tenths of what most commands take. What is forked has arguments, an environment, a
folder, standard streams, signals and an exit code of its own.
"""

import atexit
import gc
import importlib
import os
import pkgutil
import signal
import socket
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from tests.support.commands import REVIEWSD
from tests.support.fork_server import serve

_IMPORTED = (
    *(REVIEWSD, "reviewsd.offline.check", "reviewsd.offline.insights", "reviewsd.offline.labeler"),
    *("reviewsd.config.show", "csv", "encodings.utf_8_sig", "http.client", "importlib.metadata"),
    *("rich.progress", "rich.table", "typer._click.decorators", "zoneinfo"),
)
"""Modules that functions of the program import."""

_PATHS = sys.path[2:]  # behind the server's own PYTHONPATH
_NAMES = ("stdin", "stdout", "stderr")
_STREAMS = [(name, getattr(sys, name).encoding, getattr(sys, name).errors) for name in _NAMES]
_old_streams: list[object] = []  # streams of the process that was forked: closing them would write


def _import() -> None:
    reviewsctl = importlib.import_module("reviewsctl")
    commands = [module.name for module in pkgutil.walk_packages(reviewsctl.__path__, "reviewsctl.")]
    for name in (*commands, *_IMPORTED):
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # else each collection in what is forked copies all of it


def _become(
    module: str, arguments: Sequence[str], environ: Mapping[str, str], first: list[str]
) -> NoReturn:
    """Be a program from here on."""
    code: Any = 1
    try:
        gc.enable()  # subprocess has turned it off
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        _reset_signals()
        os.environ.clear()
        os.environ.update(environ)
        sys.path[:] = [*first, *filter(None, environ.get("PYTHONPATH", "").split(":")), *_PATHS]
        sys.argv = [module, *arguments]
        _reopen_streams()
        importlib.import_module(module).main()
        code = 0
    except SystemExit as end:
        code = end.code
    except BaseException:  # noqa: BLE001  as the interpreter does
        sys.excepthook(*sys.exc_info())
    finally:
        _end(code)


def _reset_signals() -> None:
    """Reset signals as ``exec`` does, and then as the interpreter does at its start."""
    for signal_ in signal.valid_signals():
        if callable(signal.getsignal(signal_)):
            signal.signal(signal_, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _reopen_streams() -> None:
    """Terminals are written to by lines, and files are not."""
    for number, (name, encoding, errors) in enumerate(_STREAMS):
        _old_streams.append(getattr(sys, name))
        mode, buffering = "w" if number else "r", 1 if name == "stderr" else -1
        stream = open(number, mode, buffering, encoding, errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)


def _end(code: Any) -> NoReturn:
    """End the process as the interpreter does, without taking every module apart."""
    try:
        if code is not None and not isinstance(code, int):
            sys.stderr.write(f"{code}\n")
            code = 1
        for thread in threading.enumerate():
            if thread is not threading.current_thread() and not thread.daemon:
                thread.join()
        atexit._run_exitfuncs()
        sys.stdout.flush()
    except OSError:
        code = 120
    finally:
        os._exit(code or 0)


if __name__ == "__main__":
    _import()
    with socket.socket(fileno=int(sys.argv[1])) as _orders:
        _order = serve(_orders)
    if _order is not None:
        os.chdir(_order["folder"])
        _become(_order["module"], _order["arguments"], _order["environ"], [_order["folder"]])
