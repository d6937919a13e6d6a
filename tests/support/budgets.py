"""Budgets for tests that are about something else."""

from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Network

from twisted.internet.interfaces import IReactorTime

from reviewsd.runtime.turns import CooperativeScheduler
from reviewsd.web.budgets import TOTAL, Budgets, ClientNetworks, MemoryBudget, TimeBudget


def budgets(
    clock: IReactorTime, trusted: Sequence[IPv4Network | IPv6Network] = (), total: int = TOTAL
) -> Budgets:
    """Return budgets; work takes no time, unless it advances the clock."""
    networks = ClientNetworks(trusted)
    scheduler = CooperativeScheduler(clock)
    time = TimeBudget(scheduler, networks, clock.seconds)
    return Budgets(time, MemoryBudget(networks, total))
