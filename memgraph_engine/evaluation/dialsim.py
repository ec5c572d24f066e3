"""Read DialSim's sessions and questions (Kim et al. 2024), and tell whether an answer picks the right option.

Its files are pickles of plain values; what would make anything else of one is refused, so that reading runs no code.
"""

import pickle
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Never

from memgraph_engine.errors import InvalidInput

AGENTS: Mapping[str, str] = {"friends": "Ross", "bigbang": "Sheldon", "theoffice": "Michael"}
"""Whom an agent plays in each show, by the beginning of its file's name."""
OPTIONS = ("(A)", "(B)", "(C)", "(D)", "(E)")
_HARD = 0.7  # share of questions on the graph of events, where a session has both (its `tkg_ratio`)
_CREDITS = ("Teleplay: ", "Story: ")


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a session: its wording by who asks it, or by `default`, five options, and which of them is right.

    It is `hard` where it was made of the graph of events, else it is a fan's; `kind` is its type, as the file names it.
    """

    wordings: Mapping[str, str]
    options: tuple[str, ...]
    answer: str
    kind: str
    hard: bool

    def asked_by(self, speaker: str) -> str:
        """Return what somebody asks, with its options; '' for one who does not ask it."""
        text = self.wordings.get(speaker, self.wordings.get("default", ""))
        return "\n".join([f"{speaker}: {text}", *map("\t{} {}".format, OPTIONS, self.options)]) if text else ""

    def right(self, answer: str) -> bool:
        """Tell whether an answer names the right option, and no other one.

        >>> question = Question({"default": "Who?"}, ("Ann", "Bo", "Cy", "Di", "I don't know."), "Bo", "past", True)
        >>> question.right("(B) Bo"), question.right("(A) or (B)"), question.right("Bo")
        (True, False, False)
        """
        own = OPTIONS[[one.casefold() for one in self.options].index(self.answer.casefold())]
        named = [one for one in OPTIONS if one in answer or one.casefold() in answer]
        return named == [own]


@dataclass(frozen=True, slots=True)
class Session:
    """One session of a show: its turns as messages of the public API, and the questions that may be asked in it."""

    id: str
    date: datetime
    turns: Sequence[dict[str, Any]]
    questions: Sequence[Question]

    def chosen(self, seed: int) -> Question | None:
        """Return the question that a run asks: a random type of seven hard ones in ten, and a random one of these."""
        given = random.Random(f"{seed} {self.id}")  # noqa: S311 - what is asked, no secret
        hard = given.random() < _HARD
        some = [one for one in self.questions if one.hard == hard] or list(self.questions)
        kinds = sorted({one.kind for one in some})
        kind = given.choice(kinds) if kinds else ""
        return given.choice([one for one in some if one.kind == kind]) if kinds else None


def sessions(path: Path) -> Iterator[Session]:
    """Yield the sessions of a file, such as friends_dialsim.pickle, in order; InvalidInput for one that is none."""
    try:
        with path.open("rb") as file:
            episodes = _Plain(file).load()
    except (OSError, ValueError, EOFError, IndexError, KeyError, AttributeError, pickle.UnpicklingError) as error:
        raise InvalidInput(f"{path} can't be read as a DialSim file: {error}.") from error
    if not isinstance(episodes, dict) or not episodes:
        raise InvalidInput(f"{path} is no DialSim file: that is a dict of episodes, each a dict of sessions.")
    for episode, own in episodes.items():
        try:
            yield from (_session(f"{episode}:{number}", one) for number, one in own.items())
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InvalidInput(f"Episode {episode!r} of {path} is not of DialSim's form: {error!r}.") from error


class _Plain(pickle.Unpickler):
    """Reads texts, numbers, lists and dicts, and nothing that names a class or a function."""

    def find_class(self, module: str, name: str) -> Never:
        raise pickle.UnpicklingError(f"it names {module}.{name}, and only plain values are read")


def _session(id: str, given: Mapping[str, Any]) -> Session:
    date = datetime.strptime(given["date"], "%B %d, %Y").replace(tzinfo=UTC)
    said = list(_said(given["script"]))
    turns = [
        {"id": f"{id}:{place}", "session": id, "speaker": who, "text": text, "time": date}
        for place, (who, text) in enumerate(said, 1)
    ]
    return Session(id, date, turns, [*_questions(given, hard=True), *_questions(given, hard=False)])


def _said(script: str) -> Iterator[tuple[str, str]]:
    """Yield who says what; a line that names nobody, or a stage direction, goes on with the one before."""
    said: list[tuple[str, str]] = []
    for line in map(str.strip, script.split("\n")):
        who, colon, text = line.partition(":")
        if line and not any(one in line for one in _CREDITS):
            if colon and not line.startswith(("[", "(")):
                said.append((who.strip(), text.strip()))
            elif said:
                said[-1] = said[-1][0], f"{said[-1][1]}\n{line}"
    return (one for one in said if one[1])


def _questions(given: Mapping[str, Any], *, hard: bool) -> Iterator[Question]:
    for kind, some in (given.get("hard_q" if hard else "easy_q") or {}).items():
        for one in some.values() if isinstance(some, dict) else some:
            options = tuple(map(str, one["options"]))
            answer = str(one["answer"])
            if len(options) != len(OPTIONS) or answer.casefold() not in map(str.casefold, options):
                continue  # as its simulator has it, such a question is not asked
            yield Question(dict(one["questions"]), options, answer, kind, hard)
