"""The parameters of the hub's routes on the admin socket.

A wrong one ends the route with a problem that names the parameter and the values it may have.
"""

from dataclasses import replace
from typing import get_args

from twisted.web.server import Request

from reviewsd.admin.responses import ProblemError
from reviewsd.domain.blocks import read_block
from reviewsd.domain.subscription import State
from reviewsd.http1.problems import Problem
from reviewsd.store.listing import is_id

PAGE = 1000
"""Greatest number of subscriptions in one response."""

MAX_TEXT = 2048
"""Characters of a parameter: a callback has no more bytes (E1)."""

MAX_REASON = 200
"""Characters of ``hub.reason``, which goes out in an address."""

INVALID = Problem(400, "invalid-query", "Invalid Parameters", "")
NO_SUBSCRIPTION = Problem(
    404,
    "no-subscription",
    "No Such Subscription",
    "There is none of this id, or it has ended. Those there are: reviewsctl subs list",
)


def after(request: Request) -> str | None:
    """Return the last id of the previous page; None for the first page."""
    value = text(request, "after")
    if value and not is_id(value):
        raise ProblemError(replace(INVALID, detail="after: expected an id such as 12 or p7."))
    return value or None


def limit(request: Request) -> int:
    """Return the number of subscriptions on a page."""
    value = text(request, "limit") or str(PAGE)
    if not (value.isascii() and value.isdigit() and 1 <= int(value) <= PAGE):
        raise ProblemError(replace(INVALID, detail=f"limit: expected 1 to {PAGE}."))
    return int(value)


def state(request: Request) -> str | None:
    """Return one of the four states; None for all."""
    value = text(request, "state")
    if value and value not in get_args(State):
        expected = ", ".join(get_args(State))
        raise ProblemError(replace(INVALID, detail=f"state: expected one of {expected}."))
    return value or None


def host_or_network(request: Request) -> str:
    """Return ``value`` in its normal form, which is logged, so it cannot be a whole callback."""
    try:
        return read_block(text(request, "value"))
    except ValueError as error:
        raise ProblemError(replace(INVALID, detail=f"value: {error}.")) from error


def text(request: Request, name: str, max_length: int = MAX_TEXT) -> str:
    """Return a parameter that may occur once, or '' without it."""
    values = texts(request, name, max_length)
    if len(values) > 1:
        raise ProblemError(replace(INVALID, detail=f"{name}: given more than once."))
    return values[0] if values else ""


def texts(request: Request, name: str, max_length: int = MAX_TEXT) -> list[str]:
    """Return a parameter's values; they are printable, so that they can be logged."""
    values = [value.decode(errors="replace") for value in request.args.get(name.encode(), [])]
    if not all(value.isprintable() and len(value) <= max_length for value in values):
        detail = f"{name}: expected at most {max_length} characters, all of them printable."
        raise ProblemError(replace(INVALID, detail=detail))
    return values
