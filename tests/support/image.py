"""Images: the one of the Containerfile, built by buildah, and those that Debian's packages make of others."""

import json
import os
from pathlib import Path
from typing import Any

from tests.support import debian
from tests.support.distribution import ROOT, run

CADDY, POSTGRES = "docker.io/library/caddy:2", "docker.io/library/postgres:15"

# As the official image does: the first start makes the database, and nothing listens before it is there
_POSTGRES = """#!/bin/sh
set -eu
data=/var/lib/postgresql/data
if [ "$(id -u)" = 0 ]; then
    mkdir -p $data /run/postgresql && chown postgres $data /run/postgresql && chmod 700 $data
    exec setpriv --reuid=postgres --regid=postgres --init-groups -- "$0"
fi
if [ ! -s $data/PG_VERSION ]; then
    echo "$POSTGRES_PASSWORD" > /tmp/password
    initdb --pgdata=$data --username="$POSTGRES_USER" --pwfile=/tmp/password --auth-local=trust \\
        --auth-host=scram-sha-256 --no-sync $POSTGRES_INITDB_ARGS
    echo "host all all all scram-sha-256" >> $data/pg_hba.conf
    pg_ctl --pgdata=$data -w --options="-c listen_addresses=''" start
    createdb --username="$POSTGRES_USER" "$POSTGRES_DB"
    pg_ctl --pgdata=$data -w stop
fi
exec postgres -D $data -c listen_addresses='*'
"""


class Image:
    """The image of the Containerfile, in a storage of its own."""

    def __init__(self, place: Path, base: Path) -> None:
        self._place = place
        self._environ = {**os.environ, "BUILDAH_ISOLATION": "chroot", "TMPDIR": str(place)}
        scratch = self._buildah("from", "scratch")
        self._buildah("add", "--quiet", scratch, str(base), "/")
        self._buildah("commit", "--quiet", scratch, "localhost/base")
        self._buildah("rm", scratch)
        self._buildah(
            *("build", "--quiet", "--format", "docker", "--build-arg", "BASE=localhost/base"),
            *("--tag", "localhost/reviewsd", "--file", str(ROOT / "Containerfile"), str(ROOT)),
        )
        inspected = json.loads(
            self._buildah("inspect", "--type", "image", "localhost/reviewsd", lines=None)
        )
        self.config: dict[str, Any] = inspected["Docker"]["config"]

    def save(self, file: Path) -> None:
        """Write the image as an archive that ``docker load`` reads."""
        self._buildah("push", "--quiet", "localhost/reviewsd", f"docker-archive:{file}:reviewsd")

    def _buildah(self, *arguments: str, lines: int | None = 1) -> str:
        """Run buildah; returns the last lines that it prints, or all."""
        # vfs and chroot work everywhere, also where a container may not mount an overlay
        places = (
            *(f"--root={self._place}/storage", f"--runroot={self._place}/run"),
            "--storage-driver=vfs",
        )
        printed = run("buildah", *places, *arguments, env=self._environ, seconds=1500).strip()
        return printed if lines is None else "\n".join(printed.splitlines()[-lines:])

    def close(self) -> None:
        self._buildah("rm", "--all")
        self._buildah("rmi", "--all", "--force")


def save_services(place: Path, file: Path) -> None:
    """Write a file system with Debian's Caddy and PostgreSQL as an archive that ``docker import`` reads."""
    system = debian.copy(place, "ca-certificates,caddy,postgresql-15,libcap2-bin")
    # as the official image: the right to use a low port comes with the file
    run("chroot", system, "setcap", "cap_net_bind_service=+ep", "/usr/bin/caddy")
    script = system / "usr/local/bin/start-postgres"
    script.write_text(_POSTGRES)
    script.chmod(0o755)
    left_out = [f"--exclude=./{name}" for name in ("proc/*", "dev/*", "var/cache/apt")]
    attributes = ("--xattrs", "--xattrs-include=security.capability")
    run("tar", *attributes, *left_out, "-C", system, "-cf", file, ".")


SERVICES = {
    CADDY: (
        'CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]',
        "ENV XDG_CONFIG_HOME=/config XDG_DATA_HOME=/data",
        "WORKDIR /srv",
    ),
    POSTGRES: (
        'ENTRYPOINT ["start-postgres"]',
        "ENV PATH=/usr/local/bin:/usr/bin:/bin:/usr/lib/postgresql/15/bin",
        "VOLUME /var/lib/postgresql/data",
        "STOPSIGNAL SIGINT",
    ),
}
"""The official images that the compose files name, and what ``docker import`` makes them of."""
