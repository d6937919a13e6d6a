"""security.txt, the contact for vulnerabilities (RFC 9116), in the operator's words."""

import datetime
from collections.abc import Sequence


def render(base_url: str, contacts: Sequence[str], expires: datetime.datetime) -> bytes:
    """Return the document, with the fields of RFC 9116 2.5.

    Args:
        base_url: Origin of the document's own address, without a slash at its end.
        contacts: ``mailto:``, ``https:`` or ``tel:`` addresses, the preferred one first.
        expires: The aware time after which it is stale.
    """
    moment = expires.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    fields = [
        *(f"Contact: {contact}" for contact in contacts),
        f"Expires: {moment}",
        f"Canonical: {base_url}/.well-known/security.txt",
    ]
    return "".join(f"{field}\n" for field in fields).encode()
