"""The secrets that sign MCP sessions (mcp.md 6)."""

from pathlib import Path

from reviewsd.store import keys

CREDENTIAL = "reviewsd.mcp-session-key"
"""The name of the systemd credential."""

KEY_FILE = "mcp.key"


def load_session_keys(
    folder: Path, credentials: Path | None, configured: Path | None
) -> tuple[bytes, ...]:
    """The secrets for ``Sessions``; made at the first start unless the operator gives them.

    Args:
        folder: Where the key file is when the operator gives none.
        credentials: systemd's ``$CREDENTIALS_DIRECTORY``; its credential comes first.
        configured: ``mcp.session_key_file``, which several nodes may share.

    Raises:
        KeyFileError: There is a file, but no keys in it; or it cannot be read or made.
    """
    return keys.load(
        folder / KEY_FILE,
        "Signs MCP sessions; the first key signs, all verify.",
        keys.credential(credentials, CREDENTIAL) or configured,
    )
