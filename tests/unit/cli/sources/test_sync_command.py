"""``reviewsctl sync`` and ``sources`` as processes."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.commands import REVIEWSCTL, Ctl
from tests.support.sources import Business, table

pytestmark = pytest.mark.processes

SOURCE = "  - {name: shop, type: file, path: in/*.csv, import: {verified: true, source: shop, name: Harbor}}\n"


@pytest.fixture
def business(tmp_path: Path) -> Business:
    business = Business(tmp_path, SOURCE)
    export = tmp_path / "in" / "shop.csv"
    export.write_text(table("ab"))
    hour_ago = time.time() - 3600
    os.utime(export, (hour_ago, hour_ago))
    return business


def test_sync_prints_a_line_for_each_source(business: Business, ctl: Ctl) -> None:
    ctl.environment["REVIEWSD_CONFIG"] = str(business.folder / "reviewsd.yaml")
    first = ctl("sync")
    assert (0, "shop  2 reviews read: 2 new, 0 changed, 0 gone (0 s)\n") == (
        *(first.returncode, first.stdout),
    )
    (second,) = map(json.loads, ctl("sync", "--json").stdout.splitlines())
    assert ("shop", "ok", True) == (second["source"], second["state"], second["unchanged"])
    assert ["Ann a", "Ann b"] == business.authors

    listed = ctl("sources", "list").stdout.splitlines()
    assert not listed[0].count("u001b"), "colors are escaped"
    assert ["shop", "file", "ok"] == listed[1].split()[:3]
    unknown = ctl("sync", "other")
    assert (4, "Error: not found: no source other\nThere are: shop\n") == (
        *(unknown.returncode, unknown.stderr),
    )
    business.configure(SOURCE.replace("*.csv", "*.zip"))
    failed = ctl("sync", "--quiet")
    assert (1, "") == (failed.returncode, failed.stdout)
    assert f"no file {business.folder}/in/*.zip; tried again in 1 h 0 min" in failed.stderr
    listed = ctl("sources", "list").stdout.splitlines()
    assert f"      there is no file {business.folder}/in/*.zip" == listed[2]


def test_reviews_of_another_source_are_not_added_twice(business: Business, ctl: Ctl) -> None:
    """A table that was imported by hand, and is then added as a source, has another source's name."""
    ctl.environment["REVIEWSD_CONFIG"] = str(business.folder / "reviewsd.yaml")
    export = business.folder / "in" / "shop.csv"
    export.write_text(table("abc"))
    hour_ago = time.time() - 3600
    os.utime(export, (hour_ago, hour_ago))
    options = ("--from", "csv", "--set", "name=Harbor", "--source")
    assert 0 == ctl("import", str(export), *options, "website").returncode
    remedy = "name the source of a table: --source website (import.source of a sync)"
    tried = ctl("sources", "test", "shop")
    assert "shop  stopped: 3 of 3 new reviews are there already" in tried.stdout
    assert 1 == ctl("sync").returncode
    listed = ctl("sources", "list").stdout
    assert remedy in listed
    assert ["Ann a", "Ann b", "Ann c"] == business.authors
    business.configure(SOURCE.replace("source: shop", "source: website"))
    assert 0 == ctl("sync").returncode
    assert ["Ann a", "Ann b", "Ann c"] == business.authors


def test_signal_ends_a_sync_that_stays(business: Business, ctl: Ctl) -> None:
    """A container is stopped by SIGTERM, and a terminal by Ctrl-C."""
    config = str(business.folder / "reviewsd.yaml")
    command = [sys.executable, "-m", REVIEWSCTL, "sync", "--every", "1h", "--config", config]
    with subprocess.Popen(
        command, env=ctl.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert "2 reviews read" in process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=30)
    assert (143, "") == (process.returncode, errors)
    assert [] == list((business.folder / "state/spool").iterdir())


def test_sync_tells_that_an_edited_review_stays_hidden(business: Business, ctl: Ctl) -> None:
    """Also where it prints nothing else: the owner may want to look at the new words."""
    business.configure(SOURCE.replace("type: file", "type: file, gone: 1"))
    ctl.environment["REVIEWSD_CONFIG"] = str(business.folder / "reviewsd.yaml")
    export = business.folder / "in" / "shop.csv"

    def sync(text: str, *options: str) -> tuple[str, str]:
        export.write_text(f"date,stars,author,text\n2026-03-14,1,Ann Lee,{text}\n")
        hour_ago = time.time() - 3600
        os.utime(export, (hour_ago, hour_ago))
        done = ctl("sync", *options)
        assert 0 == done.returncode, done.stderr
        return done.stdout, done.stderr

    sync("They broke the vase.")
    hidden = json.loads(ctl("reviews", "list", "--json").stdout)["id"]
    hide = "reviews", "hide", hidden, "--reason", "request", "--yes"
    assert 0 == ctl(*hide).returncode
    out, _ = sync("They broke the blue vase.")
    assert out.splitlines()[1].startswith(
        "      note: edited, and still hidden: 1 (2026-03-14, shop, "
    )
    assert "note: edited, and still hidden: 1 (" in sync("They broke it.", "--quiet")[1]
    told = json.loads(sync("They broke all.", "--json")[0])
    assert told["notes"][0].startswith("edited, and still hidden: 1 (")
