"""``reviewsctl sync`` and ``sources`` as processes."""

import datetime
import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from reviewsctl.sources import overview
from tests.support.commands import REVIEWSCTL, Ctl, started
from tests.support.source_stub import Stub, response
from tests.support.sources import Business, table

pytestmark = pytest.mark.processes

SOURCE = "  - {name: shop, type: file, path: in/*.csv, import: {verified: true, source: shop, name: Harbor}}\n"


@pytest.fixture
def business(tmp_path: Path, ctl: Ctl) -> Business:
    business = Business(tmp_path, SOURCE)
    ctl.environment["REVIEWSD_CONFIG"] = str(business.folder / "reviewsd.yaml")
    business.export(table("ab"))
    return business


def test_sync_prints_a_line_for_each_source(business: Business, ctl: Ctl) -> None:
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
    assert f"no file {business.folder}/in/*.zip; tried again in 59 min" in failed.stderr
    listed = ctl("sources", "list").stdout.splitlines()
    assert f"      there is no file {business.folder}/in/*.zip" == listed[2]


def test_reviews_of_another_source_are_not_added_twice(business: Business, ctl: Ctl) -> None:
    """A table that was imported by hand, and is then added as a source, has another source's name."""
    export = business.export(table("abc"))
    options = ("--from", "csv", "--set", "name=Harbor", "--source")
    assert 0 == ctl("import", str(export), *options, "website").returncode
    remedy = "name the source of a table: import.source: website; or"
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
    with started(ctl.environment, "sync", "--every", "1h") as process:
        assert process.stdout is not None
        assert "2 reviews read" in process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=30)
    assert (143, "") == (process.returncode, errors)
    assert [] == list((business.folder / "state/spool").iterdir())


def test_path_that_fits_no_file_is_said_when_it_is_added(business: Business, ctl: Ctl) -> None:
    """A mistyped name showed at the next sync alone, and there without the file that was meant."""
    business.export(table("ab"))
    add = ("sources", "add", "file")
    output = ctl(*add, "own", "--set", "path=in/shpo.csv", "--set", "import.source=own").stdout
    added, note, *_ = output.splitlines()
    detail = f"there is no file {business.folder}/in/shpo.csv"
    remedy = 'Put an export there, or change its path; did you mean "shop.csv"?'
    assert (f"added to {business.folder}/reviewsd.yaml", f"note: {detail}. {remedy}") == (
        added,
        note,
    )
    assert [f"own  failed: {detail}", f"     {remedy}"] == (
        ctl("sources", "test", "own").stdout.splitlines()[:2]
    )
    none = ctl(*add, "zip", "--set", "path=none/*.zip").stdout
    assert (
        f"no file {business.folder}/none/*.zip. Put an export there, or change its path.\n" in none
    )
    assert "note: " not in ctl(*add, "there", "--set", "path=in/s*.csv").stdout


def test_trial_shows_how_a_table_is_read(business: Business, ctl: Ctl) -> None:
    """Only here it is seen that a column is not taken, such as one of ids in another language."""
    export = business.export("")
    modified_at = export.stat().st_mtime
    export.write_bytes("Nr;Bewertung;Datum;Name\n1;5;13.11.2026;Jürgen\n".encode("cp1252"))
    os.utime(export, (modified_at, modified_at))
    read, form, columns, new, end = ctl("sources", "test", "shop").stdout.splitlines()
    assert "Jürgen" in new
    assert read.startswith("shop  1 review read: 1 new, 0 changed, 0 gone (")
    assert "      shop.csv: a table with columns of its own (cp1252, semicolons)" == form
    assert columns.startswith(
        "      columns: rating = Bewertung, date = Datum, author = Name; dates: %d.%m.%Y;"
    )
    assert columns.endswith("; not taken: Nr")
    assert "nothing was written" == end
    (output,) = map(json.loads, ctl("sources", "test", "shop", "--json").stdout.splitlines())
    assert [form.strip(), columns.strip()] == output["shown"]
    assert 1 == len(ctl("sync").stdout.splitlines())


def test_waiting_sync_says_so_until_interrupted(business: Business, ctl: Ctl, stub: Stub) -> None:
    url = f"  - {{name: portal, type: url, url: {stub.url}/r.csv, allow_private: true}}\n"
    business.configure(SOURCE + url)
    stub.answer = lambda _: response(status=503, Retry_After="120")
    command = [sys.executable, "-m", REVIEWSCTL, "sync"]
    master, slave = pty.openpty()
    with subprocess.Popen(command, env=ctl.environment, stdout=slave, stderr=slave) as process:
        os.close(slave)
        screen = ""
        while "Ctrl-C" not in screen:
            screen += os.read(master, 4096).decode()
        host = stub.url.removeprefix("http://")
        assert f"503 from {host}; tried again in 120 s (2 of 5), Ctrl-C ends" in screen
        busy = ctl("sync")
        assert "Error: not synced: a sync is running\n" == busy.stderr
        process.send_signal(signal.SIGINT)
    os.close(master)
    assert 130 == process.returncode


def test_edited_review_stays_hidden_by_a_sync(business: Business, ctl: Ctl) -> None:
    business.configure(SOURCE.replace("type: file", "type: file, gone: 1"))

    def sync(text: str) -> str:
        business.export(f"date,stars,author,text\n2026-03-14,1,Ann Lee,{text}\n")
        done = ctl("sync")
        assert 0 == done.returncode, done.stderr
        return done.stdout

    sync("They broke the vase.")
    hidden = json.loads(ctl("reviews", "list", "--json").stdout)["id"]
    hide = "reviews", "hide", hidden, "--reason", "request", "--yes"
    assert 0 == ctl(*hide).returncode
    for text in ("They broke the blue vase.", "They broke it.", "All of it."):
        note = f"note: 1 review stays corrected; edited: 1 (2026-03-14, shop, {hidden})"
        assert note in sync(text)
        (review,) = ctl("reviews", "list", "--hidden", "--json").stdout.splitlines()
        assert (hidden, text) == (json.loads(review)["id"], json.loads(review)["text"])


def test_sync_tells_what_it_takes_of_edits_by_hand(business: Business, ctl: Ctl) -> None:
    """A timer replaced a reply that the owner had typed, and its journal counted it as changed."""
    head = "id,date,stars,author,text,reply\n"
    business.export(f"{head}1,2026-03-14,5,Ann Lee,Quick.,Thanks\n2,2026-03-15,5,Bo Ray,Neat.,\n")
    assert 0 == ctl("sync").returncode
    document = json.loads(business.reviews_file.read_text())
    (ann,) = [review for review in document["reviews"] if review["author"] == "Ann Lee"]
    ann["owner_reply"]["text"] = "Typed."
    document["reviews"] = [ann]
    business.reviews_file.write_text(json.dumps(document))
    business.export(
        f"{head}1,2026-03-14,5,Ann Lee,Quick!,Thanks\n2,2026-03-15,5,Bo Ray,Neat.,\n", 50
    )
    overwritten = "overwritten, though edited by hand since the last import: 1 review (2026-03-14, shop: owner_reply)"
    returned = "back, though removed by hand since the last import: 1 review (2026-03-15, shop)"
    trial = ctl("sync", "--dry-run").stdout
    assert "      overwritten: Ann Lee, 2026-03-14, shop: owner_reply\n" in trial
    assert overwritten not in trial, "it lists them"
    done = ctl("sync", "--quiet")
    assert (0, "") == (done.returncode, done.stdout)
    assert [f"      note: {overwritten}", f"      note: {returned}"] == done.stderr.splitlines()[1:]
    assert 1 == len(ctl("sync", "--full").stdout.splitlines()), "it is told once"

    text = business.reviews_file.read_text()
    business.reviews_file.write_text(text.replace("Thanks", "Typed again."))
    output = json.loads(ctl("sync", "--full", "--json").stdout)
    assert [overwritten] == output["notes"]


def test_refused_row_is_named_wherever_the_source_is_shown(business: Business, ctl: Ctl) -> None:
    """A guest was missing and a deletion not done, and nothing said so."""
    business.configure(SOURCE.replace("type: file", "type: file, gone: 1"))
    business.export(table("abcd"))
    assert 0 == ctl("sync").returncode
    refused = table("abd").replace("b,5,2026-01-15", ",5,4.5.20224")
    business.export(refused)
    output = "1 of 3 rows was refused, so no review is removed (row 3: "
    assert output in ctl("sources", "test", "shop").stdout
    done = ctl("sync", "--quiet")
    assert (0, "") == (done.returncode, done.stdout)
    assert f"      warning: {output}" in done.stderr
    assert ["Ann a", "Ann b", "Ann c", "Ann d"] == business.authors
    unchanged = ctl("sync")
    assert "unchanged" in unchanged.stdout
    assert f"      warning: {output}" in unchanged.stdout
    assert "" == ctl("sync", "--quiet").stderr
    _, row, detail, remedy = ctl("sources", "list").stdout.splitlines()
    assert ["shop", "file", "warn"] == row.split()[:3]
    assert output in detail
    assert "Correct such rows" in remedy
    now = datetime.datetime.now(datetime.UTC)
    (diagnosis,) = overview.diagnoses(business.folder / "data", now)
    assert "warn" == diagnosis.verdict
    assert output in diagnosis.detail
    document = json.loads(ctl("sync", "--full", "--json").stdout)
    assert ("warn", 3, 1) == (document["state"], document["rows"], document["refused"])
    assert ["row 3"] == [refusal["where"] for refusal in document["refusals"]]

    (business.folder / "in" / "shop.csv").unlink()
    assert 1 == ctl("sync").returncode
    business.export(refused)
    assert f"      warning: {output}" in ctl("sync", "--quiet").stderr

    business.export(table("abd"))
    assert "3 reviews read" in ctl("sync").stdout
    assert ["Ann a", "Ann b", "Ann d"] == business.authors
    assert ["shop", "file", "ok"] == ctl("sources", "list").stdout.splitlines()[1].split()[:3]


def test_reviews_of_a_sync_are_named_on_request(business: Business, ctl: Ctl) -> None:
    """An owner saw "1 gone" and could not know who."""
    business.configure(SOURCE.replace("type: file", "type: file, gone: 1"))
    business.export(table("abcd"))
    assert "      new: Ann c, 2026-01-16, shop" in ctl("sync", "-v").stdout.splitlines()
    by_hand = business.reviews_file.read_text().replace("Ann b", "Ann Bo")
    business.reviews_file.write_text(by_hand)
    business.export(table("abd").replace("Ann b", "Ann bee"))
    for command in (("sources", "test", "shop"), ("sync", "--dry-run"), ("sync", "-v")):
        lines = ctl(*command).stdout.splitlines()
        assert any(line.startswith("      removed: Ann c, 2026-01-16, shop") for line in lines)
        assert "      changed: Ann Bo, 2026-01-15, shop: author" in lines
        assert "      overwritten: Ann Bo, 2026-01-15, shop: author" in lines
    business.export(table("".join(map(chr, range(97, 123)))))
    lines = ctl("sync", "--dry-run").stdout.splitlines()
    assert "      and 4 more: reviewsctl sync shop --dry-run --full -v" in lines
    assert "removed" not in ctl("sync").stdout
