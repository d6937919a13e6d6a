"""``reviewsctl reviews reply``: the reply is on the page, survives imports, and can be undone."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from reviewsctl.commands.root import app

TABLE = """Date,Stars,Name,Review,Source,Reply
2026-03-14,5,Jane Doe,Quick and clean.,website,
2026-03-20,4,Uwe B.,Came on time.,website,
"""


class Shop:
    """A table of a shop, and the data directory into which it is imported."""

    def __init__(self, place: Path) -> None:
        self.data, self.table = place / "data", place / "reviews.csv"
        self.data.mkdir()
        self.table.write_text(TABLE)
        self.do_import()

    def run(self, *arguments: str, stdin: bytes = b"", code: int = 0) -> Result:
        """Run a command in this process; no daemon runs."""
        runner = CliRunner(env={"REVIEWSD_ADMIN_SOCKET": str(self.data / "none.sock")})
        run = runner.invoke(app, [*arguments, "--data", str(self.data)], input=stdin)
        assert code == run.exit_code, run.stderr
        return run

    def do_import(self, *options: str) -> str:
        return self.run("import", str(self.table), "--set", "name=Acme", *options).stdout

    def reviews(self) -> dict[str, dict[str, object]]:
        """The reviews by author."""
        file = json.loads((self.data / "reviews.json").read_bytes())
        return {review["author"]: review for review in file["reviews"]}

    def reply(self) -> str | None:
        """The text of the reply to Jane Doe."""
        reply = self.reviews()["Jane Doe"].get("owner_reply")
        return reply["text"] if isinstance(reply, dict) else None

    @property
    def jane(self) -> str:
        """The id of the review of Jane Doe."""
        return str(self.reviews()["Jane Doe"]["id"])


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


def test_name_of_an_anonymous_author_in_a_reply_is_pointed_out(shop: Shop) -> None:
    """The page said "Anonymous", and below it "Dear Jane Doe"."""
    shop.run("reviews", "anonymize", shop.jane, "--reason", "request")
    output = shop.run("reviews", "reply", shop.jane, "Dear Jane Doe, thanks").stdout
    assert (
        'readers see "jane" in it, a name of the author, who is anonymous on your page\n' in output
    )
    assert "readers see" not in shop.run("reviews", "reply", shop.jane, "Thanks!").stdout


def test_reply_is_written_into_its_review_alone(shop: Shop) -> None:
    before = shop.reviews()
    output = shop.run("reviews", "reply", shop.jane[:12], "Thank you, Jane!").stdout
    after = shop.reviews()
    assert "Thank you, Jane!" == shop.reply()
    assert "changed_at" in after["Jane Doe"]
    assert before["Uwe B."] == after["Uwe B."]
    assert "to take it back: reviewsctl reviews undo" in output
    shop.run("check")


def test_reply_survives_imports_until_the_table_has_one(shop: Shop) -> None:
    shop.run("reviews", "reply", shop.jane, "Thank you!")
    for options in ((), ("--replace",)):
        shop.do_import(*options)
        assert "Thank you!" == shop.reply()
    shop.table.write_text(TABLE.replace("clean.,website,", 'clean.,website,"From the table"'))
    shop.do_import()
    assert "From the table" == shop.reply()


@pytest.mark.parametrize("reply", ["Thank you!", ""])
def test_reply_that_the_next_import_replaces_is_announced_as_that(shop: Shop, reply: str) -> None:
    """It was said to be on the page after every later import."""
    shop.table.write_text(TABLE.replace("clean.,website,", 'clean.,website,"From the table"'))
    shop.do_import()
    output = shop.run("reviews", "reply", shop.jane, reply).stdout
    assert "within seconds by a running daemon (reviewsctl reload waits for it)\n" in output
    assert (
        "the export of website has a reply of its own to this review: "
        "change it there, or the next import brings it back\n"
    ) in output
    shop.do_import()
    assert "From the table" == shop.reply()
    uwe = str(shop.reviews()["Uwe B."]["id"])
    kept = shop.run("reviews", "reply", uwe, "Thanks").stdout
    assert "and after every later import\n" in kept


def test_reply_is_undone_as_an_import_is(shop: Shop) -> None:
    shop.run("reviews", "reply", shop.jane, "Thank you!")
    listed = shop.run("reviews", "undo", "--dry-run").stdout
    assert f"now  after your reply to {shop.jane}, 20" in listed
    shop.run("reviews", "undo")
    assert shop.reply() is None
    shop.run("reviews", "undo")
    assert "Thank you!" == shop.reply()
    assert "0 new, 0 changed, 2 unchanged" in shop.do_import()  # the import log is that of before
    assert "Thank you!" == shop.reply()


def test_reply_of_before_is_named_where_another_takes_its_place(shop: Shop) -> None:
    shop.run("reviews", "reply", shop.jane, "Thanks")
    output = shop.run("reviews", "reply", shop.jane, "Thank you!").stdout
    assert "replaces your reply: Thanks\n" in output
    assert "Thank you!" == shop.reply()


def test_reply_without_quotation_marks_is_taken_together(shop: Shop) -> None:
    shop.run("reviews", "reply", shop.jane, "Danke", "schön,", "Jane!")
    assert "Danke schön, Jane!" == shop.reply()


def test_empty_reply_takes_the_one_away_that_is_there(shop: Shop) -> None:
    shop.run("reviews", "reply", shop.jane, "Thanks")
    output = shop.run("reviews", "reply", shop.jane, "").stdout
    assert "gone from your page within seconds" in output
    assert shop.reply() is None
    refused = shop.run("reviews", "reply", shop.jane, "", code=1)
    assert "has no reply that could be taken away" in refused.stderr


def test_empty_standard_input_takes_no_reply_away(shop: Shop) -> None:
    shop.run("reviews", "reply", shop.jane, "Thanks")
    shop.run("reviews", "reply", shop.jane, "-", code=1)
    assert "Thanks" == shop.reply()


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        (b"Dear Jane,\n\nthank you.\n", "Dear Jane,\n\nthank you."),
        # from Windows, with a byte order mark and line ends of its own
        (b"\xef\xbb\xbfDear J\xc3\xa4ne,\r\nthank you.\r\n", "Dear J\u00e4ne,\nthank you."),
    ],
    ids=["several lines", "Windows"],
)
def test_reply_is_read_from_standard_input(shop: Shop, text: bytes, reply: str) -> None:
    shop.run("reviews", "reply", shop.jane, "-", stdin=text)
    assert reply == shop.reply()


@pytest.mark.parametrize(
    ("options", "state"), [((), "hidden"), (("--text",), "without words")], ids=["all", "text"]
)
def test_reply_to_a_review_whose_reply_is_not_shown_is_kept_with_the_command_that_shows_it(
    shop: Shop, options: tuple[str, ...], state: str
) -> None:
    shop.run("reviews", "hide", shop.jane, "--reason", "spam", *options, "--yes")
    output = shop.run("reviews", "reply", shop.jane, "Thank you!").stdout
    assert "Thank you!" == shop.reply()
    assert f"your page stays as it is, as the review is {state}; " in output
    assert f"to show it: reviewsctl reviews restore {shop.jane}\n" in output
    assert "within seconds" not in output


@pytest.mark.parametrize(
    ("reply", "stdin"), [("-", b"Danke f\xfcr alles"), ("a\udcff", b"")], ids=["input", "argument"]
)
def test_reply_that_is_not_utf8_is_refused_at_once(shop: Shop, reply: str, stdin: bytes) -> None:
    run = shop.run("reviews", "reply", shop.jane, reply, stdin=stdin, code=1)
    assert "" == run.stdout
    assert run.stderr.startswith("Error: not written: the reply is not UTF-8")
    assert "reviews reply ID - < reply.txt" in run.stderr
    assert shop.reply() is None


def test_reply_that_names_an_author_with_a_short_name_is_noted(shop: Shop) -> None:
    uwe = str(shop.reviews()["Uwe B."]["id"])
    output = shop.run("reviews", "reply", uwe, "Danke, Herr Braun!").stdout
    assert "readers see 'Braun' in it, which may be the surname of Uwe B.\n" in output
    assert "surname" not in shop.run("reviews", "reply", uwe, "Danke, Uwe!").stdout


def test_reply_to_an_unknown_review_writes_nothing(shop: Shop) -> None:
    before = (shop.data / "reviews.json").read_bytes()
    refused = shop.run("reviews", "reply", "01ZZZZZZZZZZ", "Thank you!", code=4)
    assert "not written" in refused.stderr
    assert before == (shop.data / "reviews.json").read_bytes()
