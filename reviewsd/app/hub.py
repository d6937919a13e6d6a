"""How the hub is put together: a part of the composition root."""

import random
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from secrets import token_urlsafe
from typing import TYPE_CHECKING

from twisted.internet.interfaces import IReactorFromThreads
from twisted.internet.posixbase import PosixReactorBase
from twisted.internet.threads import deferToThread
from twisted.logger import Logger

from reviewsd.config import convert
from reviewsd.config.schema import Config
from reviewsd.domain.addresses import Addresses
from reviewsd.runtime.counters import Counters
from reviewsd.runtime.state_dir import EX_CONFIG, StartError
from reviewsd.store.backup import Backups, check_keys
from reviewsd.store.deliveries import DeliveryOutcome, EndedSubscription
from reviewsd.store.intents import IntentClaim, Verified
from reviewsd.store.interface import Store
from reviewsd.store.keys import KeyFileError
from reviewsd.store.metered import MeteredStore
from reviewsd.store.secrets import Secrets, load_keys
from reviewsd.store.sqlite import Database
from reviewsd.store.transactions import NewerSchemaError, OtherKeysError, StoreError
from reviewsd.websub.context import Client, Context
from reviewsd.websub.delivery import Deliverer, Delivery, RetryPolicy
from reviewsd.websub.denial import FAILED, Denials
from reviewsd.websub.form import FormRules
from reviewsd.websub.hub import Hub
from reviewsd.websub.operator import Operator
from reviewsd.websub.operator_state import OperatorState
from reviewsd.websub.outbound.client import CallbackClient
from reviewsd.websub.outbound.dialer import Dialer
from reviewsd.websub.outbound.requests import AttemptLimits, Outbound
from reviewsd.websub.outbound.resolver import Resolver, SystemNames
from reviewsd.websub.outbound.tls import Tls
from reviewsd.websub.rate_limits import Backoffs, TokenBuckets
from reviewsd.websub.scheduler import (
    MAX_PAUSE,
    SHARED_MAX_PAUSE,
    Scheduler,
)
from reviewsd.websub.slots import Slots
from reviewsd.websub.subscribe import Policy, RateLimits, SubscribeEndpoint
from reviewsd.websub.verification import Verifier

if TYPE_CHECKING:
    from reviewsd.store.postgres import Postgres

DATABASE = "state.sqlite"
"""The store's file in the state directory."""

VERIFICATIONS = 64
"""Verifications under way in all."""

NEIGHBOURS = 4
"""As many times as a client network may ask, may all of one /24 or /48 (H1)."""

_log = Logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class HubParts:
    """The hub: what the daemon works with, and what it is made of."""

    context: Context
    store: Store
    hub: Hub
    endpoint: SubscribeEndpoint
    operator: Operator
    operator_state: OperatorState
    backoffs: Backoffs
    distribution: Deliverer
    delivering: Scheduler[Delivery, DeliveryOutcome]
    verifying: Scheduler[IntentClaim, Verified]
    denials: Denials
    listeners: set[tuple[str, int]]
    """(address, port) of the service's own, which the hub never calls (E5)."""
    ports: set[int]
    """Of ``base_url`` and the listeners (E1)."""
    backups: Backups | None = None
    """None where the store is not ours to copy."""

    def avoid(self, address: str, port: int) -> None:
        """Call nobody back at a listener of our own."""
        self.listeners.add((address, port))
        self.ports.add(port)

    def use(self, config: Config) -> None:
        """Ask of requests what ``hub.lease`` and ``hub.limits`` say now."""
        self.endpoint.use(_terms(config, self.ports), _gates(config, self.backoffs))


async def build_hub(
    stack: AsyncExitStack,
    reactor: PosixReactorBase,
    config: Config,
    environ: Mapping[str, str],
    counters: Counters,
) -> HubParts:
    """Build the hub, which the caller starts and stops; all below it goes onto the stack.

    Args:
        stack: Of the daemon.
        reactor: What everything runs on.
        config: What the operator wants.
        environ: Names systemd's credentials.
        counters: Counts what happens.

    Raises:
        StartError: Configuration or state cannot be used.
    """
    secrets = _secrets(config, environ)
    database = state_store(reactor, config, secrets)
    await _open(database)
    if isinstance(database, Database) and database.healthy:
        await _check_keys(database, secrets)
    stack.push_async_callback(database.close)
    addresses = convert.addresses(config)
    listeners: set[tuple[str, int]] = set()
    client = _client(stack, reactor, config, addresses, listeners)
    context = Context(
        clock=reactor,
        now=database.now,
        token=partial(token_urlsafe, 32),
        chance=random.random,
        in_thread=deferToThread,
        counters=counters,
    )
    store = MeteredStore(database, reactor, counters)
    parts = assemble(config, context, store, client, addresses, secrets, listeners)
    stack.push_async_callback(parts.denials.stop)
    if isinstance(database, Database):
        return replace(parts, backups=Backups(database, config.state_dir, deferToThread))
    return parts


def assemble(
    config: Config,
    context: Context,
    store: Store,
    client: Client,
    addresses: Addresses,
    secrets: Secrets,
    listeners: set[tuple[str, int]],
) -> HubParts:
    """Put the hub together from what it has from outside; nothing is started.

    Args:
        config: What the operator wants.
        context: Time, chance, threads.
        store: Where everything is remembered.
        client: Calls callbacks.
        addresses: Which of them may be dialled.
        secrets: Seals ``hub.secret``.
        listeners: The client calls nobody back there; filled by ``HubParts.avoid``.
    """
    hub = config.hub
    verification_limits, delivery_limits = hub.verification, hub.delivery
    backoffs = Backoffs()
    verification_slots = Slots(
        context.clock,
        VERIFICATIONS,
        verification_limits.per_host,
        verification_limits.per_address,
        backoffs,
        holds_network=True,
    )
    delivery_slots = Slots(
        context.clock,
        delivery_limits.concurrency,
        delivery_limits.per_host,
        delivery_limits.per_address,
        backoffs,
    )
    operator_state = OperatorState(store, context.now, addresses.block)
    distribution = Deliverer(
        database=store,
        client=client,
        timeout=delivery_limits.timeout,
        slots=delivery_slots,
        context=context,
        secrets=secrets,
        signature_method=hub.signature_method,
        retry_policy=RetryPolicy(delivery_limits.retry_delays, delivery_limits.jitter),
    )
    pause = SHARED_MAX_PAUSE if hub.shared else MAX_PAUSE
    offset = context.chance if hub.shared else lambda: 0.0
    delivering = Scheduler("deliveries", context.clock, distribution, delivery_slots, pause, offset)
    verification = Verifier(
        database=store,
        client=client,
        timeout=verification_limits.timeout,
        slots=verification_slots,
        context=context,
        addresses=addresses,
        backoffs=backoffs,
        confirmed=delivering.wake,
    )
    verifying = Scheduler(
        "verifications", context.clock, verification, verification_slots, pause, offset
    )
    ports = {convert.public_port(config)}
    endpoint = SubscribeEndpoint(
        database=store,
        secrets=secrets,
        operator_state=operator_state,
        context=context,
        policy=_terms(config, ports),
        limits=_gates(config, backoffs),
        accepted=verifying.wake,
    )
    denials = Denials(client, verification_slots, verification_limits.timeout, config.base_url)
    distribution.observe(partial(_tell_removed, denials))
    built = Hub(
        context=context,
        database=store,
        operator_state=operator_state,
        distribution=distribution,
        verifying=verifying,
        delivering=delivering,
        base_url=config.base_url,
        min_interval=hub.min_interval,
        shared=hub.shared,
    )
    operator = Operator(
        context=context,
        database=store,
        operator_state=operator_state,
        hub=built,
        denials=denials,
        distribution=distribution,
        delivering=delivering,
        opened_networks=hub.callbacks.allow_networks,
    )
    return HubParts(
        context=context,
        store=store,
        hub=built,
        endpoint=endpoint,
        operator=operator,
        operator_state=operator_state,
        backoffs=backoffs,
        distribution=distribution,
        delivering=delivering,
        verifying=verifying,
        denials=denials,
        listeners=listeners,
        ports=ports,
    )


def _terms(config: Config, ports: AbstractSet[int]) -> Policy:
    lease = config.hub.lease
    return Policy(
        rules=FormRules(
            base_url=config.base_url,
            callbacks=convert.callback_policy(config, ports),
            lease_default=lease.default,
            lease_min=lease.min,
            lease_max=lease.max,
        ),
        caps=convert.caps(config),
        pending_time=config.hub.limits.pending_time,
    )


def _gates(config: Config, backoffs: Backoffs) -> RateLimits:
    limits = config.hub.limits
    return RateLimits(
        requests=TokenBuckets(limits.requests_per_minute),
        host_limits=TokenBuckets(NEIGHBOURS * limits.requests_per_minute),
        hosts=TokenBuckets(limits.requests_per_minute_and_host),
        backoffs=backoffs,
    )


def _secrets(config: Config, environ: Mapping[str, str]) -> Secrets:
    given = environ.get("CREDENTIALS_DIRECTORY")
    try:
        return Secrets(load_keys(config.key_folder, None if given is None else Path(given)))
    except KeyFileError as error:
        raise StartError(str(error), EX_CONFIG) from error


def state_store(
    reactor: IReactorFromThreads, config: Config, secrets: Secrets
) -> "Database | Postgres":
    """The store that ``hub.store`` names, not opened yet.

    Raises:
        StartError: It cannot be had.
    """
    if not config.hub.shared:
        return Database(config.state_dir / DATABASE, reactor)
    try:
        from reviewsd.store.postgres import Postgres  # noqa: PLC0415 - psycopg is an extra
    except ImportError as error:
        remedy = "pip install 'reviewsd[postgres]'"
        text = f"hub.store: PostgreSQL needs psycopg, which cannot be used ({error}): {remedy}"
        raise StartError(text, EX_CONFIG) from error
    try:
        return Postgres(config.hub.store, reactor, secrets)
    except ValueError as error:
        raise StartError(f"hub.store: {error}", EX_CONFIG) from error


async def _open(database: "Database | Postgres") -> None:
    """A store that fails now may work later; not one of a newer program, or keys (D9, D11)."""
    try:
        await database.open()
    except (NewerSchemaError, OtherKeysError) as error:
        raise StartError(str(error), EX_CONFIG) from error
    except StoreError as error:
        _log.error("the hub waits for its store: {error}", error=str(error))


async def _check_keys(database: Database, secrets: Secrets) -> None:
    """A store that was put back without its keys must not lose subscriptions."""
    try:
        await database.run(partial(check_keys, secrets=secrets))
    except OtherKeysError as error:
        raise StartError(str(error), EX_CONFIG) from error
    except StoreError as error:
        _log.error("the hub waits for its store: {error}", error=str(error))


def _client(
    stack: AsyncExitStack,
    reactor: PosixReactorBase,
    config: Config,
    addresses: Addresses,
    listeners: set[tuple[str, int]],
) -> CallbackClient:
    callbacks = config.hub.callbacks
    if callbacks.allow_networks or callbacks.ca_file:
        _log.warn(
            "callbacks are opened beyond public addresses and the platform's authorities:"
            " hub.callbacks.allow_networks {networks}, ca_file {ca_file}",
            networks=list(callbacks.allow_networks),
            ca_file=callbacks.ca_file,
        )
    try:
        secure = Tls(reactor, None if callbacks.ca_file is None else Path(callbacks.ca_file))
    except ValueError as error:
        raise StartError(f"hub.callbacks.ca_file: {error}", EX_CONFIG) from error
    names = SystemNames(reactor)
    stack.push_async_callback(names.stop)
    outbound = Outbound(
        reactor,
        Resolver(reactor, names, addresses, callbacks.dns_timeout),
        Dialer(reactor, addresses, listeners),
        secure,
        AttemptLimits(
            connect_seconds=callbacks.connect_timeout,
            byte_budget=callbacks.byte_budget,
            max_lifetime=max(
                callbacks.max_lifetime,
                config.hub.delivery.timeout,
                config.hub.verification.timeout,
            ),
        ),
    )
    agent = f"reviewsd/{version('reviewsd')} (+{config.base_url}/; WebSub hub)"
    client = CallbackClient(reactor, outbound, agent.encode())
    stack.push_async_callback(client.close)
    return client


def _tell_removed(
    denials: Denials, _results: Sequence[DeliveryOutcome], ended: Sequence[EndedSubscription]
) -> None:
    for end in ended:
        _log.warn(
            "the subscription of {callback_host} to {topic} was removed: {reason}",
            callback_host=end.pair.host,
            topic=end.topic,
            reason=end.reason,
            type="drop",
        )
        if not end.denied:
            denials.send(end.pair, end.topic, FAILED)
