"""There is no authentication; what there is instead."""

from reviewsd.http1 import urls
from reviewsd.pages.developers.blocks import Code, DeveloperPage, Items, Link, Paragraph, Section


def page(base_url: str) -> DeveloperPage:
    """The page.

    Args:
        base_url: Origin of the addresses in examples.
    """
    return DeveloperPage(
        path=urls.DEVELOPERS_AUTHENTICATION,
        title="Authentication",
        description="No account, no key and no login: everything here is public and read-only.",
        blocks=(
            Paragraph(
                "None is needed. Everything is public and read-only: there is no account, no key, no token "
                "and no SDK. An `Authorization` header is ignored."
            ),
            Code(f"curl {base_url}{urls.REVIEWS}", "sh"),
        ),
        sections=(
            Section(
                "browsers",
                "From web pages",
                (
                    Items(
                        (
                            (
                                "Reads may be called from pages of any origin (CORS `*`), without "
                                "credentials."
                            ),
                            (
                                (
                                    "MCP may be called from pages of origins that the operator allows; "
                                    "programs that are no browsers need nothing: see "
                                ),
                                Link("MCP", urls.DEVELOPERS_MCP),
                                ".",
                            ),
                        )
                    ),
                ),
            ),
            Section(
                "subscribers",
                "Subscribers",
                (
                    Paragraph(
                        (
                            (
                                "Who subscribes shows by the verification that the callback is theirs, and "
                                "deliveries are signed where a secret was given: see "
                            ),
                            Link("notifications", urls.DEVELOPERS_WEBHOOKS),
                            ".",
                        )
                    ),
                ),
            ),
            Section(
                "limits",
                "Fair use",
                (
                    Items(
                        (
                            (
                                "Ask with `If-None-Match`: what has not changed is answered 304, without a "
                                "body."
                            ),
                            (
                                "Where too much is asked at once, the answer is 429, and `Retry-After` says "
                                "when to try again."
                            ),
                            (
                                "Instead of asking again and again, ",
                                Link("subscribe", urls.DEVELOPERS_WEBHOOKS),
                                ".",
                            ),
                        )
                    ),
                ),
            ),
        ),
    )
