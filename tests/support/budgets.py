"""Budgets for tests that are about something else."""

from collections.abc import Callable, Sequence
from ipaddress import IPv4Network, IPv6Network

from twisted.internet.interfaces import IReactorTime

from reviewsd.runtime.cooperative import CooperativeScheduler
from reviewsd.web.budgets import TOTAL, Budgets, MemoryBudget, TimeBudget
from reviewsd.web.clients import ClientNetworks


def budgets(
    clock: IReactorTime,
    trusted: Sequence[IPv4Network | IPv6Network] = (),
    total: int = TOTAL,
    timer: Callable[[], float] = lambda: 0.0,
) -> Budgets:
    """Return budgets; without a timer all work takes no time."""
    networks = ClientNetworks(trusted)
    scheduler = CooperativeScheduler(clock, timer)
    time = TimeBudget(scheduler, networks, clock.seconds)
    return Budgets(time, MemoryBudget(networks, total))
