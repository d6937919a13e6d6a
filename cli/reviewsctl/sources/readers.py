"""Makes the reader of each type of source."""

import datetime
import random
from collections.abc import Callable, Mapping
from typing import Any

from twisted.web.client import Agent

from reviewsctl.sources.budget import RequestBudget
from reviewsctl.sources.dialing import DialingRules
from reviewsctl.sources.download import SourceReader
from reviewsctl.sources.local_files import FileReader
from reviewsctl.sources.secret_files import read_secret
from reviewsctl.sources.web_address import AddressReader, parsed_header
from reviewsctl.sources.wire import Wire
from reviewsd.config.source_schema import ReviewSource


def wire(
    source: ReviewSource,
    budget: RequestBudget,
    reactor: Any,  # noqa: ANN401  # interfaces of a reactor, which are many
    now: Callable[[], datetime.datetime],
) -> Wire:
    """Return the wire of one run."""
    rules = DialingRules(reactor, allow_private=source.allow_private)
    agent = Agent.usingEndpointFactory(reactor, rules)
    return Wire(reactor, agent, budget, random.SystemRandom().random, now)


def reader(
    source: ReviewSource,
    wire: Wire,
    environ: Mapping[str, str],
    now: Callable[[], datetime.datetime],
) -> SourceReader:
    """Return the reader of a source; the configuration has the keys of its type.

    Raises:
        SourceStoppedError: A secret is missing or unusable.
    """
    if source.type == "file":
        return FileReader(source.path or "", now)
    header = read_secret(source, "header_file", environ)
    return AddressReader(
        wire=wire,
        url=source.url or "",
        header=None if header is None else parsed_header(header),
        allow_private=source.allow_private,
    )
