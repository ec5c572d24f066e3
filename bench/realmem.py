"""Months of chats with an assistant (RealMem): is what an answer was made from found before it is given."""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from time import perf_counter
from typing import Any

from bench.baselines import Vectors, Words
from bench.chats import TOKENS_A_WORD, Chat, plain
from bench.conversations import named_file
from bench.scores import mean, score
from bench.server import bench_settings, connected, of_its_own
from bench.speed import percentile
from memgraph_engine import Memory
from memgraph_engine.evaluation.report import table

_MEASURES = ("R@5", "R@10", "R@20", "H@10", "all@10")
_ENGINE = "engine"
_MOST = 30  # hits: more than 20 sources, where a long turn is several notes
_LOOKED_AT = 60  # turns that a baseline ranks, so that it reaches ten sessions
_SNAPSHOT = 60  # characters by which the turn that a point was extracted from is known
_FIRST_HOUR = 9


@dataclass(frozen=True, slots=True)
class Question:
    """A turn that is asked before it is stored: `evidence` are the ids of earlier turns, `sessions` all it is from."""

    text: str
    category: str
    evidence: frozenset[str]
    sessions: frozenset[str]

    def scored(self, found: Sequence[str]) -> dict[str, float]:
        """Score ids of turns, the best first; `all@10` says whether the first ten sessions are all that is wanted."""
        first = list(dict.fromkeys(map(_session, found)))[:10]
        return {**score(found, list(self.evidence)), "all@10": 100.0 * (self.sessions <= set(first))}


Places = Mapping[tuple[str, str], str]
"""By the session and the words of a point that was extracted: the id of the turn that it is from."""
Step = Question | list[dict[str, Any]]
"""What is asked, or messages that are stored, as `Memory.add_many` takes them."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured: of each way each question's category and scores, of each context its figures, milliseconds."""

    scores: dict[str, list[tuple[str, dict[str, float]]]] = field(default_factory=lambda: defaultdict(list))
    contexts: list[dict[str, float]] = field(default_factory=list)
    taken: list[float] = field(default_factory=list)

    def ask(self, memory: Memory, user: str, question: Question) -> None:
        """Search for a question, and make its context."""
        begun = perf_counter()
        hits = memory.search(question.text, user_id=user, top_k=_MOST)
        self.taken.append(1000 * (perf_counter() - begun))
        self.count(_ENGINE, question, [source.id for hit in hits for source in hit.note.sources])
        context = memory.context(question.text, user_id=user)
        told = {source.id for entry in context.entries for source in entry.sources}
        self.contexts.append(
            {
                "told": 100 * len(told & question.evidence) / len(question.evidence),
                "tokens": len(context.text.split()) * TOKENS_A_WORD,
                "empty": float(not context.entries),
                "ended": float(context.text.count("was true until")),
            }
        )

    def count(self, way: str, question: Question, found: Sequence[str]) -> None:
        """Score what a way of searching found."""
        self.scores[way].append((question.category, question.scored(found)))

    def flat(self) -> dict[str, float]:
        """Return each figure by its name."""
        figures = {f"realmem.{name}": value for name, value in mean(self.contexts).items()}
        figures["realmem.search_p50_ms"] = percentile(sorted(self.taken), 0.5)
        for way, scores in self.scores.items():
            figures |= {f"realmem.{way}.{name}": value for name, value in mean([one for _, one in scores]).items()}
            for of in {category for category, _ in scores}:
                some = [one["R@10"] for category, one in scores if category == of]
                figures[_of(way, of)] = fmean(some)
        return {name: round(value, 2) for name, value in figures.items()}

    def page(self, model: str) -> str:
        """Return a report."""
        flat = self.flat()
        rows = [(way, *(flat[f"realmem.{way}.{name}"] for name in _MEASURES)) for way in self.scores]
        by = sorted({category for category, _ in self.scores[_ENGINE]})
        kinds = [
            (of, sum(of == one for one, _ in self.scores[_ENGINE]), *(flat[_of(way, of)] for way in self.scores))
            for of in by
        ]
        return "\n\n".join(
            [
                f"### {len(self.contexts)} questions, {model}",
                table(("", *_MEASURES), rows),
                table(("R@10", "questions", *self.scores), kinds),
                f"Contexts: {flat['realmem.tokens']:.0f} tokens, with {flat['realmem.told']:.1f} % of the evidence; "
                f"{flat['realmem.empty']:.2f} empty; "
                f"{flat['realmem.ended']:.2f} lines of each tell what was true once. "
                f"A search takes {flat['realmem.search_p50_ms']:.1f} ms (p50).",
            ]
        )


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the bench takes."""
    parser.add_argument("--file", type=Path, help="a user's file, or a folder of them (else MEMGRAPH_ENGINE_REALMEM)")
    parser.add_argument("--users", default="", metavar="NAME,…", help="those alone whose files' names begin so")
    parser.add_argument("--model", default="bge-small", help="the embedder")
    parser.add_argument("--baseline", action="store_true", help="also by vectors and BM25 of all turns alone")


def run(given: argparse.Namespace) -> tuple[dict[str, float], str]:
    """Store each user's turns in order, and ask what he asks before it is stored; return figures and a report."""
    path = named_file(given.file, "file or folder of RealMem's users", "MEMGRAPH_ENGINE_REALMEM")
    every = sorted(path.glob("*.json")) if path.is_dir() else [path]
    files = [file for file in every if file.name.startswith(tuple(given.users.split(",")))]
    if not files:
        raise SystemExit(f"{path} has no file (.json) whose name begins with {given.users!r}.")
    measured = Measured()
    with connected(bench_settings(given.model)) as memory, of_its_own(memory) as mine:
        for file in files:
            others: dict[str, Vectors | Words]
            others = {"dense": Vectors(memory.engine.embedder), "bm25": Words()} if given.baseline else {}
            _live(mine, file.stem, steps(json.loads(file.read_text("utf-8"))), others, measured)
            print(f"{file.stem}: {len(measured.taken):,} questions until now", file=sys.stderr)
    return measured.flat(), measured.page(given.model)


def _live(
    memory: Memory, user: str, lived: Iterable[Step], others: Mapping[str, Vectors | Words], measured: Measured
) -> None:
    """Store and ask in order; the others are given the same turns."""
    ids = list[str]()
    for step in lived:
        if isinstance(step, Question):
            measured.ask(memory, user, step)
            for name, way in others.items():
                measured.count(name, step, [ids[at] for at in way.best(step.text, _LOOKED_AT)])
        else:
            memory.add_many(step, user_id=user)
            ids += [turn["id"] for turn in step]
            for way in others.values():
                way.add([turn["content"] for turn in step])


def chat(path: Path) -> Chat:
    """Read a user's file as a chat of which nothing is asked."""
    sessions = [
        [_message(turn, one["session_uuid"], at, one["current_time"]) for at, turn in enumerate(one["dialogue_turns"])]
        for one in json.loads(path.read_text("utf-8"))["dialogues"]
    ]
    return Chat(path.stem, "english", "realmem", sessions, ())


def steps(given: Mapping[str, Any]) -> Iterator[Step]:
    """Yield what a user's file stores and asks, in order: no question that has no evidence in earlier sessions."""
    places = dict(_places(given["dialogues"]))
    for dialogue in given["dialogues"]:
        session, turns = dialogue["session_uuid"], dialogue["dialogue_turns"]
        waiting = list[dict[str, Any]]()
        for at, (turn, answer) in enumerate(zip(turns, [*turns[1:], {}], strict=True)):
            if turn.get("is_query"):
                question = _question(turn, answer, session, places)
                if waiting:
                    yield waiting
                    waiting = []
                if question.evidence:
                    yield question
            waiting.append(_message(turn, session, at, dialogue["current_time"]))
        if waiting:
            yield waiting


def _places(dialogues: Iterable[Mapping[str, Any]]) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield each point that was extracted, by its session and words, and the id of the turn that it is from."""
    for dialogue in dialogues:
        told = [plain(turn["content"]) for turn in dialogue["dialogue_turns"]]
        for point in dialogue.get("extracted_memory") or ():
            begin = plain(point.get("source_content_snapshot") or "")[:_SNAPSHOT]
            at = next((at for at, text in enumerate(told) if begin and text.startswith(begin)), None)
            numbered = (point.get("source_turn") or 0) - 1
            if at is None and 0 <= numbered < len(told):
                at = numbered
            if at is not None:
                yield _point(point, dialogue["session_uuid"]), _id(dialogue["session_uuid"], at)


def _question(turn: Mapping[str, Any], answer: Mapping[str, Any], session: str, places: Places) -> Question:
    """Return the question of a turn, whose evidence is what the answer says it was made from."""
    used = [one for one in answer.get("memory_used") or () if one["session_uuid"] != session]
    found = {places.get(_point(one, one["session_uuid"])) for one in used} - {None}
    return Question(
        turn["content"],
        turn.get("category_name") or "",
        frozenset(one for one in found if one),
        frozenset(one["session_uuid"] for one in used),
    )


def _message(turn: Mapping[str, Any], session: str, at: int, time: str) -> dict[str, Any]:
    hour, minute = divmod(at, 60)
    return {
        "id": _id(session, at),
        "role": "user" if turn["speaker"] == "User" else "assistant",
        "content": turn["content"] or "(no text)",
        "session": session,
        "time": f"{time.split()[0]}T{_FIRST_HOUR + hour:02d}:{minute:02d}:00",
    }


def _point(given: Mapping[str, Any], session: str) -> tuple[str, str]:
    content = given["content"]
    return session, plain(content if isinstance(content, str) else json.dumps(content, sort_keys=True))


def _id(session: str, at: int) -> str:
    return f"{session}:{at}"


def _session(id: str) -> str:
    return id.partition(":")[0]


def _of(way: str, category: str) -> str:
    return f"realmem.{way}.R@10.{category.replace(' ', '_')}"
