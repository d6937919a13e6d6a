"""``reviewsctl reviews``: lists reviews, corrects some (corrections.md), and undoes imports."""

import datetime
import os
from typing import Annotated, Literal, get_args

import typer

from reviewsctl.commands.data_options import ConfigFile, DataDir
from reviewsctl.corrections.output import Output
from reviewsctl.daemon.session import Json, Quiet
from reviewsctl.terminal.output import echo, json_line
from reviewsd.api.texts import printable

app = typer.Typer(
    name="reviews",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="""Lists reviews, replies, hides or erases some; undoes imports.

    What is hidden, anonymous or erased stays so through every import; corrections.json beside
    reviews.json has it, and the pages say how many reviews are not shown, and why. A review is named
    by its id, by the beginning or the end of its id, or by the address of its page. None of this is
    legal advice.""",
    epilog="""\b
    Examples:
      reviewsctl reviews list --text 'my address'
      reviewsctl reviews reply 01J9ZK3V5Q 'Thank you, Jane!'
      reviewsctl reviews hide 01J9ZK3V5Q --reason spam
      reviewsctl reviews erase 01JWNEY480 --reason request
      reviewsctl reviews undo""",
)


Reason = Literal[
    "personal-data",
    "request",
    "illegal",
    "defamation",
    "offensive",
    "fake",
    "spam",
    "other-business",
    "duplicate",
    "court-order",
]
"""The values of ``--reason``; none says that a review is negative."""

Ids = Annotated[
    list[str],
    typer.Argument(
        metavar="ID...",
        show_default=False,
        help="Ids, their beginnings or ends, or the addresses of pages.",
    ),
]
Why = Annotated[
    Reason,
    typer.Option(
        "--reason",
        metavar="REASON",
        show_default=False,
        help=f"What readers are told, but of an erased review nothing: {', '.join(get_args(Reason))}. "
        "That a review is negative is no reason.",
    ),
]
Note = Annotated[
    str,
    typer.Option(
        "--note",
        metavar="TEXT",
        show_default=False,
        help="For your own log, .reviewsctl/corrections.log; it is never served.",
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Only say what would change; write nothing.")
]
Yes = Annotated[bool, typer.Option("-y", "--yes", help="Answer every question with yes.")]


@app.command(
    "list",
    epilog="""\b
    Examples:
      reviewsctl reviews list --unanswered --stars 2
      reviewsctl reviews list --hidden
      reviewsctl reviews list --text plumber --json | jq -r .id""",
)
def list_(  # noqa: PLR0913  options
    *,
    hidden: Annotated[
        bool, typer.Option("--hidden", help="Only what is hidden or anonymous.")
    ] = False,
    source: Annotated[
        str, typer.Option(metavar="NAME", show_default=False, help="Only of this platform.")
    ] = "",
    stars: Annotated[
        int | None,
        typer.Option(
            min=1, max=5, show_default=False, help="Only reviews of N stars.", metavar="N"
        ),
    ] = None,
    text: Annotated[
        str,
        typer.Option(
            metavar="WORDS", show_default=False, help="Only with these words in text or author."
        ),
    ] = "",
    author: Annotated[
        str,
        typer.Option(
            metavar="NAME", show_default=False, help="Only of authors with this in their name."
        ),
    ] = "",
    location: Annotated[
        str,
        typer.Option(
            metavar="NAME", show_default=False, help="Only of this location, by its id or name."
        ),
    ] = "",
    unanswered: Annotated[
        bool, typer.Option("--unanswered", help="Only reviews that are shown without a reply.")
    ] = False,
    data: DataDir = None,
    config: ConfigFile = None,
    as_json: Json = False,
) -> None:
    """Lists the reviews, newest first, with their corrections.

    With --json each review is a line, with all its members and its "correction".
    """
    from reviewsctl.corrections.deciding import reading  # msgspec, see main
    from reviewsctl.corrections.listing import Filter

    _, reviews = reading(data, config)
    wanted = Filter(
        hidden=hidden,
        source=source,
        stars=stars,
        text=text,
        author=author,
        location=location,
        unanswered=unanswered,
    )
    Output(as_json=as_json).list(wanted.matches(reviews), len(reviews.reviews))


@app.command(
    epilog="""\b
    Examples:
      reviewsctl reviews list --unanswered
      reviewsctl reviews reply 01J9ZK3V5Q 'Thank you, Jane!'
      reviewsctl reviews reply 01J9ZK3V5Q - < reply.txt"""
)
def reply(
    review_id: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            show_default=False,
            help="Its id, a beginning or end of it, or the address of its page.",
        ),
    ],
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="TEXT...",
            show_default=False,
            help="Your reply; - reads it from standard input, and '' takes it away.",
        ),
    ],
    *,
    data: DataDir = None,
    config: ConfigFile = None,
    as_json: Json = False,
) -> None:
    """Replies to a review on your page.

    The reply has the day of today, takes the place of an earlier one, and is written into
    reviews.json. Imports keep it, unless the export has a reply of yours. Replies are not
    sent to the platform. To answer there, write there. "reviewsctl reviews undo" takes the last
    change back.
    """
    from reviewsctl.corrections import files
    from reviewsctl.corrections.deciding import named, reading
    from reviewsctl.corrections.reply import (  # msgspec, see main
        effects_of,
        has_imported_reply,
        text_of,
        write,
    )
    from reviewsctl.importing.errors import ImportRefusedError

    output, now = Output(as_json=as_json), datetime.datetime.now(datetime.UTC)
    text = text_of(" ".join(words))
    target, reviews = reading(data, config)
    chosen = named([review_id], reviews)
    old, action = chosen[0].owner_reply, reviews.action(chosen[0])
    if not text and old is None:
        raise ImportRefusedError(f"{chosen[0].id} has no reply that could be taken away")
    output.show(chosen)
    returned = files.take_out_erased(target, reviews, now)
    write(target, chosen[0].id, text, now)
    is_imported = has_imported_reply(target, chosen[0].id)
    notes = [*effects_of(text, chosen[0], action, is_imported=is_imported)]
    if old is not None:
        replaced = "replaces your reply" if text else "it was"
        notes.append(f"{replaced}: {printable(old.text)}")
    notes += ["to take it back: reviewsctl reviews undo", *files.erased_note(returned)]
    output.report("answered" if text else "without reply", chosen, notes)


@app.command(
    epilog="""\b
    Examples:
      reviewsctl reviews hide 01J9ZK3V5Q --reason spam --dry-run
      reviewsctl reviews hide 01JWNEY480 --reason personal-data --text"""
)
def hide(  # noqa: PLR0913  options
    ids: Ids,
    *,
    reason: Why,
    text: Annotated[
        bool, typer.Option("--text", help="Hide only the text; the stars still count.")
    ] = False,
    note: Note = "",
    dry_run: DryRun = False,
    yes: Yes = False,
    data: DataDir = None,
    config: ConfigFile = None,
    as_json: Json = False,
) -> None:
    """Hides reviews, and the pages say how many and why.

    Hidden reviews are not shown and not counted. It asks first if many are hidden, if these have far
    fewer stars than the others, or if --text would show a hidden one again.
    """
    from reviewsctl.corrections.deciding import Correcting, named  # msgspec, see main

    run = Correcting(data, config, note, Output(as_json=as_json, yes=yes), dry_run=dry_run)
    run.correct(named(ids, run.reviews), "hide-text" if text else "hide", reason)


@app.command(
    epilog="""\b
    Example:
      reviewsctl reviews anonymize 01HV6Q2J8Z --reason request"""
)
def anonymize(
    ids: Ids,
    *,
    reason: Why,
    note: Note = "",
    dry_run: DryRun = False,
    yes: Yes = False,
    data: DataDir = None,
    config: ConfigFile = None,
    as_json: Json = False,
) -> None:
    """Shows reviews without their author.

    They have no name, no picture and no link to the original. Names in texts and replies stay; the
    command lists them. Words that were hidden stay hidden. It asks first if a review is hidden now.
    """
    from reviewsctl.corrections.deciding import Correcting, named  # msgspec, see main

    run = Correcting(data, config, note, Output(as_json=as_json, yes=yes), dry_run=dry_run)
    run.correct(named(ids, run.reviews), "anonymize", reason)


@app.command(
    epilog="""\b
    Example:
      reviewsctl reviews restore 01J9ZK3V5Q"""
)
def restore(
    ids: Ids,
    *,
    note: Note = "",
    dry_run: DryRun = False,
    data: DataDir = None,
    config: ConfigFile = None,
    as_json: Json = False,
) -> None:
    """Shows reviews again as reviews.json has them.

    What was erased cannot be restored. A row that an import has left out for an erased review is taken by the next one.
    """
    from reviewsctl.corrections.deciding import Correcting  # msgspec, see main

    Correcting(data, config, note, Output(as_json=as_json), dry_run=dry_run).restore(ids)


@app.command(
    epilog="""\b
    Examples:
      reviewsctl reviews erase 01JWNEY480 --reason request
      reviewsctl reviews erase --author 'Jane Doe' --reason request --dry-run"""
)
def erase(  # noqa: PLR0913  options
    ctx: typer.Context,
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID...]", show_default=False, help="Ids, or addresses of pages."),
    ] = None,
    *,
    author: Annotated[
        str,
        typer.Option(
            metavar="NAME", show_default=False, help="Also all reviews of this full name."
        ),
    ] = "",
    reason: Why,
    note: Note = "",
    dry_run: DryRun = False,
    yes: Yes = False,
    data: DataDir = None,
    config: ConfigFile = None,
    as_json: Json = False,
) -> None:
    """Erases reviews for good, kept versions included.

    They are taken out of reviews.json, insights.json, all kept versions and the import log. Every
    later import skips them, whichever tool made the export. This cannot be undone. The command ends
    with a list of the copies that it cannot reach.
    """
    from reviewsctl.corrections.deciding import (  # msgspec, see main
        LIST,
        Correcting,
        named_or_erased,
        of_author,
    )
    from reviewsctl.importing.errors import ImportRefusedError

    run = Correcting(data, config, note, Output(as_json=as_json, yes=yes), dry_run=dry_run)
    more = of_author(author, run.reviews) if author else []
    chosen = named_or_erased([*(ids or []), *more], run.reviews)
    if not chosen:
        raise ImportRefusedError("no review is named", LIST)
    run.erase(chosen, reason, ctx.obj)


@app.command(
    epilog="""\b
    Examples:
      reviewsctl reviews undo --dry-run
      reviewsctl reviews undo
      reviewsctl reviews undo 2"""
)
def undo(
    ctx: typer.Context,
    number: Annotated[
        int | None,
        typer.Argument(
            metavar="N", min=1, max=999, show_default="1", help="How many changes to go back."
        ),
    ] = None,
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List the versions; write nothing.")
    ] = False,
    data: DataDir = None,
    config: ConfigFile = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Undoes the last change of reviews.json, or the last N.

    A change is an import, a sync, a reply, a restore or an edit by hand. The file is as it was before, with its
    reviews, replies and business; one that was deleted or emptied comes back too. The same command
    once more takes the undo back. The last ten versions are kept. What is hidden, anonymized or
    erased stays so: to show a hidden review again there is "reviewsctl reviews restore".
    """
    from reviewsctl.commands.import_ import offer_reload, undo_command
    from reviewsctl.daemon.default_paths import is_unpublished
    from reviewsctl.importing.target import configuration_in_use, reviews_file  # msgspec, see main
    from reviewsctl.importing.undo import check_last, listing
    from reviewsctl.importing.undo import undo as undone

    configuration = configuration_in_use(data, config, os.environ)
    target = reviews_file(data, configuration, os.environ)
    command, now = undo_command(data, config), datetime.datetime.now(datetime.UTC)
    if dry_run:
        document, lines = listing(target)
    else:
        if number is None:
            check_last(target)
        count = number or 1
        unpublished = is_unpublished(configuration, os.environ)
        result = undone(target, count, now, is_unpublished=unpublished)
        document = result.document(target)
        lines = [*result.lines(target, count, command)]
    echo(*([json_line(document)] if as_json else [] if quiet else lines))
    if not (dry_run or quiet or as_json):
        offer_reload(ctx.obj, target)
