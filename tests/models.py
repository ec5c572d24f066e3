"""What chat models are made to say in tests, and memories that ask them."""

import json
from collections import deque
from contextlib import contextmanager

from memgraph_engine import Memory, Settings
from memgraph_engine.cost import Cost
from memgraph_engine.llm.roles import Roles
from memgraph_engine.model.ports import Reply
from memgraph_engine.settings import RolesSettings
from memgraph_engine.testing import ScriptedChat

ROLES = tuple(RolesSettings.model_fields)


def turn(number=1, context="Ana moved to Lisbon.", **given):
    return {"turn": number, "keep": True, "context": context, "keywords": [], "event_from": None, **given}


def small_talk(number=1):
    return {"turn": number, "keep": False, "context": ""}


def extracted(*turns):
    """The extractor's answer: a context for each turn, or a whole entry."""
    return {"turns": [turn(at, one) if isinstance(one, str) else one for at, one in enumerate(turns, 1)]}


def judged(relation, redundancy=0.9, complementarity=0.9, note=1, candidate=1):
    """The gate's answer about one pair."""
    scores = {"redundancy": redundancy, "complementarity": complementarity}
    pair = {"note": note, "candidate": candidate, **scores, "relation": relation, "evidence": f"It is {relation}."}
    return {"pairs": [pair]}


def written(context):
    """The writer's answer about one merge."""
    return {"merges": [{"merge": 1, "context": context}]}


def said(answer):
    return answer if isinstance(answer, str) else json.dumps(answer)


def roles_of(asked, only, **llm):
    """The roles `only`, which ask this model (None: the one that `llm` names); all others have none."""
    none = {role: {"model": ""} for role in ROLES if role not in only}
    return Roles(Settings.load(llm={"roles": none, "retries": 0, **llm}).llm, llm=asked)


@contextmanager
def memory_with(tenant, embedder, answers=(), *, only=ROLES, gate=None, llm=None, **given):
    """A memory whose models (those of the roles `only`) say what is in the queue (or are the one given), and they."""
    none = {role: {"model": ""} for role in ROLES if role not in only}
    chat = answers if hasattr(answers, "chat") else ScriptedChat(answers)
    asked = {"roles": none, "retries": 0, **(llm or {})}
    settings = Settings.load(tenant=tenant, llm=asked, gate=gate or {}, **given)
    with Memory.connect(embedder=embedder, settings=settings, llm=chat) as memory:
        yield memory, chat


class Teller:
    """A model that describes blocks in the words of their notes, unless it is to give other answers first.

    An answer is what becomes JSON, an exception to raise, or a function of the answer that it would give. It makes a
    block of each two notes of a unit, and keeps all facts of two parts. `asked` are the notes of each block that it was
    asked about, or made, or the summaries of its parts; `requests` are the requests.
    """

    name = "teller"

    def __init__(self, *first):
        self._first = deque(first)
        self.asked: list[list[str]] = []
        self.requests: list[str] = []

    def chat(self, messages, **_):
        request = messages[1]["content"]
        given = [json.loads(one) for one in request.splitlines() if one.startswith("{")]
        if len(messages) == 2:  # else it is shown the error of its answer
            self.asked += [told for one in given if "block" in one or "unit" in one for told in _told(one)]
            self.requests.append(request)
        first = self._first.popleft() if self._first else None
        if isinstance(first, Exception):
            raise first
        parts = [one for one in given if "unit" in one or "parts" in one]
        notes = [[note["text"] for note in one["notes"]] for one in given if "block" in one and "notes" in one]
        told = authored([one for one in given if "meaning" in one], parts) if parts else described(*notes)
        answer = first(told) if callable(first) else first or told
        return Reply(said(answer), Cost(1, 100, 20, 0.0))


def _told(one):
    """What a block is told by, or each block of a unit."""
    if "parts" in one:
        return [[field["summary"] for field in (part["fields"] for part in one["parts"])]]
    texts = [note["text"] for note in one["notes"]]
    return [texts[at : at + 2] for at in range(0, len(texts), 2)] if "unit" in one else [texts]


def authored(shape, asked):
    """The blocks of units, one of each two notes, or of pairs of blocks, all facts kept; by the fields of a schema."""
    facts, answers = any(one["type"] == "salient" for one in shape), []
    for at, one in enumerate(asked, 1):
        if "parts" in one:
            shown = [fact for part in one["parts"] for fact in part["salient"]]
            salient = [{"text": fact["text"], "salient": [fact["fact"]]} for fact in shown]
            answers.append({"block": at, "fields": _fields(_told(one)[0], shape), "salient": salient})
            continue
        blocks = []
        for first in range(0, len(one["notes"]), 2):
            some = one["notes"][first : first + 2]
            salient = [
                {"text": note["text"], "event_time": "2021-05", "notes": [note["note"]]} for note in some if facts
            ]
            texts = [note["text"] for note in some]
            numbers = [note["note"] for note in some]
            blocks.append({"notes": numbers, "fields": _fields(texts, shape), "salient": salient})
        answers.append({"unit": at, "blocks": blocks})
    return {"blocks" if "parts" in asked[0] else "units": answers}


def described(*blocks):
    """The description of blocks, each by its notes, by the schema `personal`."""
    return {"blocks": [{"block": at, "fields": _fields(notes)} for at, notes in enumerate(blocks, 1)]}


LISTS = ("subjects", "scope", "topics", "keywords", "example_questions")
PERSONAL = [{"name": "summary", "type": "text"}, {"name": "applicability", "type": "text"}] + [
    {"name": name, "type": "list"} for name in LISTS
]


def _fields(notes, shape=PERSONAL):
    told = f"Written of {' '.join(' '.join(notes).split())}"[:400].replace("<", "(")
    texts = {"summary": told}
    return [
        {"name": one["name"], "text": texts.get(one["name"], "Whatever is asked."), "items": []}
        if one["type"] == "text"
        else {"name": one["name"], "text": "", "items": [f"{one['name']} by a model"]}
        for one in shape
        if one["type"] != "salient"
    ]


class Abstracter:
    """A model that claims what it is told to of notes that hold some words, unless it is to give other answers first.

    `says` has by these words the relation, subject, object and text of a claim, and perhaps the text of a known one
    that says the same. An answer is as that of a `Teller`. `asked` are the notes that it was asked about.
    """

    name = "abstracter"

    def __init__(self, says, *first):
        self.says = says
        self.first = deque(first)
        self.asked: list[str] = []
        self.requests: list[str] = []

    def chat(self, messages, **_):
        request = messages[1]["content"]
        given = [json.loads(one) for one in request.splitlines() if one.startswith("{")]
        if len(messages) == 2:  # else it is shown the error of its answer
            self.asked += [one["text"] for one in given if "note" in one]
            self.requests.append(request)
        first = self.first.popleft() if self.first else None
        if isinstance(first, Exception):
            raise first
        told = self.answer(given)
        answer = first(told) if callable(first) else first or told
        return Reply(said(answer), Cost(1, 100, 20, 0.0))

    def answer(self, given):
        """The claims about what a request has."""
        known = {one["text"]: one["claim"] for one in given if "claim" in one}
        return {
            "claims": [
                {
                    **dict(zip(("relation", "subject", "object", "text"), claim, strict=False)),
                    "notes": [one["note"]],
                    "anchor": known.get(claim[4], 0) if len(claim) > 4 else 0,
                }
                for one in given
                if "note" in one
                for words, claim in self.says.items()
                if words in one["text"]
            ]
        }
