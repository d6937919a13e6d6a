"""Calls of tools: arguments and a snapshot become an answer (mcp.md 5.3 to 5.5)."""

from collections.abc import Callable, Generator
from functools import partial

from msgspec.structs import replace

from reviewsd.domain.parameters import InvalidParametersError
from reviewsd.mcp import arguments, insight_tools, review_tools
from reviewsd.mcp.answers import ANSWER_BUDGET, DEFAULT_BUDGET, Call, ToolAnswer, ToolSteps, refused
from reviewsd.mcp.tools import TOOLS
from reviewsd.publish import fragments
from reviewsd.snapshot.snapshots import Snapshot

_CALLED: dict[str, Callable[[Call], ToolSteps]] = {
    "get_business": review_tools.get_business,
    "search_reviews": review_tools.search_reviews,
    "get_aspect_sentiment": partial(insight_tools.get_entity, "aspect", fragments.ASPECTS),
    "get_technician": partial(insight_tools.get_entity, "technician", fragments.TECHNICIANS),
    "get_service": partial(insight_tools.get_entity, "service", fragments.SERVICES),
    "get_topics": insight_tools.get_topics,
    "get_sentiment_trend": insight_tools.get_sentiment_trend,
    "get_faq": insight_tools.get_faq,
    "get_summary": insight_tools.get_summary,
    "get_review": review_tools.get_review,
    "get_reviews_since": review_tools.get_reviews_since,
}
_HOW_MANY = frozenset({"limit", "months"})
"""Arguments by which an agent says that it wants a longer list."""

_TOOLS = {
    tool.name: (tool, {each.name: each for each in tool.parameters}, _CALLED[tool.name])
    for tool in TOOLS
}


class Toolbox:
    """All tools.

    Args:
        answer_budget: Bytes that the text of a list is not to pass (``mcp.answer_budget``).
    """

    def __init__(self, answer_budget: int = ANSWER_BUDGET) -> None:
        self._budget = answer_budget

    def call(
        self, name: str, given: bytes, snapshot: Snapshot
    ) -> Generator[None, None, ToolAnswer]:
        """Call a tool, in steps.

        Args:
            name: Of one of the tools.
            given: The arguments, a strict JSON object.
            snapshot: The data.
        """
        tool, parameters, work = _TOOLS[name]
        try:
            read = arguments.read(name, parameters, tool.required, given, tool.order)
        except arguments.ArgumentsError as error:
            return refused(str(error))
        named = not _HOW_MANY.isdisjoint(read.values)
        budget = self._budget if named else min(self._budget, DEFAULT_BUDGET)
        try:
            answer = yield from work(
                Call(tool=name, values=read.values, snapshot=snapshot, budget=budget)
            )
        except InvalidParametersError as error:  # a name that fits several
            answer = refused(f"{name}: {error}.")
        return replace(answer, notes=read.notes) if read.notes else answer
