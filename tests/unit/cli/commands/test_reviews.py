"""``reviewsctl reviews``: what it writes, says and refuses (corrections.md)."""

import contextlib
import gzip
import json
import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reviewsd.analysis.kept_labels import KeptLabel, encoded
from reviewsd.analysis.labels import text_key
from reviewsd.analysis.model_labels import ReviewAnswer
from tests.support import columns
from tests.support.admin_fake import STATUS, admin_fake, document
from tests.support.commands import reviewsctl

pytestmark = pytest.mark.processes

SECRET, AUTHOR = "They broke the blue vase", "Jane Roe"
ERASED = "01J9ZK3V5Q8R2N7M4T6W1X0YAB"


def review(review_id: str, **members: object) -> dict[str, object]:
    own = {"author": f"Author of {review_id}", "verified": False}
    words = {"date": "2026-01-01", "text": f"Words of {review_id}"}
    return {**columns.review(review_id), **own, **words, **members}


REVIEWS = [
    review(ERASED, author=AUTHOR, text=SECRET, rating=5),
    *(review(f"r{number:02}") for number in range(24)),
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "reviews.json").write_text(
        json.dumps({"business": {"name": "Acme"}, "x": 1, "reviews": REVIEWS})
    )
    return folder


@contextlib.contextmanager
def edited(data: Path) -> Iterator[dict[str, Any]]:
    """Change reviews.json by hand."""
    file = json.loads((data / "reviews.json").read_bytes())
    yield file
    (data / "reviews.json").write_text(json.dumps(file))


class Shop:
    """The command on a data directory."""

    def __init__(self, environment: dict[str, str], data: Path) -> None:
        self._environment = environment
        self.data = data

    def run(self, *arguments: str, code: int = 0) -> tuple[str, str]:
        done = reviewsctl(self._environment, *arguments, "--data", str(self.data))
        assert code == done.returncode, done.stderr
        return done.stdout, done.stderr

    def corrections(self) -> Any:
        return json.loads((self.data / "corrections.json").read_bytes())

    def files(self) -> dict[str, bytes]:
        """All files below the data directory, unpacked."""
        contents = {}
        for path in self.data.rglob("*"):
            if path.is_file():
                content = path.read_bytes()
                contents[path.name] = gzip.decompress(content) if path.suffix == ".gz" else content
        return contents


@pytest.fixture
def shop(environment: dict[str, str], data: Path) -> Shop:
    return Shop(environment, data)


def test_hidden_review_stays_in_the_file_and_is_told_of(shop: Shop) -> None:
    before = (shop.data / "reviews.json").read_bytes()
    out, _ = shop.run("reviews", "hide", ERASED[:12], "--reason", "spam", "--note", "a note")
    assert "readers are told: 1 of 25 reviews is not shown by the owner (1 spam)" in out
    assert f"to show them again, with name and words: reviewsctl reviews restore {ERASED}\n" in out
    assert before == (shop.data / "reviews.json").read_bytes()
    entry = shop.corrections()["reviews"][ERASED]
    assert ("hide", "spam") == (entry["action"], entry["reason"])
    assert b"a note" in (shop.data / ".reviewsctl/corrections.log").read_bytes()
    assert 0o600 == (shop.data / ".reviewsctl/corrections.log").stat().st_mode & 0o777
    assert b"a note" not in (shop.data / "corrections.json").read_bytes()
    listed, _ = shop.run("reviews", "list", "--hidden", "--json")
    assert [ERASED] == [json.loads(line)["id"] for line in listed.splitlines()]
    table, _ = shop.run("reviews", "list", "--hidden")
    assert " hidden " in table


def test_restored_review_is_shown_and_its_time_is_kept(shop: Shop) -> None:
    """Else ``changed_since`` would not have it (C9)."""
    shop.run("reviews", "hide", "r01", "--reason", "duplicate")
    out, _ = shop.run("reviews", "restore", "r01")
    hidden, _ = shop.run("reviews", "list", "--hidden", "--json")
    assert not hidden
    assert "readers are told: nothing, as all reviews are shown" in out
    assert "restore" == shop.corrections()["reviews"]["r01"]["action"]


def test_review_that_is_shown_is_not_restored(shop: Shop) -> None:
    out, _ = shop.run("reviews", "restore", ERASED)
    assert f"{ERASED} was not hidden" == out.splitlines()[-1]
    assert not (shop.data / "corrections.json").exists()


@pytest.mark.parametrize(
    ("first", "second"), [("anonymize", "hide --text"), ("hide --text", "anonymize")]
)
def test_later_correction_keeps_the_earlier_one(shop: Shop, first: str, second: str) -> None:
    for command in (first, second):
        printed, _ = shop.run("reviews", *command.split(), ERASED, "--reason", "request")
    assert f"anonymous, without words, as what was decided before stays: {ERASED}\n" in printed
    (listed,) = map(
        json.loads, shop.run("reviews", "list", "--author", AUTHOR, "--json")[0].splitlines()
    )
    assert "stars-only" == listed["correction"]["action"]
    exported = shop.run("export", "--csv")[0]
    assert not [words for words in (SECRET, AUTHOR) if words in exported]
    shop.run("reviews", "restore", ERASED)
    assert SECRET in shop.run("export", "--csv")[0]


@pytest.mark.parametrize(
    ("command", "state"), [("anonymize", "anonymous"), ("hide --text", "without words")]
)
def test_hidden_review_is_shown_again_only_on_request(shop: Shop, command: str, state: str) -> None:
    shop.run("reviews", "hide", ERASED, "--reason", "defamation", "--yes")
    words = ("reviews", *command.split(), ERASED, "--reason", "request")
    question = f"hidden now, and shown again, {state}: {ERASED}"
    assert question in shop.run(*words, "--dry-run")[1]
    assert question in shop.run(*words, code=1)[1]
    assert SECRET not in shop.run("export", "--csv")[0]
    shop.run(*words, "--yes")
    assert 26 == len(shop.run("export", "--csv")[0].splitlines())


def test_name_that_stays_in_the_text_is_pointed_out(shop: Shop, data: Path) -> None:
    with edited(data) as file:
        file["reviews"][0]["text"] = "Signed, Jane"
        file["reviews"][0]["owner_reply"] = {"text": "Dear Jane", "date": "2026-01-01"}
    out, _ = shop.run("reviews", "anonymize", ERASED, "--reason", "request")
    assert f"{ERASED}: the name may stand in its text; hide the words with hide --text" in out
    # it told to hide the guest's words for what the owner has written
    reply = (
        f"{ERASED}: the name may stand in your reply; write it without: reviewsctl reviews reply ID"
    )
    assert reply in out


def test_choice_that_looks_like_selecting_is_asked_about(shop: Shop, data: Path) -> None:
    _, error = shop.run("reviews", "hide", "r01", "r02", "--reason", "spam", code=1)
    assert (
        'no terminal for the question "With these, 8% of the reviews are hidden; a reader would call this'
        ' selecting. Hide 2 reviews anyway?"\nAgree with --yes.\n'
    ) in error
    assert "Warning" not in error
    assert not (data / "corrections.json").exists()
    _, error = shop.run("reviews", "hide", "r01", "r02", "--reason", "spam", "--yes")
    assert "8% of the reviews are hidden; a reader would call this selecting" in error
    assert 2 == len(shop.corrections()["reviews"])
    out, error = shop.run("check")
    assert "a reader would call this selecting" in out + error


@pytest.mark.parametrize(
    ("arguments", "notes"),
    [
        (
            ("hide", "r01", "--reason", "spam"),
            [
                "hidden within seconds by a running daemon (reviewsctl reload waits for it), and after every later",
                "gone from pages, feeds, JSON, search, insights and the tools of AI agents (MCP); its page answers 410",
                "feeds and subscribers get an update; copies that others have made may remain",
                "to show them again, with name and words: reviewsctl reviews restore r01",
                "readers are told: 1 of 25 reviews is not shown by the owner (1 spam)",
            ],
        ),
        (
            ("hide", "r01", "--text", "--reason", "request"),
            ["without its words and your reply", "average rating: 5.00 of 25 reviews, as before"],
        ),
        (("anonymize", "r01", "--reason", "request"), ['by "Anonymous", without picture and link']),
        (("restore", "r02"), ["readers are told: nothing, as all reviews are shown"]),
        (
            ("erase", "r01", "--reason", "request", "--yes"),
            [
                "average rating: 5.00 of 25 reviews before, 5.00 of 24 reviews after",
                "gone for good from your files and from pages",
                "later imports leave it out, and in a table without ids every row",
                "not erased: copies in caches and with subscribers",
            ],
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_consequences_of_a_correction_are_those_of_its_dry_run(
    shop: Shop, arguments: tuple[str, ...], notes: list[str]
) -> None:
    if arguments[0] == "restore":
        shop.run("reviews", "hide", "r02", "--reason", "spam")
    _, heading, *announced = shop.run("reviews", *arguments, "--dry-run")[0].splitlines()
    assert "nothing was written; without --dry-run:" == heading
    outcome = json.loads(shop.run("reviews", *arguments, "--dry-run", "--json")[0])
    assert (announced, True) == (outcome["notes"], outcome["dry_run"])
    done = shop.run("reviews", *arguments)[0].splitlines()
    assert announced == [line for line in done if line in announced]
    assert [] == [note for note in notes if not any(note in line for line in announced)]


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (("hide",), "to hide it too: reviewsctl reviews hide copy --reason request"),
        (
            ("hide", "--text"),
            "to hide it too: reviewsctl reviews hide copy --reason request --text",
        ),
        (("anonymize",), "to anonymize it too: reviewsctl reviews anonymize copy --reason request"),
        (("erase",), "to erase it too: reviewsctl reviews erase copy --reason request"),
    ],
)
def test_copy_from_another_source_that_stays_is_named(
    shop: Shop, data: Path, arguments: tuple[str, ...], command: str
) -> None:
    """An owner hid the row of her table, and Google's copy with the patient's name stayed public."""
    text = SECRET.upper().replace(" ", "  ")
    with edited(data) as file:
        file["reviews"] += [
            review("copy", author="Jane R.", text=text, source="table"),
            review("another", author="John Roe", text=SECRET, source="table"),
        ]
    action, *options = arguments
    correct = ("reviews", action, ERASED, "--reason", "request", *options)
    note = f"the same review is there from table: copy, and stays; {command}"
    assert note in shop.run(*correct, "--dry-run")[0].splitlines()
    assert ["copy"] == json.loads(shop.run(*correct, "--dry-run", "--json")[0])["copies"]
    yes = () if action == "anonymize" else ("--yes",)
    assert note in shop.run(*correct, *yes)[0].splitlines()


BY_AUTHOR = "which you find by its author or words: reviewsctl reviews list --author NAME, or --text WORDS\n"


@pytest.mark.parametrize(
    ("arguments", "error", "code"),
    [
        (("hide", "zz"), f"no review has the id 'zz', {BY_AUTHOR}", 4),
        (
            ("hide", "24"),  # two ids end with it
            f"'24'; the number in your own table is not the id, {BY_AUTHOR}",
            4,
        ),
        (
            ("hide", "r1"),
            "'r1' is too short; 4 characters of an id are needed\n  r19  2026-01-01  Author of r19\n",
            1,
        ),
        (
            ("hide", "like"),
            "6 reviews have an id like 'like'\n  like5  2026-01-01  Author of like5\n",
            1,
        ),
        (
            ("hide", "like"),
            "Author of like1\n  and 1 more\nName one of them with more of its id.\n",
            1,
        ),
        (("erase",), "no review is named", 1),
        (("erase", "r01"), "Agree with --yes.", 1),
    ],
)
def test_review_that_is_not_named_exactly_is_refused_with_the_way_to_find_it(
    shop: Shop, data: Path, arguments: tuple[str, ...], error: str, code: int
) -> None:
    with edited(data) as file:
        file["reviews"] += [*(review(f"like{n}") for n in range(6)), review("a-24"), review("b-24")]
    _, message = shop.run("reviews", *arguments, "--reason", "spam", code=code)
    assert error in message
    assert not (data / "corrections.json").exists()


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        *(
            (f"--source {name}", {"r00", "r01"})
            for name in ("booking", "booking.com", "Booking.com")
        ),
        ("--source Tripadvisor", set()),  # a platform is known before its first review
        *(
            (f"--location {name}", {"r02", "r03"})
            for name in ("linde", "'Haus Linde'", "'HAUS LINDE'", "22")
        ),
        ("--location 'Am Quai'", {"r04"}),
        ("--author jane", {ERASED}),  # not by the texts of others
        ("--hidden", {"r06"}),
        ("--unanswered --stars 1", {"r05"}),  # a hidden review waits for no reply
        ("--unanswered --stars 1 --hidden", {"r06"}),
    ],
)
def test_list_has_the_reviews_that_its_options_choose(
    shop: Shop, data: Path, options: str, ids: set[str]
) -> None:
    with edited(data) as file:
        file["business"]["locations"] = [
            {"id": "linde", "name": "Haus Linde", "aliases": ["22"]},
            {"id": "quai", "name": "Am Quai"},
        ]
        changes = [
            {"source": "booking"},
            {"source": "booking.com", "text": "Jane helped me"},
            *({"location": place} for place in ("linde", "22", "quai")),
            {"rating": 1},
            {"rating": 1},
        ]
        for entry, change in zip(file["reviews"][1:], changes, strict=False):
            entry.update(change)
    shop.run("reviews", "hide", "r06", "--reason", "spam", "--yes")
    words = ("reviews", "list", *shlex.split(options))
    listed, _ = shop.run(*words, "--json")
    assert ids == {json.loads(line)["id"] for line in listed.splitlines()}
    assert f"{len(ids)} of 25 reviews\n" == shop.run(*words)[1]


@pytest.mark.parametrize(
    ("options", "errors"),
    [
        ("--location lnde", ('no location "lnde"; did you mean "linde"?', "There are: linde\n")),
        ("--source goggle", ('no source "goggle"; did you mean "google"?', "There are: google\n")),
    ],
)
def test_list_of_what_is_not_there_names_what_is(
    shop: Shop, data: Path, options: str, errors: tuple[str, ...]
) -> None:
    """A mistyped name counted no reviews, as if there were none of the place."""
    with edited(data) as file:
        file["business"]["locations"] = [{"id": "linde", "name": "Haus Linde"}]
    out, error = shop.run("reviews", "list", *options.split(), code=4)
    assert not out
    assert [] == [text for text in errors if text not in error]


def test_reviews_are_listed_by_a_location_that_is_not_declared(shop: Shop, data: Path) -> None:
    with edited(data) as file:
        file["reviews"][1]["location"] = "Mill"
    assert "1 of 25 reviews\n" == shop.run("reviews", "list", "--location", "mill")[1]


def test_average_of_the_file_is_said_to_stay(shop: Shop, data: Path) -> None:
    with edited(data) as file:
        file["aggregate_rating"] = {"rating_value": 4.5}
    out, _ = shop.run("reviews", "hide", "r01", "--reason", "spam", "--dry-run")
    assert "the aggregate_rating that reviews.json has is not changed" in out
    assert "average rating:" not in out


def test_reviews_of_an_author_are_erased_by_the_full_name_in_any_case(shop: Shop) -> None:
    """A part of a name may be another person's too."""
    erase = ("reviews", "erase", "--reason", "request", "--dry-run", "--author")
    assert shop.run(*erase, AUTHOR.lower())[0].startswith(ERASED)
    _, error = shop.run(*erase, "Jane", code=4)
    assert "no review is of 'Jane'" in error
    assert "Full names: reviewsctl reviews list --author Jane\n" in error


def test_broken_corrections_are_refused_and_left_as_they_are(shop: Shop, data: Path) -> None:
    (data / "corrections.json").write_text('{"version": 1, "rev')
    _, error = shop.run("reviews", "hide", "r01", "--reason", "spam", code=1)
    assert "corrections.json:1:20: invalid JSON" in error
    assert '{"version": 1, "rev' == (data / "corrections.json").read_text()


def test_erased_review_is_in_no_file_but_as_removed(shop: Shop, data: Path, tmp_path: Path) -> None:
    """Kept versions, import log, insights and caches included; another version of it goes too."""
    export = tmp_path / "more.json"
    export.write_text(json.dumps({"business": {"name": "Acme"}, "reviews": [review("new")]}))
    shop.run("import", str(export))  # keeps two versions, with their logs
    words = {"id": "v", "label": "Vases", "top_phrases": [SECRET, "Words of r01"]}
    insights = {"aspects": [words], "per_review": {ERASED: {}, "r01": {}}}
    (data / "insights.json").write_text(json.dumps(insights))
    (data / "insights.json.bak").write_text(SECRET)
    remaining = text_key("Words of r01", 5)
    lines = [
        encoded(KeptLabel(text=key, model=SECRET, lists="", labels=ReviewAnswer()))
        for key in (text_key(SECRET, 5), "0" * 32)
    ]
    label_line = encoded(KeptLabel(text=remaining, model="tiny", lists="", labels=ReviewAnswer()))
    (data / "insights.labels").write_bytes(b"".join((*lines, label_line)))
    address = f"https://reviews.example.com/r/{ERASED}.md"
    out, _ = shop.run("reviews", "erase", address, "--reason", "request", "--yes")
    assert "not erased: copies" in out
    files = shop.files()
    assert {"reviews.json", "insights.json", "corrections.json", "imports.json"} <= files.keys()
    assert 2 == sum(name.startswith("reviews-") for name in files)
    for name, content in files.items():
        assert SECRET.encode() not in content, name
        assert AUTHOR.encode() not in content, name
    served = json.loads(files["reviews.json"])
    assert [ERASED] == [review["id"] for review in served["removed"]]
    assert 25 == len(served["reviews"])
    assert {"r01": {}} == json.loads(files["insights.json"])["per_review"]
    assert label_line == files["insights.labels"]
    assert "NOT" not in out


def test_import_with_broken_corrections_is_refused(shop: Shop, data: Path, tmp_path: Path) -> None:
    """An erased review might come back."""
    (data / "corrections.json").write_text("{")
    before = (data / "reviews.json").read_bytes()
    export = tmp_path / "more.json"
    export.write_text(json.dumps({"business": {"name": "Acme"}, "reviews": [review("new")]}))
    _, error = shop.run("import", str(export), code=1)
    assert "without it erased reviews would return" in error
    assert before == (data / "reviews.json").read_bytes()


def test_undo_after_hide_is_refused_without_number(shop: Shop, data: Path, tmp_path: Path) -> None:
    """It took back the import of the day before, and nothing of what was done last."""
    export = tmp_path / "more.json"
    export.write_text(json.dumps({"business": {"name": "Acme"}, "reviews": [review("new")]}))
    shop.run("import", str(export))
    os.utime(data / "reviews.json", (0, 0))
    shop.run("reviews", "hide", "new", "--reason", "spam")
    before = (data / "reviews.json").read_bytes()
    _, err = shop.run("reviews", "undo", code=1)
    assert "new is hidden since" in err
    assert "reviewsctl reviews restore new; to take back" in err
    assert before == (data / "reviews.json").read_bytes()
    shop.run("reviews", "undo", "1")
    assert before != (data / "reviews.json").read_bytes()


@pytest.mark.parametrize(
    ("base_url", "snapshot", "is_listed"),
    [
        ("http://localhost:8080", "", False),
        ("http://localhost:8080", "current", True),
        ("https://reviews.example.com", "", True),
    ],
    ids=["never served", "served", "elsewhere"],
)
def test_undone_import_that_was_never_served_leaves_no_ids(
    environment: dict[str, str],
    data: Path,
    tmp_path: Path,
    base_url: str,
    snapshot: str,
    *,
    is_listed: bool,
) -> None:
    """They are made of full names, and confirmed in public the names that the next import shortened."""
    config = tmp_path / "reviewsd.yaml"
    config.write_text(f"base_url: {base_url}\ndata_dir: data\nstate_dir: state\n")
    config.chmod(0o644)
    if snapshot:
        (tmp_path / "state/snapshots" / snapshot).mkdir(parents=True)
    table = tmp_path / "k.csv"
    table.write_text("Date,Stars,Name,Review\n2026-03-14,5,Ludwig Frosch,Good.\n")

    def run(*arguments: str) -> list[str]:
        done = reviewsctl(environment, *arguments, "--config", str(config))
        assert 0 == done.returncode, done.stderr
        removed = json.loads((data / "reviews.json").read_bytes()).get("removed", [])
        return [entry["id"] for entry in removed]

    run("import", str(table), "--source", "cards")
    assert is_listed is bool(run("reviews", "undo", "1"))
    (data / "reviews.json").unlink()
    run("import", str(table), "--source", "cards", "--set", "name=Acme")
    table.write_text("Date,Stars,Name,Review\n2026-03-14,5,Ann Berg,Other words here now.\n")
    assert is_listed is bool(run("import", str(table), "--source", "cards", "--replace", "--yes"))


@pytest.mark.parametrize(("author", "other"), [(AUTHOR, "Jane Roebuck"), ("Jane R.", "Jane Moe")])
@pytest.mark.parametrize("action", ["erase", "anonymize", "hide"])
def test_author_who_is_named_in_other_reviews_is_pointed_out_there(
    shop: Shop, data: Path, action: str, author: str, other: str
) -> None:
    """An erased name was "gone for good from your files", one of which had it in a neighbor's text."""
    with edited(data) as file:
        file["reviews"][0]["author"] = author
        file["reviews"][1]["text"] = "My neighbor JANE  ROE, sent me"
        file["reviews"][2]["owner_reply"] = {"text": "Greet Jane Roe!", "date": "2026-01-01"}
        file["reviews"][3]["text"] = f"Jane Seymour, {other}"
    out, _ = shop.run("reviews", action, ERASED, "--reason", "request", "--yes")
    text, reply = [line for line in out.splitlines() if line.startswith("the name may stand in")]
    assert text == (
        "the name may stand in the text of other reviews, which stays: r00 (2026-01-01); "
        "to leave their stars alone: reviewsctl reviews hide ID --reason personal-data --text"
    )
    assert reply == (
        "the name may stand in your reply to other reviews, which stays: r01 (2026-01-01); "
        "to write it without: reviewsctl reviews reply ID TEXT"
    )


def test_single_name_is_not_looked_for_in_other_reviews(shop: Shop, data: Path) -> None:
    """It is that of many, as "A Google user" is."""
    for author in ("Jane", "A Google User"):
        with edited(data) as file:
            file["reviews"][0]["author"] = author
            file["reviews"][1]["text"] = "Jane, a Google user"
        out, _ = shop.run("reviews", "erase", ERASED, "--reason", "request", "--yes", "--dry-run")
        assert "the name may stand" not in out


@pytest.mark.parametrize("command", [("backup", "b.tar.gz"), ("reviews", "erase", ERASED)])
def test_daemon_of_the_named_configuration_is_asked_from_another_folder(
    environment: dict[str, str], tmp_path: Path, data: Path, command: tuple[str, ...]
) -> None:
    """An erasure was "not published yet, as no daemon answers", while the daemon answered 410."""
    del environment["REVIEWSD_ADMIN_SOCKET"]
    shop, elsewhere = data.parent, tmp_path / "elsewhere"
    elsewhere.mkdir()
    (shop / "reviewsd.yaml").write_text(
        "data_dir: data\nstate_dir: state\nadmin_socket: shop.sock\n"
    )
    options = ("--reason", "request", "--yes") if command[0] == "reviews" else ()
    with admin_fake(shop / "shop.sock", {"GET /v1/status": document(STATUS)}) as fake:
        reviewsctl(environment, *command, *options, "--config", "..", folder=elsewhere)
    assert fake.asked
