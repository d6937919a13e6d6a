"""Opens the state store."""

import sys
from functools import partial
from typing import TYPE_CHECKING

from twisted.internet.base import ReactorBase
from twisted.logger import Logger

from reviewsd.app.context import DaemonContext
from reviewsd.config.schema import Config
from reviewsd.runtime.counters import Counters
from reviewsd.runtime.state_dir import EX_CONFIG, StartError
from reviewsd.store.keys import HUB_KEYS, Secrets, check_keys
from reviewsd.store.sqlite import Database
from reviewsd.store.transactions import NewerSchemaError, StoreError, WrongKeysError

if TYPE_CHECKING:
    from reviewsd.store.postgres import Postgres

DATABASE = "state.sqlite"  # the store's file in the state directory

_log = Logger()


async def open_store(context: DaemonContext) -> "tuple[Database | Postgres, Secrets]":
    """Open the store, and load the keys of the secrets in it; the stack closes the store.

    A store that fails now may work later. One that a newer program has used, or that was restored without
    its keys, is refused: it would lose subscriptions (D9, D11).

    Raises:
        StartError: The configuration or the state cannot be used.
    """
    config = context.config
    secrets = Secrets(HUB_KEYS.load(config.key_folder, context.environ))
    database = make_store(context.reactor, config, secrets, context.counters)
    context.stack.push_async_callback(database.close)
    try:
        await database.open()
        if isinstance(database, Database) and database.healthy:
            await database.run(partial(check_keys, secrets=secrets))
    except (NewerSchemaError, WrongKeysError) as error:
        raise StartError(str(error), EX_CONFIG) from error
    except StoreError as error:
        _log.error("the hub waits for its store: {error}", error=str(error))
    return database, secrets


def make_store(
    reactor: ReactorBase, config: Config, secrets: Secrets, counters: Counters
) -> "Database | Postgres":
    """Return the store that ``hub.store`` names, not opened yet.

    Raises:
        StartError: Its configuration or its driver cannot be used.
    """
    if not config.hub.shared:
        return Database(config.state_dir / DATABASE, reactor, counters)
    try:
        from reviewsd.store.postgres import Postgres  # noqa: PLC0415 - psycopg is an extra

        return Postgres(config.hub.store, reactor, secrets, counters)
    except ImportError as error:
        remedy = f"{sys.prefix}/bin/pip install 'psycopg[binary]'"
        fault = f"PostgreSQL needs psycopg, which cannot be used ({error}): {remedy}"
    except ValueError as error:
        fault = str(error)
    raise StartError(f"hub.store: {fault}", EX_CONFIG)
