"""security.txt: whom to tell of a vulnerability (RFC 9116). Its words are the operator's."""

import datetime
from collections.abc import Sequence


def render(
    base_url: str,
    contacts: Sequence[str],
    expires: datetime.datetime,
    policy: str | None,
) -> bytes:
    """The document; fields as in RFC 9116 2.5.

    Args:
        base_url: Origin of the document's own address, without a slash at its end.
        contacts: ``mailto:``, ``https:`` or ``tel:`` addresses, the preferred one first.
        expires: From when on it must not be relied upon; aware.
        policy: Address of the disclosure policy, if there is one.
    """
    moment = expires.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    fields = [
        *(f"Contact: {contact}" for contact in contacts),
        f"Expires: {moment}",
        f"Canonical: {base_url}/.well-known/security.txt",
    ]
    if policy is not None:
        fields.append(f"Policy: {policy}")
    return "".join(f"{field}\n" for field in fields).encode()
