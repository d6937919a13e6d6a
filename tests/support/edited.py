"""A shop whose customers edit their reviews in a table without ids, and whose owner corrects some."""

import json
from typing import Any, Literal

from reviewsctl.corrections import deciding, files
from reviewsctl.corrections.output import Output
from reviewsctl.importing.options import SyncedRead
from reviewsctl.importing.report import ImportResult
from reviewsd.domain.corrected import shown
from reviewsd.domain.corrections import Action, Overlay, Reason
from reviewsd.offline import corrections
from tests.support.shop import Shop, table

HEADER = "Date,Stars,Name,Review\n"
ANN = "2026-03-14,1,Ann Lee,They broke the blue vase.\n"
EDITED = "2026-03-14,2,Ann Lee,They broke the vase in the hall.\n"
BO = "2026-03-15,5,Bo Li,Quick and clean.\n"
REPLY = {"text": "Sorry, Ann.", "date": "2026-03-16"}

Decision = Action | Literal["erase"]
"""What an owner decides about a review."""


def imported(
    shop: Shop, *rows: str, header: str = HEADER, replace: bool = True, **options: Any
) -> ImportResult:
    export = table(shop.folder.parent / "reviews.csv", header + "".join(rows))
    return shop.imported(export, source="website", replace=replace, **options)


def correct(shop: Shop, author: str, action: Decision = "hide") -> str:
    """Correct or erase the reviews of an author, and return the id of the last one."""
    chosen = [review["id"] for review in shop.file["reviews"] if review["author"] == author]
    decide(shop, action, *chosen)
    return str(chosen[-1])


def decide(shop: Shop, action: Decision, *ids: str) -> None:
    """Correct or erase reviews by their ids."""
    target = shop.folder / "reviews.json"
    reviews = files.read(target)
    chosen = [entry.review for entry in reviews.reviews if entry.review.id in ids]
    if action == "erase":
        files.erase(target, reviews.with_erasure(chosen, shop.now), shop.now)
    else:
        reason: Reason | None = None if action == "restore" else "request"
        files.write(target, reviews.with_correction(chosen, action, reason, shop.now))


def states(shop: Shop) -> dict[str, str]:
    """The texts of all reviews with their corrections."""
    return {
        str(entry.review.text): "shown" if entry.correction is None else entry.correction.action
        for entry in corrections.read(shop.folder).reviews
    }


def published(shop: Shop) -> str:
    """The reviews as a daemon publishes them."""
    return "\n".join(map(json.dumps, published_reviews(shop)))


def published_reviews(shop: Shop) -> list[dict[str, Any]]:
    """The reviews as a daemon publishes them."""
    overlay = Overlay(corrections.read(shop.folder).corrections)
    texts = [shown(json.dumps(review).encode(), overlay) for review in shop.file["reviews"]]
    return [json.loads(text) for text in texts if text is not None]


def overlay_file(shop: Shop) -> bytes:
    return (shop.folder / "corrections.json").read_bytes()


def log(shop: Shop) -> list[dict[str, Any]]:
    path = shop.folder / ".reviewsctl/corrections.log"
    return [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []


def synced(
    shop: Shop, *rows: str, header: str = HEADER, check: Any = lambda *_: None, gone: bool = True
) -> ImportResult:
    """Import as a sync does, which calls ``check`` where a terminal would ask."""
    read = SyncedRead(name="shop", is_current=True, is_gone=lambda _: gone, check=check)
    return imported(shop, *rows, header=header, synced=read)


def take_again(shop: Shop, review_id: str) -> None:
    """Have imports take a row that they have left out, as ``reviews restore`` does."""
    run = deciding.Correcting(shop.folder, None, "", Output(as_json=False), dry_run=False)
    assert run.reviews.has_left_out(review_id)
    run.restore([review_id])
