"""The migrations that make the tables of the state store.

Migrations go forward only (D11). A released migration is never edited: a change of the tables is one more
entry at the end, and runs in one transaction with the new version number.

The tables hold state, no queue: their size depends on the number of subscribers, not of changes (I5).
Times are integer milliseconds UTC. The content of topics is not stored, only its sha256.
"""

from reviewsd.store.transactions import NewerSchemaError

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        # Facts about this store: hub_paused, nothing_to_end, key_check; on PostgreSQL
        # schema_version.
        "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
        # ``version`` is one more at each change of the bytes and never used twice.
        """
        CREATE TABLE topic (
            id INTEGER PRIMARY KEY,
            path TEXT NOT NULL UNIQUE
                CHECK (path IN ('/feed.xml', '/api/feed.json', '/reviews.json')),
            version BIGINT NOT NULL DEFAULT 0,
            sha256 TEXT NOT NULL,
            data_revision BIGINT NOT NULL,
            changed_at BIGINT NOT NULL
        )
        """,
        # Verified subscriptions only. The last success and failure outlive each other.
        """
        CREATE TABLE subscription (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            topic_id INTEGER NOT NULL REFERENCES topic (id),
            callback TEXT NOT NULL,
            callback_host TEXT NOT NULL,
            secret_sealed BLOB,
            lease_seconds INTEGER NOT NULL,
            lease_expires_at BIGINT NOT NULL,
            delivered_version BIGINT NOT NULL,
            consecutive_failures INTEGER NOT NULL DEFAULT 0
                CHECK (consecutive_failures BETWEEN 0 AND 2),
            next_attempt_at BIGINT NOT NULL DEFAULT 0,
            claim_token TEXT,
            claim_until BIGINT,
            created_at BIGINT NOT NULL,
            verified_at BIGINT NOT NULL,
            last_attempt_at BIGINT,
            last_status INTEGER,
            last_error TEXT,
            last_success_at BIGINT,
            last_failure_at BIGINT,
            last_failure TEXT,
            UNIQUE (topic_id, callback),
            CHECK ((claim_token IS NULL) = (claim_until IS NULL))
        )
        """,
        "CREATE INDEX subscription_due ON subscription (next_attempt_at)",
        "CREATE INDEX subscription_lease ON subscription (lease_expires_at)",
        "CREATE INDEX subscription_host ON subscription (callback_host)",
        # Intents, one for each (topic, callback): a newer request replaces the older one.
        # ``topic_given`` is echoed verbatim (H17). ``topic_version_at_request`` becomes the
        # delivered version of a new row, so that a change during verification is not lost.
        """
        CREATE TABLE verification (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            topic_id INTEGER NOT NULL REFERENCES topic (id),
            topic_given TEXT NOT NULL,
            callback TEXT NOT NULL,
            callback_host TEXT NOT NULL,
            mode TEXT NOT NULL CHECK (mode IN ('subscribe', 'unsubscribe')),
            secret_sealed BLOB,
            lease_seconds INTEGER NOT NULL,
            challenge TEXT NOT NULL,
            topic_version_at_request BIGINT NOT NULL,
            requester TEXT NOT NULL,
            requested_at BIGINT NOT NULL,
            expires_at BIGINT NOT NULL,
            attempts INTEGER NOT NULL DEFAULT 0,
            next_attempt_at BIGINT NOT NULL,
            claim_token TEXT,
            claim_until BIGINT,
            UNIQUE (topic_id, callback)
        )
        """,
        # Hosts and networks that the operator has blocked (H7).
        "CREATE TABLE block (value TEXT PRIMARY KEY, note TEXT, created_at BIGINT NOT NULL)",
        # The ends of the last 10,000 subscriptions.
        """
        CREATE TABLE ended (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            callback TEXT,
            topic TEXT,
            reason TEXT,
            at BIGINT
        )
        """,
        # MCP sessions that were ended before they expired (S18).
        "CREATE TABLE mcp_ended (id_hash BLOB PRIMARY KEY, expires_at BIGINT NOT NULL)",
    ),
    (
        # Rising numbers and an index, so that new and expired rows are found without a scan.
        "ALTER TABLE mcp_ended RENAME TO mcp_ended_before",
        """
        CREATE TABLE mcp_ended (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            id_hash BLOB NOT NULL UNIQUE,
            expires_at BIGINT NOT NULL
        )
        """,
        """
        INSERT INTO mcp_ended (id_hash, expires_at)
            SELECT id_hash, expires_at FROM mcp_ended_before
        """,
        "DROP TABLE mcp_ended_before",
        "CREATE INDEX mcp_ended_expiry ON mcp_ended (expires_at)",
    ),
    (
        # Processes in a row that have died during an attempt at the row (``rows``).
        "ALTER TABLE subscription ADD COLUMN deaths INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE verification ADD COLUMN deaths INTEGER NOT NULL DEFAULT 0",
    ),
    (
        # Bytes: a text of PostgreSQL holds no NUL (W4).
        "ALTER TABLE verification ADD COLUMN verify_token BLOB",
    ),
    (
        # One row: digests of the ids of all reviews that were ever published; NULL before the first.
        "CREATE TABLE notice_known (version BIGINT NOT NULL, ids BLOB)",
        "INSERT INTO notice_known (version) VALUES (0)",
        # The state of each target of ``notify``, as JSON (``notices.state``).
        "CREATE TABLE notice (target TEXT PRIMARY KEY, state TEXT NOT NULL)",
    ),
)
"""The statements at index n lead from version n to n + 1; an empty database has version 0."""


def check_version(version: int) -> None:
    """Refuse tables of a newer program (D11).

    Raises:
        NewerSchemaError: They are.
    """
    if version > len(MIGRATIONS):
        raise NewerSchemaError(
            f"its schema has version {version}, and this program knows up to {len(MIGRATIONS)}: "
            "run the newer program, or restore a backup of the older one"
        )
