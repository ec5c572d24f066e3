"""What chat models are made to say in tests, and memories that ask them."""

import json
from contextlib import contextmanager

from memgraph_engine import Memory, Settings
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


@contextmanager
def memory_with(tenant, embedder, answers=(), *, only=ROLES, gate=None, llm=None, **given):
    """A memory whose models (those of the roles `only`) say what is in the queue (or are the one given), and they."""
    none = {role: {"model": ""} for role in ROLES if role not in only}
    chat = answers if hasattr(answers, "chat") else ScriptedChat(answers)
    settings = Settings.load(llm={"roles": none, "retries": 0, **(llm or {})}, gate=gate or {}, **given)
    with Memory.connect(tenant=tenant, embedder=embedder, settings=settings, llm=chat) as memory:
        yield memory, chat
