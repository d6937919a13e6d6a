"""Heads of requests as a proxy sends them that multiplexes many clients on few connections.

No two are alike: each has twelve fields of another client. What decides the answer (the address, the
coding, a precondition) is that of the row that is measured.
"""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

COUNT = 4_096
"""Requests until the first is repeated, far more than any server caches."""

SCRIPT = Path(__file__).with_name("heads.lua")
"""The script with which wrk sends the heads of ``write``."""

_END = "\r\n\r\n"

_CHROME = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{}.0"
)
_SAFARI = (
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/{}.1 Safari/605"
)
_FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:{0}.0) Gecko/20100101 Firefox/{0}.0"
_AGENTS = (_CHROME, _SAFARI, _FIREFOX, "FeedFetcher/{}.2 (+https://feeds.example/bot)")
_ACCEPTS = ("*/*", "application/json, */*;q=0.5", "application/feed+json, application/json;q=0.9")
_LANGUAGES = ("en-US,en;q=0.9", "de-AT,de;q=0.8,en;q=0.5", "fr-FR,fr;q=0.9", "es-ES", "en-GB")
_USUAL = 10  # fields beside Host and that of the row


def heads(path: str, host: str, headers: Sequence[str] = ()) -> Iterator[str]:
    """Whole requests without a body."""
    draw = random.Random(path)  # the same each time
    for _ in range(COUNT):
        client = f"{draw.randrange(1, 224)}.{draw.randrange(256)}.{draw.randrange(256)}.9"
        fields = (
            f"Host: {host}",
            f"X-Real-IP: {client}",
            f"X-Forwarded-For: {client}",
            "X-Forwarded-Proto: https",
            f"X-Request-ID: {draw.getrandbits(128):032x}",
            f"User-Agent: {draw.choice(_AGENTS).format(draw.randrange(90, 150))}",
            f"Accept: {draw.choice(_ACCEPTS)}",
            f"Accept-Language: {draw.choice(_LANGUAGES)}",
            f"Referer: https://site-{draw.randrange(10_000)}.example/reviews?page={draw.randrange(99)}",
            f"traceparent: 00-{draw.getrandbits(128):032x}-{draw.getrandbits(64):016x}-01",
            *headers,
        )
        spare = ("Cache-Control: max-age=0", "Sec-Fetch-Mode: cors", "DNT: 1")
        fields += spare[: 2 + _USUAL - len(fields)]
        yield "\r\n".join((f"GET {path} HTTP/1.1", *fields)) + _END


def write(place: Path, path: str, host: str, headers: Sequence[str] = ()) -> None:
    """Write them to a file, one after the other."""
    place.write_text("".join(heads(path, host, headers)), newline="")
