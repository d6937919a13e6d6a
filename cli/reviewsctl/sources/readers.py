"""Makes the reader of each type of source."""

import datetime
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from twisted.web.client import Agent

from reviewsctl.sources.budget import RequestBudget
from reviewsctl.sources.dialing import DialingRules
from reviewsctl.sources.download import SourceReader
from reviewsctl.sources.google import GoogleReader
from reviewsctl.sources.local_files import FileReader
from reviewsctl.sources.oauth import GoogleTokens, parsed_client
from reviewsctl.sources.secret_files import needed_secret, read_secret
from reviewsctl.sources.tokens import TokenFile
from reviewsctl.sources.trustpilot import TrustpilotReader
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
    state: Path,
    environ: Mapping[str, str],
    now: Callable[[], datetime.datetime],
) -> SourceReader:
    """Return the reader of a source; the configuration has the keys of its type.

    Raises:
        SourceStoppedError: A secret is missing or unusable.
    """
    match source.type:
        case "file":
            return FileReader(source.path or "", now)
        case "url":
            header = read_secret(source, "header_file", environ)
            return AddressReader(
                wire=wire,
                url=source.url or "",
                header=None if header is None else parsed_header(header),
                allow_private=source.allow_private,
            )
        case "trustpilot":
            return TrustpilotReader(
                wire,
                source.business_unit or "",
                needed_secret(source, "key_file", environ),
                needed_secret(source, "secret_file", environ),
            )
        case "google-business":
            tokens = google_tokens(source, wire, state, environ, now)
            return GoogleReader(wire, tokens, f"{source.account}/{source.location}")


def google_tokens(
    source: ReviewSource,
    wire: Wire,
    state: Path,
    environ: Mapping[str, str],
    now: Callable[[], datetime.datetime],
) -> GoogleTokens:
    """Return the tokens of a source at Google.

    Raises:
        SourceStoppedError: There is no client.
    """
    client = parsed_client(needed_secret(source, "client_file", environ))
    return GoogleTokens(wire, client, TokenFile(state, source.name), source.name, now)
