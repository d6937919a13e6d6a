"""nginx with one worker: the same bytes as static files, tuned for it; and as a proxy in front.

``gzip_static`` takes the prepared gzip form; ``keepalive_requests`` is nginx's default and ours.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path

_HEAD = """\
user root;
worker_processes 1;
daemon off;
pid {place}/nginx.pid;
error_log {place}/error.log crit;
events {{
    worker_connections 8192;
}}
http {{
    access_log off;
    client_body_temp_path {place}/body;
    proxy_temp_path {place}/proxy;
    fastcgi_temp_path {place}/fastcgi;
    uwsgi_temp_path {place}/uwsgi;
    scgi_temp_path {place}/scgi;
"""

_CONFIGURATION = (
    _HEAD
    + """\
    sendfile on;
    tcp_nopush on;
    etag on;
    gzip_static on;
    gzip_vary on;
    keepalive_requests 1000;
    keepalive_timeout 60s;
    open_file_cache max=100 inactive=1h;
    open_file_cache_valid 1h;
    types {{ application/json json; }}
    server {{
        listen 127.0.0.1:{port};
        root {root};
    }}
}}
"""
)


_FRONT = (
    _HEAD
    + """\
    keepalive_requests 1000000;
    proxy_buffers 16 64k;
    proxy_max_temp_file_size 0;
{servers}
}}
"""
)

_FRONTED = """\
    upstream at_{upstream} {{
        server 127.0.0.1:{upstream};
        keepalive 64;
        keepalive_requests 1000000;
    }}
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass http://at_{upstream};
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header Host $host;
            proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
            proxy_set_header X-Forwarded-Proto https;
        }}
    }}
"""


def front(place: Path, ports: Sequence[tuple[int, int]]) -> list[str]:
    """The command line of an nginx in front of servers, with connections that are kept.

    Args:
        place: A new directory for what it writes.
        ports: Of each server, and where it is asked instead.
    """
    servers = "".join(_FRONTED.format(upstream=upstream, port=port) for upstream, port in ports)
    return _command(place, _FRONT.format(place=place, servers=servers))


def command(place: Path, root: Path, port: int) -> list[str]:
    """The command line of an nginx."""
    return _command(place, _CONFIGURATION.format(place=place, root=root, port=port))


def _command(place: Path, text: str) -> list[str]:
    program = shutil.which("nginx", path="/usr/sbin:/usr/bin")
    assert program is not None, "nginx is not installed"
    place.mkdir()
    configuration = place / "nginx.conf"
    configuration.write_text(text)
    return [program, "-c", str(configuration), "-p", str(place), "-e", str(place / "error.log")]
