"""What answers take of the memory until their clients have taken them (S5).

Documents, resources of MCP and the records of a search are views of mapped files: a slow reader of them
holds nothing. The answer of an MCP tool is memory of this process, and a client that asks for much and
reads slowly keeps it as long as it reads. So it is counted, in all and for each client network, and
where that is too much, no further large answer is begun: a stranger gets 503, the service does not die.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from mmap import mmap

from reviewsd.http1.representation import Buffer

TOTAL = 134_217_728
"""Bytes of all clients, unless set otherwise: 128 MiB."""

SHARE = 4
"""One client network may hold one part in so many."""

SMALL = 16_384
"""Bytes of an answer that is given in any case: it fits into the buffers of the kernel."""

BATCH = 4_194_304
"""Bytes of the answers to one batch of MCP, 4 MiB: 50 searches without a limit of their own."""


PART = 256
"""Bytes that a part of an answer takes beside its content; a batch may have 300 parts."""


class MemoryFullError(Exception):
    """No further large answer may be begun, for this client or for anybody."""


def own_size(parts: Sequence[Buffer]) -> int:
    """The bytes of memory that an answer takes: of a view of a mapped file only the view."""
    own = [len(part) for part in parts if type(part) is bytes or not _mapped(part)]
    return PART * len(parts) + sum(own)


def _mapped(part: Buffer) -> bool:
    return type(part) is memoryview and type(part.obj) is mmap


class AnswerMemory:
    """Counts what is held.

    Args:
        total: Bytes of all clients.
    """

    def __init__(self, total: int = TOTAL) -> None:
        self.in_use = 0
        """Bytes of all clients now."""
        self._total = total
        self._share = total // SHARE
        self._clients = Counter[str]()

    def full(self, client: Callable[[], str]) -> bool:
        """Whether a client may not be given more; who it is, is asked only where it matters."""
        if self.in_use < self._share:
            return False
        return self.in_use >= self._total or self._clients[client()] >= self._share

    def reserve(self, client: str, size: int) -> None:
        """Count bytes that are held for a client."""
        self.in_use += size
        self._clients[client] += size

    def release(self, client: str, size: int) -> None:
        """Count them no longer."""
        self.in_use -= size
        self._clients[client] -= size
        if not self._clients[client]:
            del self._clients[client]


class Room:
    """What one request holds.

    Args:
        memory: Of all.
        client: Tells for whom; called only where something is held.
    """

    def __init__(self, memory: AnswerMemory, client: Callable[[], str]) -> None:
        self._memory = memory
        self._client = client
        self._name = ""
        self._size = 0

    @property
    def full(self) -> bool:
        """Whether it should hold no more, on its own account or because of others."""
        return self._size >= BATCH or self._memory.full(self._client)

    def reserve(self, parts: Sequence[Buffer]) -> None:
        """Hold the bytes of these, whether there is room or not."""
        if size := own_size(parts):
            self._name = self._name or self._client()
            self._memory.reserve(self._name, size)
            self._size += size

    def release(self) -> None:
        """Hold nothing any more; again it does nothing."""
        if self._size:
            self._memory.release(self._name, self._size)
            self._size = 0
