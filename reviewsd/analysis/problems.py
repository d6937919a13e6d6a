"""Decides whether a problem in a review happened with this business, and was not made good (decision 423)."""

from collections.abc import Iterator, Sequence
from typing import Final

from reviewsd.analysis.aspects import ClauseMark
from reviewsd.analysis.clause_rules import ClauseReading, Decision
from reviewsd.analysis.evidence_words import EvidenceWords, evidence_words
from reviewsd.analysis.lexicon import Lexicon
from reviewsd.analysis.names import RELATIONS
from reviewsd.analysis.text import Tokens, first_word

_PRAISE: Final = 0.5  # score of a clause that is no complaint
_NEAR: Final = 3  # tokens between a subject and what it does
_BY_CUSTOMERS: Final = frozenset({"late-arrival", "no-show", "cancelled-appointment"})
"""Problems that customers cause as well."""
_MADE_GOOD: Final = frozenset(
    {"property-damage", "mess-left-behind", "missing-items", "billing-mistake"}
)
"""Problems that a business makes good, or that are its job: "repaired the damaged floor"."""
_OTHERS: Final = ClauseMark.OTHERS  # a constant, because access to enum members is slow


def is_problem(
    tokens: Tokens, lexicon: Lexicon, clauses: Sequence[ClauseReading], at: int, decision: Decision
) -> bool:
    """Return whether the problem of a decision happened, with this business, and was not solved.

    Args:
        tokens: The text.
        lexicon: The words of its language.
        clauses: All clauses of the text.
        at: The index of the clause.
        decision: A decision with a problem.
    """
    clause = clauses[at]
    words, lists = tokens.words, evidence_words(lexicon.language)
    begin = _begin(clauses, at)
    around = list(_sentence(clauses, begin))
    if clause.score >= _PRAISE or any(c.mark is not None for c in around):
        return False
    if not lists.conditions.isdisjoint(
        [first_word(words, c.clause, lexicon.grammar) for c in around]
    ):
        return False
    if not lists.feared.isdisjoint(words[clause.clause.start : decision.start]):
        return False
    if _is_of_others(words, lexicon, clauses, begin, lists):
        return False
    if decision.problem in _BY_CUSTOMERS and _by_customers(words, decision.start, clause, lists):
        return False
    return decision.problem not in _MADE_GOOD or not any(
        _is_solved(words, lexicon, decision, c, lists) for c in around
    )


def _begin(clauses: Sequence[ClauseReading], at: int) -> int:
    """Return the index of the first clause of a sentence, from that of any."""
    sentence = clauses[at].clause.sentence
    while at and clauses[at - 1].clause.sentence == sentence:
        at -= 1
    return at


def _sentence(clauses: Sequence[ClauseReading], begin: int) -> Iterator[ClauseReading]:
    """Yield the clauses of a sentence, from the index of the first."""
    sentence = clauses[begin].clause.sentence
    while begin < len(clauses) and clauses[begin].clause.sentence == sentence:
        yield clauses[begin]
        begin += 1


def _is_of_others(
    words: Sequence[str],
    lexicon: Lexicon,
    clauses: Sequence[ClauseReading],
    begin: int,
    lists: EvidenceWords,
) -> bool:
    """Return whether a sentence has a pronoun for another business, of which the one before speaks.

    Args:
        words: The tokens of the text.
        lexicon: The words of its language.
        clauses: All clauses of the text.
        begin: The index of the first clause of the sentence.
        lists: The words that make a statement certain.
    """
    if not begin:
        return False
    before = _sentence(clauses, _begin(clauses, begin - 1))
    if all(clause.mark is not _OTHERS for clause in before):
        return False
    subject = first_word(words, clauses[begin].clause, lexicon.grammar)
    return subject in lexicon.grammar.pronouns and subject not in lists.customers


def _by_customers(
    words: Sequence[str], at: int, clause: ClauseReading, lists: EvidenceWords
) -> bool:
    """Return whether customers or their relatives do what begins at a token."""
    before = list(_before(words, at, clause))
    return not (lists.customers.isdisjoint(before) and RELATIONS.isdisjoint(before))


def _is_solved(
    words: Sequence[str],
    lexicon: Lexicon,
    decision: Decision,
    clause: ClauseReading,
    lists: EvidenceWords,
) -> bool:
    """Return whether a clause says that the business made it good, outside the match."""
    start, end = clause.clause.start, clause.clause.end
    return any(
        words[at] in lists.solved
        and not decision.start <= at < decision.end
        and not lexicon.negated(words, at, start)
        and not _by_customers(words, at, clause, lists)
        for at in range(start, end)
    )


def _before(words: Sequence[str], at: int, clause: ClauseReading) -> Iterator[str]:
    """Yield up to three tokens before one in its clause, from the last to a comma."""
    for word in reversed(words[max(clause.clause.start, at - _NEAR) : at]):
        if word == ",":
            return
        yield word
