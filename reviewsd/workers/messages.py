"""What the main process and its workers send each other, over a ``ipc.MessageSocket``.

The main process sends commands, and the workers report; what has a number is answered with it.
MessagePack, since both are of one version of one program, and most of it is bytes.
"""

from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from reviewsd.config.schema import Config
from reviewsd.workers.handoff import HandedConnection


class Listen(Struct, tag=True, frozen=True):
    """A listening socket comes with this; all do so before the worker begins."""

    endpoint: str
    """As it is called in ``listen``."""


class Begin(Struct, tag=True, frozen=True, kw_only=True):
    """What to serve; the file of the configuration may be another by now."""

    config: Config
    log_format: Literal["text", "json"]
    ended: dict[bytes, int]
    """MCP sessions: their digests, and when they would have ended by themselves, ms since 1970."""


class SessionsEnded(Struct, tag=True, frozen=True):
    """More MCP sessions have ended; to be answered when no request finds them alive any more."""

    number: int
    sessions: dict[bytes, int]


class SnapshotChanged(Struct, tag=True, frozen=True):
    """There may be a new snapshot."""


class CountRequest(Struct, tag=True, frozen=True):
    """The counts are asked for (``counters``)."""

    number: int


class Ping(Struct, tag=True, frozen=True):
    """A sign of life is asked for (``heartbeat``); the first command of all."""


class Drain(Struct, tag=True, frozen=True):
    """Take no more connections, finish what is under way, and end."""


class Alive(Struct, tag=True, frozen=True):
    """The worker's sign of life."""

    pid: int


class Ready(Struct, tag=True, frozen=True):
    """The worker takes connections from now on."""


class Ack(Struct, tag=True, frozen=True):
    """What came with this number is done."""

    number: int


class CountsReport(Struct, tag=True, frozen=True):
    """What the worker has counted so far, since it was asked."""

    number: int
    counts: dict[str, float]


Command = Listen | Begin | SessionsEnded | SnapshotChanged | CountRequest | Ping | Drain
WorkerMessage = Alive | Ready | Ack | CountsReport | HandedConnection


def encode(message: Command | WorkerMessage) -> bytes:
    """A message, ready to be sent."""
    return _encoder.encode(message)


def read_command(message: bytes) -> Command:
    """What a worker has received."""
    return _commands.decode(message)


def read_message(message: bytes) -> WorkerMessage:
    """What the main process has received."""
    return _worker_messages.decode(message)


def _plain(value: object) -> str:
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError(type(value))


def _rich(kind: type, value: object) -> object:
    if kind is Path:
        return Path(str(value))
    raise NotImplementedError(kind)


_encoder = msgspec.msgpack.Encoder(enc_hook=_plain)
_commands: msgspec.msgpack.Decoder[Command] = msgspec.msgpack.Decoder(Command, dec_hook=_rich)
_worker_messages: msgspec.msgpack.Decoder[WorkerMessage] = msgspec.msgpack.Decoder(WorkerMessage)
