"""Starts ``reviewsd`` and ``reviewsctl`` without their imports, which are most of a start: forked from a process with them.

The process of the tests is the client; the server is one thread that imports, forks and waits, and makes no
reactor. What is forked is the command from ``main`` on, with arguments, an environment, a folder, streams,
signals and random numbers of its own. Not as in a fresh process are its parent, its command line in ``/proc`` and
the seed of ``hash``; tests of these, of what is imported, and of what the interpreter itself reads start the
command.
"""

import atexit
import functools
import gc
import importlib
import json
import os
import pkgutil
import selectors
import signal
import socket
import subprocess
import sys
import threading
import types
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NoReturn

ROOT = Path(__file__).parents[2]
REVIEWSD = "reviewsd.__main__"  # to run with -m
INTERPRETERS = ("GLIBC_", "LANG", "LC_", "LD_", "MALLOC_", "OPENSSL_", "PYTHON", "SSL_", "TZ")
"""Prefixes of variables that are read before our code runs, or once by a library."""

_ENVIRON = dict(os.environ)  # the server's
_MOST = 1 << 18  # bytes of an order


class Switch:
    """Whether daemons are forked: in tests, and not in benchmarks, which measure starts."""

    on = False


def can_fork(environ: Mapping[str, str]) -> bool:
    """Whether a process with this environment is as good as a fresh one."""
    return Switch.on and _early(environ) == _early(_ENVIRON)


def _early(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environ.items() if name.startswith(INTERPRETERS)}


class Forked:
    """A process of the server's, with what ``subprocess.Popen`` has for one's own.

    Args:
        server: Forks it.
        order: What it is to be, as the server has it.
        streams: Its stdout, stderr and, unless it is the server's, stdin.
    """

    def __init__(self, server: "Server", order: Mapping[str, Any], *streams: int) -> None:
        self._received = b""
        self.returncode: int | None = None
        self._server = server
        self._socket, theirs = socket.socketpair()
        with theirs:
            descriptors = [theirs.fileno(), *streams]
            socket.send_fds(server.orders, [json.dumps(order).encode()], descriptors)
        self._socket.settimeout(60)
        self.pid = int(self._line())

    def _line(self) -> bytes:
        while b"\n" not in self._received:
            received = self._socket.recv(64)
            if not received:
                self._socket.close()
                code = self._server.process.poll()
                raise RuntimeError(f"the fork server has ended: {code}")
            self._received += received
        line, _, self._received = self._received.partition(b"\n")
        return line

    def poll(self) -> int | None:
        """The exit code, once there is one."""
        return self._outcome(0)

    def _outcome(self, timeout: float | None) -> int | None:
        if self.returncode is None:
            self._socket.settimeout(timeout)
            with suppress(BlockingIOError, TimeoutError):
                self.returncode = int(self._line())
                self._socket.close()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the exit code.

        Raises:
            subprocess.TimeoutExpired: There is none so soon.
        """
        code = self._outcome(timeout)
        if code is None:
            raise subprocess.TimeoutExpired("reviewsd", timeout or 0)
        return code

    def send_signal(self, sign: int) -> None:
        """Signal it, if it runs."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, sign)

    def terminate(self) -> None:
        """SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL."""
        self.send_signal(signal.SIGKILL)


class Server:
    """A server of this process, in an environment; it ends with this process."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.orders, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # without PYTHONSAFEPATH the folder where it is started comes before these
        own = {"PYTHONPATH": f"{ROOT}:{ROOT}/cli", "PYTHONSAFEPATH": "1"}
        with theirs:
            number = theirs.fileno()
            self.process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(number)],
                stdout=subprocess.DEVNULL,
                env={**environ, **own},
                pass_fds=(number,),
            )
        atexit.register(self._end)

    def _end(self) -> None:
        self.orders.close()
        self.process.wait(60)


def daemon(arguments: Sequence[str], environ: Mapping[str, str], log: IO[bytes]) -> Forked:
    """Fork ``reviewsd`` with its output in the log."""
    return fork(REVIEWSD, arguments, environ, log)


def fork(
    module: str, arguments: Sequence[str], environ: Mapping[str, str], log: IO[bytes]
) -> Forked:
    """Fork the ``main`` of a module with its output in the log."""
    order = {
        "module": module,
        "arguments": arguments,
        "environ": dict(environ),
        "folder": str(Path.cwd()),
    }
    return Forked(_server(), order, log.fileno(), log.fileno())


@functools.cache
def _server() -> Server:
    return Server(_ENVIRON)


_IMPORTED = (
    *("twisted.internet.epollreactor", REVIEWSD, "reviewsd.app.daemon", "reviewsd.config.load"),
    *("reviewsd.publish.page_settings", "reviewsd.config.show", "reviewsd.offline.check"),
    *("reviewsd.offline.insights", "reviewsd.offline.labeler", "csv", "encodings.utf_8_sig"),
    *("http.client", "importlib.metadata", "rich.progress", "rich.table"),
    *("typer._click.decorators", "zoneinfo"),
)
"""Modules that functions of the programs import."""

_PATHS = sys.path[2:]  # behind the server's own PYTHONPATH
_NAMES = ("stdin", "stdout", "stderr")
_STREAMS = [(name, getattr(sys, name).encoding, getattr(sys, name).errors) for name in _NAMES]
_old_streams: list[object] = []  # streams of the process that was forked: closing them would write


def _import() -> None:
    """Import the programs; Klein gets its reactor, which it imports, only after the fork."""
    name = "twisted.internet.reactor"
    sys.modules[name] = types.ModuleType(name)
    reviewsctl = importlib.import_module("reviewsctl")
    commands = [module.name for module in pkgutil.walk_packages(reviewsctl.__path__, "reviewsctl.")]
    for module in (*commands, *_IMPORTED):
        importlib.import_module(module)
    del sys.modules[name]
    gc.collect()
    gc.freeze()  # else each collection in what is forked copies all of it


def serve(orders: socket.socket) -> Any:
    """Fork at each order, and tell how it ended; the order in what was forked, else nothing."""
    with selectors.DefaultSelector() as selector:
        selector.register(orders, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.data is not None:
                    selector.unregister(key.fd)
                    os.close(key.fd)
                    _bury(*key.data)
                    continue
                order, numbers, _, _ = socket.recv_fds(orders, _MOST, 4)
                if not order:
                    return None
                end, *streams = numbers
                if (pid := os.fork()) == 0:
                    for number, stream in zip((1, 2, 0), streams, strict=False):
                        os.dup2(stream, number)
                    orders.detach()
                    return json.loads(order)
                for stream in streams:
                    os.close(stream)
                teller = socket.socket(fileno=end)
                teller.sendall(b"%d\n" % pid)
                selector.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, teller))


def _bury(pid: int, teller: socket.socket) -> None:
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with teller, suppress(OSError):  # the receiver may be gone
        teller.sendall(b"%d\n" % code)


def _become(
    module: str, arguments: Sequence[str], environ: Mapping[str, str], folder: str
) -> NoReturn:
    """Be a program from here on."""
    code: Any = 1
    try:
        gc.enable()  # subprocess has turned it off
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        _reset_signals()
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environ)
        sys.path[:] = [folder, *filter(None, environ.get("PYTHONPATH", "").split(":")), *_PATHS]
        sys.argv = [module, *arguments]
        _reopen_streams()
        if module == REVIEWSD:
            from twisted.internet import reactor  # noqa: PLC0415  importing it installs it

            vars(sys.modules["klein._app"])["reactor"] = reactor
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
        _become(**_order)
