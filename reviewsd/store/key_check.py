"""A sealed word in the store, by which it knows the keys that its secrets are sealed with (H11).

It is sealed anew whenever it was looked at: so it is known with which keys the store is used now, and
a key that was replaced may go some day.
"""

from reviewsd.store.secrets import SealError, Secrets
from reviewsd.store.transactions import SqlCursor

_KEY = "key_check"
_WORD = b"reviewsd"


def opens(cursor: SqlCursor, secrets: Secrets) -> bool:
    """Whether these keys unseal the word; any do where there is none yet."""
    cursor.execute("SELECT value FROM meta WHERE key = ?", (_KEY,))
    row = cursor.fetchone()
    if row is not None:
        try:
            secrets.unseal(bytes.fromhex(row[0]), "", "")
        except SealError:
            return False
    return True


def seal(cursor: SqlCursor, secrets: Secrets) -> None:
    """Seal the word with the newest key."""
    cursor.execute(
        "INSERT INTO meta (key, value) VALUES (?, ?)"
        " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (_KEY, secrets.seal(_WORD, "", "").hex()),
    )
