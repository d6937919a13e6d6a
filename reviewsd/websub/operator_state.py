"""What the operator has ordered: a pause, blocks (H7). Kept in the store, asked in memory."""

from collections.abc import Callable, Sequence
from functools import partial

from reviewsd.domain import blocks as rules
from reviewsd.domain.blocks import Network
from reviewsd.store import upkeep
from reviewsd.store.interface import Store
from reviewsd.store.transactions import SqlCursor
from reviewsd.store.upkeep import BlockRow


class OperatorState:
    """The orders that stand.

    Args:
        database: Where they survive a restart.
        now: Wall clock, milliseconds since 1970 UTC.
        refuse: Takes the networks that must not be dialled.
    """

    def __init__(
        self,
        database: Store,
        now: Callable[[], int],
        refuse: Callable[[Sequence[Network]], None],
    ) -> None:
        self._database = database
        self._now = now
        self._refuse = refuse
        self._hit: Callable[[str], bool] = rules.hits(())
        self.paused = False
        self.blocks: Sequence[BlockRow] = ()

    async def load(self) -> None:
        """Take over what the store remembers.

        Raises:
            StoreError: It cannot say.
        """

        def read(cursor: SqlCursor) -> tuple[bool, Sequence[BlockRow]]:
            return upkeep.paused(cursor), upkeep.blocks(cursor)

        self.paused, blocks = await self._database.run(read)
        self._replace(blocks)

    def blocked(self, host: str) -> bool:
        """Whether a callback host is blocked by its name or, if it is one, its address."""
        return self._hit(host)

    async def pause(self) -> None:
        """Have nothing sent to anybody."""
        await self._database.run(partial(upkeep.pause, now=self._now()))
        self.paused = True

    async def resume(self) -> None:
        """End the pause."""
        await self._database.run(upkeep.resume)
        self.paused = False

    async def block(self, value: str, note: str, *, dry_run: bool) -> int:
        """Block a host or network and remove what it hits; returns how much that is.

        Raises:
            ValueError: It is neither.
        """
        value = rules.read_block(value)
        removed = await self._database.run(
            partial(upkeep.block, value=value, note=note, now=self._now(), dry_run=dry_run)
        )
        if not dry_run:
            self._replace(await self._database.run(upkeep.blocks))
        return removed

    async def unblock(self, value: str) -> bool:
        """Take a block back; whether there was one.

        Raises:
            ValueError: It is neither a host nor a network.
        """
        found = await self._database.run(partial(upkeep.unblock, value=rules.read_block(value)))
        self._replace(await self._database.run(upkeep.blocks))
        return found

    def _replace(self, blocks: Sequence[BlockRow]) -> None:
        self.blocks = blocks
        values = [block.value for block in blocks]
        self._hit = rules.hits(values)
        self._refuse(rules.networks(values))
