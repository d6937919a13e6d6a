"""A fork_server and workers that speak the protocol and serve nothing, for the tests of ``workers``.

A file ``ill`` in the directory that is the argument makes workers die as soon as they are told more
than to live, ``deaf`` has them answer nothing and ignore that they should end; ``noted`` gets what they hear.
"""

import os
import signal
import socket
import sys
import time
from pathlib import Path

from reviewsd.workers.messages import (
    Ack,
    Alive,
    Begin,
    Command,
    CountRequest,
    CountsReport,
    Drain,
    Ping,
    Ready,
    SessionsEnded,
    WorkerMessage,
    encode,
    read_command,
)


def main() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(fileno=0) as control:
        control.settimeout(None)
        while True:
            packet, descriptors, _, _ = socket.recv_fds(control, 16, 1)
            if not packet:
                return
            if not descriptors:
                control.send(packet)
            elif os.fork() == 0:
                control.close()  # what waits there is lost with the fork_server, and with nobody else
                with socket.socket(fileno=descriptors[0]) as end:
                    end.settimeout(None)
                    read(end, Path(sys.argv[1]))
                return
            else:
                os.close(descriptors[0])


def read(end: socket.socket, directory: Path) -> None:
    message = b""
    while packet := end.recv(65_536):
        message += packet[1:]
        if packet[:1] == b".":
            order, message = read_command(message), b""
            # before anybody learns of the order, and takes the files away
            ill, deaf = ((directory / name).exists() for name in ("ill", "deaf"))
            with (directory / "noted").open("a") as notes:
                notes.write(f"{os.getpid()} {type(order).__name__}\n")
            if isinstance(order, Drain) or (ill and not isinstance(order, Ping)):
                return
            answer(end, order)
            while deaf and isinstance(order, Begin):
                time.sleep(60)


def answer(end: socket.socket, order: Command) -> None:
    told: WorkerMessage
    match order:
        case Ping():
            told = Alive(os.getpid())
        case Begin():
            told = Ready()
        case SessionsEnded():
            told = Ack(order.number)
        case CountRequest():
            told = CountsReport(order.number, {"fingers": 10, "waves_total": 0.5})
        case _:
            return
    end.send(b"." + encode(told))


if __name__ == "__main__":
    main()
