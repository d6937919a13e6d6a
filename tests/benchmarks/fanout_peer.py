"""The fan-out of aiohttp under uvloop alone, to compare with ours.

    python fanout_peer.py CALLBACKS BODY CA CONCURRENCY     in a venv of its own, started by ``fanout``

Several tasks send the body to the callbacks of a file, one after the other, with one session and one TLS context.
No result is stored, so a crash would deliver everything again. It says "ready", and waits for a line.
"""

import asyncio
import ssl
import sys
from pathlib import Path

import aiohttp  # type: ignore[import-not-found,unused-ignore]  # only in the peer's venv
import uvloop  # type: ignore[import-not-found,unused-ignore]
from yarl import URL  # type: ignore[import-not-found,unused-ignore]

_ORIGIN = "https://reviews.example.com"
_HEADERS = {
    "Content-Type": "application/atom+xml; charset=utf-8",
    "Link": f'<{_ORIGIN}/feed.xml>; rel="self", <{_ORIGIN}/api/websub/hub>; rel="hub"',
    "ETag": '"-l6FSsEgPiJsKJe7-yOeXg"',
    "User-Agent": f"peer/1.0 (+{_ORIGIN}/; WebSub hub)",
    "Accept-Encoding": "identity",
}


async def main(callbacks: list[str], content: bytes, ca: str, concurrency: int) -> None:
    """Fan out once a line has come."""
    urls = iter([URL(callback, encoded=True) for callback in callbacks])
    connector = aiohttp.TCPConnector(
        limit=concurrency,
        limit_per_host=16,
        ssl=ssl.create_default_context(cafile=ca),
        keepalive_timeout=5,
    )
    async with aiohttp.ClientSession(
        connector=connector,
        headers=_HEADERS,
        skip_auto_headers=["Accept"],
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=30),
        auto_decompress=False,
    ) as session:

        async def some() -> None:
            for url in urls:
                async with session.post(url, data=content, allow_redirects=False) as answer:
                    assert answer.ok, answer

        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
        await asyncio.gather(*(some() for _ in range(concurrency)))
        await asyncio.Event().wait()


if __name__ == "__main__":
    file, body, ca_file, tasks = sys.argv[1:]
    lines = Path(file).read_text().splitlines()
    uvloop.run(main(lines, Path(body).read_bytes(), ca_file, int(tasks)))
