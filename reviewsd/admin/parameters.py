"""The parameters of the hub's routes on the admin socket.

What is wrong ends the route with a problem that names the parameter and what it may be.
"""

import re
from dataclasses import replace
from typing import get_args

from twisted.web.server import Request

from reviewsd.admin.responses import ProblemError
from reviewsd.domain.blocks import read_block
from reviewsd.domain.subscription import State
from reviewsd.http1.problems import Problem

PAGE = 1000
"""Greatest number of subscriptions in one answer."""

MAX_TEXT = 2048
"""Characters of a parameter: a callback has no more bytes (E1)."""

MAX_REASON = 200
"""Characters of ``hub.reason``, which goes out in an address."""

_ID = re.compile("p?[0-9]{1,18}")
_LIMIT = re.compile("[1-9][0-9]{0,3}")

INVALID = Problem(400, "invalid-query", "Invalid Parameters", "")
NO_SUBSCRIPTION = Problem(
    404,
    "no-subscription",
    "No Such Subscription",
    "There is none of this id, or it has ended. Those there are: reviewsctl subs list",
)


def known(identifier: str) -> str:
    """An id out of the path; what cannot be one is not there."""
    if _ID.fullmatch(identifier) is None:
        raise ProblemError(NO_SUBSCRIPTION)
    return identifier


def after(request: Request) -> str | None:
    """The id that the page before ended with; None for the first page."""
    given = text(request, "after")
    if given and _ID.fullmatch(given) is None:
        raise ProblemError(replace(INVALID, detail="after: expected an id such as 12 or p7."))
    return given or None


def limit(request: Request) -> int:
    """How many subscriptions fit on a page."""
    given = text(request, "limit") or str(PAGE)
    if _LIMIT.fullmatch(given) is None or int(given) > PAGE:
        raise ProblemError(replace(INVALID, detail=f"limit: expected 1 to {PAGE}."))
    return int(given)


def state(request: Request) -> str | None:
    """One of the four states; None for all."""
    given = text(request, "state")
    if given and given not in get_args(State):
        expected = ", ".join(get_args(State))
        raise ProblemError(replace(INVALID, detail=f"state: expected one of {expected}."))
    return given or None


def host_or_network(request: Request) -> str:
    """``value`` in its normal form: it goes into the log, so it must be no whole callback."""
    try:
        return read_block(text(request, "value"))
    except ValueError as error:
        raise ProblemError(replace(INVALID, detail=f"value: {error}.")) from error


def text(request: Request, name: str, at_most: int = MAX_TEXT) -> str:
    """A parameter that is given once, or ''."""
    given = texts(request, name, at_most)
    if len(given) > 1:
        raise ProblemError(replace(INVALID, detail=f"{name}: given more than once."))
    return given[0] if given else ""


def texts(request: Request, name: str, at_most: int = MAX_TEXT) -> list[str]:
    """A parameter's values, of printable characters only, so that they can go into the log."""
    given = request.args.get(name.encode(), [])
    values = [value.decode(errors="replace") for value in given]
    if not all(value.isprintable() and len(value) <= at_most for value in values):
        detail = f"{name}: expected at most {at_most} characters, all of them printable."
        raise ProblemError(replace(INVALID, detail=detail))
    return values
