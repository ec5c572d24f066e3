"""Everyday chats with an assistant, and what a memory must hold of them when it is asked later."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

from bench.conversations import named_file

_MARKS = (
    "former",
    "until",
    "superseded",
    "no longer",
    "replaced",
    "was true",
    "older than",
    "outdated",
    "hasta",
    "ya no",
    "antes",
)
_NEWER = re.compile(r"(?:(?:newer|later) than|puts right|replaces) \[(\d+)\]")
_NUMBER = re.compile(r"\[(\d+)\]")
_DISPUTES = ("disputed", "contradict")
TOKENS_A_WORD = 1.3
EVERYDAY = Path(__file__).with_name("everyday.jsonl")
"""Chats to be fitted on, whichever others are measured: changes in many words, and what only looks like one."""
PREFERENCES = Path(__file__).with_name("preferences.jsonl")
"""Preferences that are told once, and later requests that share no word with them."""
LONG = Path(__file__).with_name("long.jsonl")
"""Chats of a year, in which much is similar and not the same: they tell of each turn which others it replaces."""
PLAIN = Path(__file__).with_name("plain.jsonl")
"""Likewise: short chats about changes, slips that are put right at once, and what stays true beside another thing."""
SMALL = Path(__file__).with_name("small.jsonl")
"""Likewise: what is told within months in two to eight messages. Much is alike, and little changes."""
_AT_BEGINNING, _LONGER = 0.6, 0.4
_LEAST = 4  # words of a turn that counts as repeated; a shorter one may stand in another by chance


@dataclass(frozen=True, slots=True)
class Ask:
    """A question asked after a chat, and strings that its context must hold or must not; "|" parts alternatives.

    `current` is true now, `former` was true once and stands only where that is said, `foreign` never was (a suggestion,
    a hypothetical, or what was not yet true at `as_of`). Where the chat says `nothing` of it, the context is empty or
    not sure.
    What is true now is `doubted` where it stands only in lines that say that they were true once.
    """

    question: str
    as_of: str | None
    current: Sequence[str]
    former: Sequence[str]
    foreign: Sequence[str]
    nothing: bool

    def seen(self, lines: Sequence[str], small: Sequence[str], first: str, *, sure: bool = True) -> dict[str, float]:
        """Return what can be told of a context's `lines`, those of a `small` one, and the `first` hit's text.

        A figure that the question has no string for is left out.
        """
        lines, told = [plain(line) for line in lines], plain("\n".join(lines))
        unmarked = [line for line, once in zip(lines, marked(lines), strict=True) if not once]
        figures = {"disputed": float(any(mark in told for mark in _DISPUTES))}
        if self.current:
            figures["current"] = float(all(holds(told, one) for one in self.current))
            figures["current@300"] = float(all(holds(plain("\n".join(small)), one) for one in self.current))
            plainly = plain("\n".join(unmarked))
            figures["doubted"] = float(any(holds(told, one) and not holds(plainly, one) for one in self.current))
            figures["first"] = float(holds(plain(first), self.current[0]))
        if self.former:
            figures["former"] = float(not any(holds(line, one) for line in unmarked for one in self.former))
        if self.foreign:
            figures["foreign"] = float(not any(holds(told, one) for one in self.foreign))
        if self.nothing:
            figures["nothing"] = float(not (lines and sure))
        return figures


@dataclass(frozen=True, slots=True)
class Chat:
    """A chat: its sessions, each a list of messages as `Memory.add` takes them, and what is asked afterwards.

    `replaced` are the turns of which something was no longer true at its end, as `plain` has them; None if that is not
    known.
    """

    id: str
    language: str
    kind: str
    sessions: Sequence[Sequence[dict[str, Any]]]
    asks: Sequence[Ask]
    replaced: frozenset[str] | None = None

    def marked(self, lines: Iterable[str]) -> dict[str, float]:
        """Return the share of the lines marked as former that tell a turn of which something was `replaced`.

        Nothing where no line is marked, or the chat does not tell what was replaced.
        """
        lines = [plain(line) for line in lines]
        once = [line for line, former in zip(lines, marked(lines), strict=True) if former]
        if self.replaced is None or not once:
            return {}
        return {"marked": fmean(any(turn in line for turn in self.replaced) for line in once)}

    def repeated(self, lines: Iterable[str]) -> float:
        """Return the share of the turns told by a context that it tells more than once."""
        told = plain("\n".join(lines))
        turns = {plain(turn["content"]) for turns in self.sessions for turn in turns}
        counts = [told.count(turn) for turn in turns if len(turn.split()) >= _LEAST and turn in told]
        return sum(count - 1 for count in counts) / sum(counts) if counts else 0.0


@dataclass(frozen=True, slots=True)
class Exchange:
    """A user's request and an assistant's long answer, which tell nothing of anybody."""

    language: str
    user: str
    assistant: str


def exchanges() -> list[Exchange]:
    """Read the exchanges that chats are made longer with."""
    lines = Path(__file__).with_name("exchanges.jsonl").read_text("utf-8").splitlines()
    return [Exchange(**json.loads(line)) for line in lines]


def turns(chat: Chat, role: str) -> list[str]:
    """Return what somebody said in a chat, turn by turn."""
    return [turn["content"] for session in chat.sessions for turn in session if turn["role"] == role]


def daily_file(given: Path | None) -> Path:
    """Return the file given, or the one that MEMGRAPH_ENGINE_DAILY names."""
    return named_file(given, "file of everyday chats", "MEMGRAPH_ENGINE_DAILY")


def chats(path: Path, only: str = "") -> list[Chat]:
    """Read a file of chats, JSON, one a line: those whose id or kind begins so."""
    every = [_chat(json.loads(line)) for line in path.read_text("utf-8").splitlines() if line.strip()]
    return [one for one in every if one.id.startswith(only) or one.kind.startswith(only)]


def woven(chat: Chat, exchanges: Sequence[Exchange], count: int) -> Chat:
    """Return a chat in whose sessions so many other exchanges of its language stand, most of them at its beginning.

    An assistant's answers go on, two in five of them, with the answer to something else, so that a user's turns stand
    behind long ones.
    """
    draw = Random(chat.id)
    known = [one for one in exchanges if one.language == chat.language]
    some = draw.sample(known, k=min(count, len(known)))
    users = [(s, t) for s, turns in enumerate(chat.sessions) for t, turn in enumerate(turns) if turn["role"] == "user"]
    places = [draw.choice(users) for _ in some]
    before: dict[tuple[int, int], list[Exchange]] = defaultdict(list)
    for (session, place), one in zip(places, some, strict=True):
        before[session, 0 if draw.random() < _AT_BEGINNING else place].append(one)
    sessions: list[list[dict[str, Any]]] = []
    for s, turns in enumerate(chat.sessions):
        new: list[dict[str, Any]] = []
        for t, turn in enumerate(turns):
            for other in before[s, t]:
                new += [turn | {"role": "user", "content": other.user}]
                new += [turn | {"role": "assistant", "content": other.assistant}]
            longer = turn["role"] == "assistant" and draw.random() < _LONGER
            more = f"\n\n{draw.choice(some).assistant}" if longer else ""
            new.append(turn | {"content": turn["content"] + more})
        sessions.append(new)
    return replace(chat, sessions=sessions)


def _chat(given: dict[str, Any]) -> Chat:
    gone = [place for turn in given["turns"] for place in turn.pop("replaces", ())]
    replaced = frozenset(plain(given["turns"][place]["content"]) for place in gone) if gone else None
    sessions = [list(turns) for _, turns in groupby(given["turns"], key=itemgetter("session"))]
    asks = [
        Ask(one["question"], one.get("as_of"), one["current"], one["former"], one["foreign"], one["nothing"])
        for one in given["asks"]
    ]
    return Chat(given["id"], given["language"], given["kind"], sessions, asks, replaced)


def plain(text: str) -> str:
    """Return a text without case, with single blanks."""
    return " ".join(text.casefold().split())


def marked(lines: Sequence[str]) -> list[bool]:
    """Tell of each plain line of a context whether it says that it was true once, or another says so of its number."""
    older = {number for line in lines for number in _NEWER.findall(line)}
    numbers = (_NUMBER.match(line) for line in lines)
    return [
        bool(number and number[1] in older) or any(f" {mark}" in f" {_bare(line)}" for mark in _MARKS)
        for number, line in zip(numbers, lines, strict=True)
    ]


def _bare(line: str) -> str:
    """Return a plain text with a blank for each sign, so that a word begins behind a blank."""
    return "".join(one if one.isalnum() else " " for one in line)


def holds(text: str, wanted: str) -> bool:
    """Tell whether a plain text has one of some strings, with "|" between."""
    return any(plain(one) in text for one in wanted.split("|"))
