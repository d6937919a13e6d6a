"""nginx with one worker that serves the same bytes as static files, tuned for it.

``gzip_static`` takes the prepared gzip form; ``keepalive_requests`` is nginx's default and ours. Without
``sendfile`` one buffer takes a whole file; with the default of 2 times 32 kB it takes 1.6 times the CPU.
"""

import shutil
from pathlib import Path

_CONFIGURATION = """\
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
    sendfile {sendfile};
    tcp_nopush {sendfile};
    output_buffers 1 512k;
    etag on;
    gzip_static on;
    gzip_vary on;
    keepalive_requests 1000;
    keepalive_timeout 60s;
    open_file_cache max=100 inactive=1h;
    open_file_cache_valid 1h;
    types {{ application/json json; }}
    client_body_temp_path {place}/body;
    proxy_temp_path {place}/proxy;
    fastcgi_temp_path {place}/fastcgi;
    uwsgi_temp_path {place}/uwsgi;
    scgi_temp_path {place}/scgi;
    server {{
        listen 127.0.0.1:{port};
        root {root};
    }}
}}
"""


def command(place: Path, root: Path, port: int, *, sendfile: bool) -> list[str]:
    """The command line of an nginx.

    Args:
        place: A new directory for what it writes.
        root: Has the files by their paths.
        port: On loopback.
        sendfile: Whether the kernel hands the pages of files on; else they are read and written.
    """
    program = shutil.which("nginx", path="/usr/sbin:/usr/bin")
    assert program is not None, "nginx is not installed"
    place.mkdir()
    configuration = place / "nginx.conf"
    text = _CONFIGURATION.format(
        place=place, root=root, port=port, sendfile="on" if sendfile else "off"
    )
    configuration.write_text(text)
    return [program, "-c", str(configuration), "-p", str(place), "-e", str(place / "error.log")]
