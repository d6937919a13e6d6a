"""The fan-out of a durable hub with aiohttp and uvloop, plain but tuned, to compare with ours.

    python fanout_peer.py STATE BODY CA CONCURRENCY [bare]     in a venv of its own, started by ``fanout``

It has the same rows in SQLite, in the same order of things: claims and results share a transaction,
synchronous=FULL, while the deliveries go on, and only as much is claimed as can be sent. Its
statements are for whole batches. It has one session, one TLS context, the body prepared once. It
has no address guard, no leases, no retries, no back-off, no bounds on what a subscriber may answer,
no signatures, and nothing else to do meanwhile.

*bare* is aiohttp and nothing else: the due deliveries are read once, several tasks send them one after
the other, and no result is stored, so a crash would deliver everything again.

It says "ready", waits for a line, and works until it is killed.
"""

import asyncio
import secrets
import sqlite3
import ssl
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import aiohttp  # type: ignore[import-not-found,unused-ignore]  # only in the peer's venv
import uvloop  # type: ignore[import-not-found,unused-ignore]
from yarl import URL  # type: ignore[import-not-found,unused-ignore]

PER_HOST = 16
TIMEOUT = 30  # seconds
CLAIM = 90_000  # milliseconds
LOOK = 1_000  # rows looked up at once

Row = tuple[int, str, str]
Result = tuple[int, str, int]  # the subscription's id, the claim's token, the status or 0

_DUE = """
SELECT id, callback, callback_host FROM subscription
WHERE delivered_version < (SELECT version FROM topic WHERE id = topic_id)
AND lease_expires_at > ? AND next_attempt_at <= ? AND (claim_until IS NULL OR claim_until < ?)
ORDER BY next_attempt_at, id LIMIT ?
"""
_CLAIMED = "UPDATE subscription SET claim_token = ?, claim_until = ? WHERE id = ?"
_TAKEN = """
UPDATE subscription
SET delivered_version = (SELECT version FROM topic WHERE id = topic_id), consecutive_failures = 0,
next_attempt_at = 0, claim_token = NULL, claim_until = NULL, last_attempt_at = ?, last_status = ?,
last_error = NULL, last_success_at = ?
WHERE id = ? AND claim_token = ?
"""
_FAILED = """
UPDATE subscription
SET consecutive_failures = consecutive_failures + 1, next_attempt_at = ?, claim_token = NULL,
claim_until = NULL, last_attempt_at = ?, last_status = ?, last_error = 'failed'
WHERE id = ? AND claim_token = ?
"""


class Store:
    """The rows; all of it runs in one thread."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        for pragma in ("locking_mode=EXCLUSIVE", "journal_mode=WAL", "synchronous=FULL"):
            self._connection.execute(f"PRAGMA {pragma}")

    def look(self, limit: int = LOOK) -> list[Row]:
        """Return the due deliveries up to the limit; -1 means no limit."""
        now = time.time_ns() // 1_000_000
        return self._connection.execute(_DUE, (now, now, now, limit)).fetchall()

    def turn(self, results: list[Result], claims: list[Row], token: str) -> None:
        """Write results and claims."""
        now = time.time_ns() // 1_000_000
        run = self._connection.executemany
        self._connection.execute("BEGIN IMMEDIATE")
        successes = [(now, status, now, row, old) for row, old, status in results if status]
        run(_TAKEN, successes)
        failures = [(now + 60_000, now, 0, row, old) for row, old, status in results if not status]
        run(_FAILED, failures)
        run(_CLAIMED, [(token, now + CLAIM, row) for row, _, _ in claims])
        self._connection.execute("COMMIT")


class FanOut:
    """Keeps so many deliveries under way."""

    def __init__(
        self, store: Store, session: aiohttp.ClientSession, body: bytes, concurrency: int
    ) -> None:
        self._store = store
        self._session = session
        self._body = body
        self._concurrency = concurrency
        self._thread = ThreadPoolExecutor(1)
        self._due: list[Row] = []
        self._more = True  # nothing becomes due that was not at the start
        self._results: list[Result] = []
        self._hosts = Counter[str]()
        self._underway = 0
        self._stirred = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Deliver what is due, and then wait."""
        loop = asyncio.get_running_loop()
        while True:
            self._stirred.clear()
            if self._more and not self._due and self._underway < self._concurrency:
                self._due = await loop.run_in_executor(self._thread, self._store.look)
                self._more = len(self._due) == LOOK
            claims = self._pick()
            results, self._results = self._results, []
            if not (claims or results):
                await self._stirred.wait()
                continue
            token = secrets.token_urlsafe(32)
            await loop.run_in_executor(self._thread, self._store.turn, results, claims, token)
            for row, callback, host in claims:
                task = loop.create_task(self._deliver(row, callback, host, token))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    def _pick(self) -> list[Row]:
        picked: list[Row] = []
        passed_over: list[Row] = []
        for at, row in enumerate(self._due):
            if self._underway == self._concurrency:
                passed_over += self._due[at:]
                break
            if self._hosts[row[2]] < PER_HOST:
                self._hosts[row[2]] += 1
                self._underway += 1
                picked.append(row)
            else:
                passed_over.append(row)
        self._due = passed_over
        return picked

    async def _deliver(self, row: int, callback: str, host: str, token: str) -> None:
        status = await post(self._session, callback, self._body)
        self._results.append((row, token, status))
        self._hosts[host] -= 1
        self._underway -= 1
        self._stirred.set()


async def post(session: aiohttp.ClientSession, callback: str, body: bytes) -> int:
    """The status of an answer that accepts, or 0."""
    url = URL(callback, encoded=True)
    try:
        async with session.post(url, data=body, allow_redirects=False) as answer:
            return answer.status if answer.ok else 0
    except (aiohttp.ClientError, TimeoutError) as error:
        sys.stderr.write(f"{error!r}\n")
        return 0


async def bare(store: Store, session: aiohttp.ClientSession, body: bytes, concurrency: int) -> None:
    """Deliver to every subscriber and store nothing."""
    due = iter(store.look(-1))

    async def some() -> None:
        for _, callback, _ in due:
            await post(session, callback, body)

    await asyncio.gather(*(some() for _ in range(concurrency)))


async def main() -> None:
    """Fan out once a line has come."""
    state, body, ca, concurrency, *options = sys.argv[1:]
    store = Store(Path(state))
    origin = "https://reviews.example.com"
    headers = {
        "Content-Type": "application/atom+xml; charset=utf-8",
        "Link": f'<{origin}/feed.xml>; rel="self", <{origin}/api/websub/hub>; rel="hub"',
        "ETag": '"-l6FSsEgPiJsKJe7-yOeXg"',
        "User-Agent": f"peer/1.0 (+{origin}/; WebSub hub)",
        "Accept-Encoding": "identity",
    }
    connector = aiohttp.TCPConnector(
        limit=int(concurrency),
        limit_per_host=PER_HOST,
        ssl=ssl.create_default_context(cafile=ca),
        keepalive_timeout=5,
    )
    async with aiohttp.ClientSession(
        connector=connector,
        headers=headers,
        skip_auto_headers=["Accept"],
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=TIMEOUT),
        auto_decompress=False,
    ) as session:
        content = await asyncio.to_thread(Path(body).read_bytes)
        fan_out = FanOut(store, session, content, int(concurrency))
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
        if options:
            await bare(store, session, content, int(concurrency))
            await asyncio.Event().wait()
        await fan_out.run()


if __name__ == "__main__":
    uvloop.run(main())
