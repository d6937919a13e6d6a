"""Matches patterns of words with an automaton (insights.md 4, rule 10).

Patterns of the word lists have this syntax:

- ``late`` is a word; ``(on|in) time`` and ``(very|) late`` are alternatives, one may be empty;
  ``peel(s|ed|ing)`` are endings, and so are those of a bracket after
  another one without a blank; a bracket may stand within another;
- ``arrive/v`` is a word in all its forms (``language_data.Endings``);
- ``{staff}`` is any word of a class; this class has the people of the settings as well;
- ``{pos}`` and ``{neg}`` are positive and negative words of the lexicon; ``#`` is a number, ``$`` an
  amount of money, and ``45 €`` is both;
- ``~`` is up to three words of any kind, but never a barrier such as the end of a sentence.

All patterns form one nondeterministic automaton. Its deterministic states are built when a text first
reaches them, so that a token costs one look-up for each open pattern start, however many patterns
there are. A trie of all alternatives would have two million leaves.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from reviewsd.analysis.language_data import Endings, LanguageData

GAP: Final = "~"
POSITIVE: Final = "{pos}"
NEGATIVE: Final = "{neg}"
STAFF: Final = "{staff}"
NUMBER: Final = "#"
MONEY: Final = "$"
EUROS: Final = "\u20ac"
"""The kind of an amount with its sign behind it, which matches ``NUMBER`` as well as ``MONEY``."""

OTHER_WORD: Final = 0
"""The kind of a word that is in no pattern."""
BARRIER: Final = -1
"""The kind of a token that ends all patterns."""

_MAX_GAP: Final = 3  # words
_MAX_SUCCESSORS: Final = 300_000  # bounds the memory of deterministic states

Alternatives = list[tuple[str, ...]]

Match = tuple[int, int, object]
"""A match of a pattern: its first token, the token after it, and the pattern's payload."""


class _Node:
    """A state of the nondeterministic automaton, with the words that may follow."""

    __slots__ = ("any_word", "edges", "payloads")

    def __init__(self, payloads: tuple[object, ...] = ()) -> None:
        self.edges: dict[str, list[_Node]] = {}
        self.any_word: list[_Node] = []
        self.payloads = payloads

    def link(self, symbol: str, target: "_Node") -> None:
        self.edges.setdefault(symbol, []).append(target)

    def absorb(self, node: "_Node") -> None:
        """Add the edges and payloads of another node."""
        for symbol, targets in node.edges.items():
            self.edges.setdefault(symbol, []).extend(targets)
        self.any_word.extend(node.any_word)
        self.payloads += node.payloads


class _State(dict[int, "_State | None"]):
    """A set of nodes as one; maps a kind of word to the next state, computed on first access."""

    __slots__ = ("_matcher", "_node", "payloads")

    def __init__(self, nodes: Sequence[_Node], matcher: "PatternMatcher") -> None:
        super().__init__()
        self._matcher = matcher
        self._node = nodes[0]
        if len(nodes) > 1:
            self._node = _Node()
            for node in nodes:
                self._node.absorb(node)
        self.payloads = tuple(dict.fromkeys(self._node.payloads))

    def __missing__(self, kind: int) -> "_State | None":
        successor = self[kind] = self._matcher.successor(self._node, kind)
        return successor


class PatternMatcher:
    """Finds patterns, each with a payload.

    Args:
        data: Has the classes of words, endings and numbers for the patterns.
    """

    def __init__(self, data: LanguageData) -> None:
        self._classes = {f"{{{name}}}": words for name, words in data.classes.items()}
        self._endings = data.endings
        self._numbers = data.words.get("numbers", ())
        self._root = _Node()
        self._symbols: dict[str, None] = {}
        self._kinds: dict[tuple[str, ...], int] = {(): OTHER_WORD}
        self._names: list[tuple[str, ...]] = [()]
        self._states: dict[tuple[int, ...], _State] = {}
        self._start = _State((self._root,), self)
        self._successors = 0

    def copy(self) -> "PatternMatcher":
        """Return a matcher with the same patterns, to which more may be added."""
        copy = PatternMatcher(LanguageData())
        copy._classes, copy._endings, copy._numbers = self._classes, self._endings, self._numbers
        copy._root.absorb(self._root)
        copy._symbols = dict(self._symbols)
        return copy

    def add(self, pattern: str, payload: object) -> None:
        """Add a pattern.

        Raises:
            ValueError: The pattern is malformed, empty, may be empty, names an unknown class, or
                begins or ends with a gap.
        """
        groups = parse(pattern, self._endings)
        if not groups or [(GAP,)] in (groups[0], groups[-1]):
            raise ValueError(f"no pattern: {pattern!r}")
        self._insert(groups, payload)

    def add_words(self, words: Iterable[str], payload: object) -> None:
        """Add a sequence of words; nothing if it is empty."""
        if sequence := tuple(words):
            self._insert([[sequence]], payload)

    def vocabulary(
        self, valences: Mapping[str, float], people: Iterable[str] = ()
    ) -> dict[str, int]:
        """The kind of each word that patterns can tell from others, ``#`` and ``$`` among them.

        Args:
            valences: Opinion words, for ``{pos}`` and ``{neg}``.
            people: Names, for ``{staff}``.
        """
        symbols: dict[str, list[str]] = {
            NUMBER: [NUMBER],
            MONEY: [MONEY],
            EUROS: [MONEY, NUMBER],
        }
        classes = self._classes | {STAFF: (*self._classes.get(STAFF, ()), *people)}
        for symbol in self._symbols:
            if symbol in classes:
                for word in classes[symbol]:
                    symbols.setdefault(word, []).append(symbol)
            elif symbol not in (POSITIVE, NEGATIVE, NUMBER, MONEY):
                symbols.setdefault(symbol, []).append(symbol)
        for word, valence in valences.items():
            polarity = POSITIVE if valence > 0 else NEGATIVE
            if valence and polarity in self._symbols:
                symbols.setdefault(word, []).append(polarity)
        for word, word_symbols in symbols.items():
            if word in self._numbers or (word[0].isdigit() and NUMBER not in word_symbols):
                word_symbols.append(NUMBER)
        for word in self._numbers:
            symbols.setdefault(word, [NUMBER])
        return {word: self._kind(tuple(word_symbols)) for word, word_symbols in symbols.items()}

    def find(self, kinds: Sequence[int]) -> list[Match]:
        """Return all matches in the kinds of a text's tokens, by start, shorter ones first."""
        matches: list[Match] = []
        terminated = [*kinds, BARRIER]
        for start, first in enumerate(map(self._start.__getitem__, kinds)):
            at, state = start, first
            while state is not None:
                at += 1
                if state.payloads:  # most states have none
                    for payload in state.payloads:
                        matches.append((start, at, payload))  # noqa: PERF401  a list is slower
                state = state[terminated[at]]
        return matches

    def successor(self, node: _Node, kind: int) -> _State | None:
        """Return the state after a node and a kind of word; None if no pattern continues."""
        if kind == BARRIER:
            return None
        self._successors += 1
        if self._successors > _MAX_SUCCESSORS:
            self._successors = 0
            self._states.clear()
            self._start.clear()
        targets = [t for symbol in self._names[kind] for t in node.edges.get(symbol, ())]
        targets += node.any_word
        if not targets:
            return None
        distinct = {id(target): target for target in targets}
        key = tuple(sorted(distinct))
        state = self._states.get(key)
        if state is None:
            state = self._states[key] = _State(list(distinct.values()), self)
        return state

    def _insert(self, groups: list[Alternatives], payload: object) -> None:
        node = _Node((payload,))
        for group in reversed(groups):
            node = _gap(node) if group == [(GAP,)] else self._choice(group, node)
        if node.payloads:
            raise ValueError(f"a pattern for {payload!r} may be empty")
        self._root.absorb(node)

    def _choice(self, group: Alternatives, rest: _Node) -> _Node:
        node = _Node()
        by_words: dict[tuple[str, ...], _Node] = {(): rest}  # shared by equal last words
        for symbols in group:
            if not symbols:
                node.absorb(rest)
                continue
            for at in range(len(symbols) - 1, 0, -1):
                if symbols[at:] not in by_words:
                    by_words[symbols[at:]] = before = _Node()
                    before.link(symbols[at], by_words[symbols[at + 1 :]])
            node.link(symbols[0], by_words[symbols[1:]])
            for symbol in symbols:
                if symbol[0] == "{" and symbol not in (POSITIVE, NEGATIVE, *self._classes):
                    raise ValueError(f"no class of words: {symbol}")
                self._symbols[symbol] = None
        return node

    def _kind(self, symbols: tuple[str, ...]) -> int:
        kind = self._kinds.setdefault(symbols, len(self._names))
        if kind == len(self._names):
            self._names.append(symbols)
        return kind


def within_longer(matches: Iterable[tuple[int, int, object]]) -> set[tuple[int, int]]:
    """Return the spans (start, end) within a longer span, of matches in the order of ``find``."""
    inner = set()
    begin = reach = -1  # the span with the greatest end so far
    for start, end, _ in matches:
        if start == begin:  # at least as long as the span before
            if end > reach:
                inner.add((begin, reach))
                reach = end
        elif end <= reach:
            inner.add((start, end))
        else:
            begin, reach = start, end
    return inner


def _gap(rest: _Node) -> _Node:
    node = rest
    for _ in range(_MAX_GAP):
        longer = _Node()
        longer.absorb(rest)
        longer.any_word.append(node)
        node = longer
    return node


def parse(pattern: str, endings: Endings) -> list[Alternatives]:
    """Return the parts of a pattern in order, each with its alternatives as sequences of symbols.

    Raises:
        ValueError: The brackets do not match, or a word has no forms of its kind.
    """
    parts: list[Alternatives] = []
    rest = pattern
    while rest:
        before, bracket, rest = rest.partition("(")
        symbols = before.split()
        stem = symbols.pop() if bracket and before[-1:].strip() else ""
        parts.extend(_forms(symbol, endings) for symbol in symbols)
        if bracket:
            choices, rest = _choices(rest)
            sequences = [
                sequence for choice in choices for sequence in _sequences(stem + choice, endings)
            ]
            is_ending = before == "" and parts != []
            parts.append(_joined(parts.pop(), sequences) if is_ending else sequences)
        if ")" in before:
            raise ValueError(f"brackets do not match: {pattern!r}")
    return parts


def _joined(words: Alternatives, endings: Alternatives) -> Alternatives:
    """Return the alternatives of two brackets without a blank between them."""
    return [
        (*word[:-1], word[-1] + ending[0], *ending[1:]) if word and ending else word + ending
        for word in words
        for ending in endings
    ]


def _choices(text: str) -> tuple[list[str], str]:
    """Return the alternatives up to the closing bracket, and the text after it."""
    choices = [""]
    depth = 1
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if not depth:
            return choices, text[at + 1 :]
        if letter == "|" and depth == 1:
            choices.append("")
        else:
            choices[-1] += letter
    raise ValueError(f"brackets do not match: {text!r}")


def _sequences(choice: str, endings: Endings) -> Alternatives:
    if "(" not in choice and "/" not in choice:  # most are plain words
        return [tuple(choice.split())]
    sequences = itertools.product(*parse(choice, endings))
    return [tuple(itertools.chain.from_iterable(sequence)) for sequence in sequences]


def _forms(symbol: str, endings: Endings) -> Alternatives:
    word, mark, kind = symbol.partition("/")
    return [(form,) for form in endings.forms(word, kind)] if mark else [(symbol,)]
