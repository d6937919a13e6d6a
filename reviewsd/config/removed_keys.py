"""Keys of earlier versions, each with what holds now (decision 300).

Their numbers are constants at the code that uses them.
"""

REMOVED_KEYS = {
    "keys_dir": "secret.key and mcp.key are in state_dir, unless systemd passes credentials",
    "data.settle": "files are read after three equal looks, 250 ms apart",
    "data.max_bytes": "a data file may have 1 GiB",
    "cache.stale_while_revalidate": "it is 300 seconds",
    "cache.stale_if_error": "it is one day",
    "server.max_body": "the body of an MCP request may have 64 KiB",
    "server.header_deadline": "the head of a request must be complete after 10 seconds",
    "server.body_deadline": "the body of a request must be complete after 20 seconds",
    "server.requests_per_connection": "a connection is closed after 1,000 requests",
    "server.per_client": "a client network may have 256 connections",
    "server.min_drain_rate": "a client must take 8 KiB a second of a response",
    "server.read_limit.burst": "100 documents may be read at once",
    "hub.lease.min": "a lease has at least 5 minutes",
    "hub.lease.max": "a lease has at most 30 days",
    "hub.delivery.jitter": "a wait varies by a fifth",
    "hub.delivery.timeout": "a delivery may take 30 seconds",
    "hub.delivery.concurrency": "64 deliveries run at the same time",
    "hub.delivery.per_host": "16 deliveries to one host run at the same time",
    "hub.delivery.per_address": "16 deliveries to one address network run at the same time",
    "hub.verification": (
        "a verification may take 15 seconds; 8 for one host and 16 for one address network run at "
        "the same time"
    ),
    "hub.limits.requests_per_minute_and_host": "hub.limits.requests_per_minute holds for hosts too",
    "hub.limits.active": "the hub accepts 10,000 subscriptions",
    "hub.limits.pending": "2,000 requests may wait for their verification",
    "hub.limits.pending_per_client": "240 requests of a client network may wait for verification",
    "hub.limits.pending_time": "a request that is not confirmed ends after 10 minutes",
    "hub.callbacks.ports": "callbacks may have port 443, or one from 1024 on",
    "hub.callbacks.dns_timeout": "a name must resolve within 5 seconds",
    "hub.callbacks.connect_timeout": "a connection must be open within 10 seconds",
    "hub.callbacks.byte_budget": "a callback may send 128 KiB in one exchange",
    "hub.callbacks.max_lifetime": "a connection to a callback ends after 45 seconds",
    "mcp.session_lifetime": "a session lasts 30 days",
    "mcp.answer_budget": "an answer may have 40,000 bytes of text",
    "mcp.max_resource": "a resource may have 1 MiB",
    "mcp.max_held": "answers that clients have not taken may hold 128 MiB",
    "mcp.server_card": "the server card is always served",
    "pages.sitemap_reviews": "the sitemap has the newest 50,000 reviews",
    "security.policy": "name your policy on the page of a contact",
}


def replacement(key: str) -> str | None:
    """Return what holds in place of a removed key or of its section; None for other keys."""
    while key and key not in REMOVED_KEYS:
        key = key.rpartition(".")[0]
    return REMOVED_KEYS.get(key)
