"""What is compared: the memory as it is, without one of its parts, as papers read it, and plain baselines."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memgraph_engine.client import Memory
from memgraph_engine.llm.roles import Roles
from memgraph_engine.resources import resource
from memgraph_engine.settings import RolesSettings, Settings

Overrides = Mapping[str, Mapping[str, object]]
"""Settings that differ, by table and name."""

MEMORY = "memory"
RAG = "rag"
BM25 = "bm25"
FULL_CONTEXT = "full-context"
BLOCKS = "blocks"
SLM = "slm"
SWEPT = (MEMORY, BLOCKS, RAG, BM25)
"""What is measured at several k (MLA-ARC, section 5.5; LightMem, table 1 and figure 4)."""

_MEMFLY = "memfly-retrieval"


def _paper(preset: str) -> Overrides:
    """Return how a paper reads, by its preset: what is stored stays as it is."""
    tables = tomllib.loads(resource("config", "presets", f"{preset}.toml").read_text("utf-8"))
    tables["recall"]["intent"] = False  # LoCoMo has one class and one kind, and its plans are asked for once for all
    return {table: tables[table] for table in ("recall", "answer", "claims") if table in tables}


def _without(paper: Overrides, **changed: object) -> Overrides:
    return {**paper, "recall": {**paper["recall"], **changed}}


def _plain(channel: str) -> Overrides:
    recall = {"ranking": "weights", "channels": (channel,), "reranker": ""}
    return {"gate": {"update": False, "discard": False, "denoise": False}, "recall": recall, "answer": {"rounds": 1}}


def _off(*channels: str) -> Mapping[str, Any]:
    return {_SWITCHED: dict.fromkeys(channels, False)}


_SWITCHED = "switched"  # not a setting: channels that are switched on or off


_OF_MEMFLY, _OF_LIGHTMEM = _paper("memfly"), _paper("lightmem-slm")

ABLATIONS: Mapping[str, Overrides] = {
    # of the construction (MemFly, table 3)
    "without-update": {"gate": {"update": False}},
    "without-denoise": {"gate": {"denoise": False}},
    "without-link": {"gate": {"link": False}},
    "without-merge": {"gate": {"merge": False}},
    # of what is made of it later (MLA-ARC, table 3), where the settings evolve memories
    "without-evolution": {"lifecycle": {"evolve": 0}},
    "without-link-and-evolution": {"gate": {"link": False}, "lifecycle": {"evolve": 0}},
    # of the retrieval
    "without-topics": {"recall": _off("topics")},
    "without-keywords": {"recall": _off("keywords")},
    "without-related": {"recall": _off("related")},
    "without-iteration": {"answer": {"rounds": 1}},
    # the paper's own retrieval (MemFly, section 3.4, table 5), and each part of it left out (table 3)
    _MEMFLY: _OF_MEMFLY,
    "memfly-without-topics": _without(_OF_MEMFLY, **_off("topics")),
    "memfly-without-keywords": _without(_OF_MEMFLY, **_off("keywords")),
    "memfly-without-related": _without(_OF_MEMFLY, **_off("related")),
    "memfly-without-iteration": {**_without(_OF_MEMFLY, rounds=1), "answer": {"rounds": 1}},
    # the turns that hold the question's words, as plain as RAG by vectors is (LightMem, table 1)
    BM25: _plain("lexical_raw"),
    # the blocks (LightMem, section 3.5): what is read is found by them, in one round, or they are one more pathway
    BLOCKS: {"answer": {"rounds": 1}},
    "with-blocks": {"recall": {_SWITCHED: {"blocks": True}}},
    # the controller, the selector and the claims (LightMem with small models, figure 3), and each of them left out
    **dict.fromkeys((SLM, "without-selector", "without-queries", "without-claims"), _OF_LIGHTMEM),
    # no paper has these
    "without-pathways": {"recall": _off("topics", "keywords", "related", "blocks")},
    "without-time": {"recall": _off("time")},
    "without-context": {"recall": _off("dense_context", "lexical_context")},
    "without-words": {"recall": _off("lexical_raw", "lexical_context")},
    "without-surroundings": {"recall": _off("neighbours", "session")},
}
"""What differs is a setting: a part that is left out, or another way. BLOCKS is read by other calls as well.

Those of LightMem with small models differ also by the roles that they ask.
"""

_AGAINST = {
    **{name: _MEMFLY for name in ABLATIONS if name.startswith("memfly-without-")},
    **dict.fromkeys(("without-selector", "without-queries", "without-claims"), SLM),
}
_OF_SLM = {SLM, *(name for name, other in _AGAINST.items() if other == SLM)}
_UNASKED = {"without-queries": frozenset({"planning", "sufficiency"})}
_MOST_PROPOSED = 1000  # the largest `recall.pool`
_NEED_A_MODEL = {  # what these leave out is only done for one
    "without-denoise",
    "without-iteration",
    "without-selector",
    "without-queries",
    "without-claims",  # what is found is the same: claims are told in the contexts of answers
}
_READ_ONLY = {"recall", "answer", "claims"}  # tables that change nothing about what is stored


@dataclass(frozen=True, slots=True)
class Variant:
    """One column of a comparison; `models` is False for what is built without any.

    `unasked` are roles that it reads without, and `against` is the variant that it is compared with.
    """

    name: str
    overrides: Overrides
    models: bool = True
    unasked: frozenset[str] = frozenset()
    against: str = MEMORY

    @property
    def memory(self) -> str:
        """The variant whose memory it reads: its own, or the default one.

        >>> Variant("without-link", ABLATIONS["without-link"]).memory, Variant("x", ABLATIONS["without-topics"]).memory
        ('without-link', 'memory')
        """
        if self.name == BM25:
            return RAG
        return MEMORY if self.models and set(self.overrides) <= _READ_ONLY else self.name

    def reads_blocks(self, settings: Settings) -> bool:
        """Tell whether the blocks of the memory that it reads have to be built.

        >>> settings, every = Settings.load(), variants(tuple(ABLATIONS), model=True, full_context=True, k=20)
        >>> [one.name for one in every if one.reads_blocks(settings)]
        ['blocks', 'with-blocks']
        """
        return self.name == BLOCKS or self.settings(settings).recall.has("blocks")

    def settings(self, settings: Settings) -> Settings:
        """Return the settings with what differs; raises ValidationError for a name that is none."""
        changed = {}
        for table, values in self.overrides.items():
            section, given = getattr(settings, table), dict(values)
            switched: Any = given.pop(_SWITCHED, None)
            changed[table] = type(section).model_validate({**section.model_dump(), **given})
            if switched:
                changed[table] = changed[table].switched(**switched)
        return settings.model_copy(update=changed)

    def of(self, memory: Memory, tenant: str) -> Memory:
        """Return the variant of a memory, for a tenant of its own."""
        settings = self.settings(memory.engine.settings).model_copy(update={"tenant": tenant})
        roles = memory.engine.roles
        if not self.models:
            settings = without_models(settings)
            roles = Roles(settings.llm)
        elif self.unasked:
            roles = roles.without(self.unasked)
        named = settings.recall.reranker and not settings.recall.selects
        reranker = memory.engine.reranker if named else None
        return Memory(replace(memory.engine, settings=settings, roles=roles, reranker=reranker))


def without_models(settings: Settings) -> Settings:
    """Return the settings with no chat model in any role."""
    llm = settings.llm.model_copy(update={"model": "", "fallbacks": (), "roles": RolesSettings()})
    return settings.model_copy(update={"llm": llm})


def variants(ablations: Sequence[str], *, model: bool, full_context: bool, k: int) -> list[Variant]:
    """Return what is compared, in order; without a model only what retrieves, and what can differ.

    What is a part of a paper's way brings that along, to be compared with. `k` is the number of notes that are kept.
    """
    chosen = {name for name in ablations if model or name not in _NEED_A_MODEL}
    chosen |= {_AGAINST[name] for name in chosen & _AGAINST.keys()}
    found = [Variant(MEMORY, {}), Variant(RAG, _plain("dense_raw"), models=False)]
    found += [Variant(FULL_CONTEXT, {}, models=False)] if model and full_context else []
    return found + [_ablation(name, k, model=model) for name in ABLATIONS if name in chosen]


def _ablation(name: str, k: int, *, model: bool) -> Variant:
    overrides, against = ABLATIONS[name], _AGAINST.get(name, MEMORY)
    if name not in _OF_SLM:
        return Variant(name, overrides, models=name != BM25, against=against)
    recall = {**overrides["recall"], "pool": min(2 * k, _MOST_PROPOSED)}
    changed = {"recall": recall}
    if name == "without-selector":
        recall["reranker"] = ""
    elif name == "without-claims":
        changed["claims"] = {"share": 0.0}
    elif not model:
        del recall["reranker"]  # the settings' own, if there is one
    return Variant(
        name,
        {**overrides, **changed},
        unasked=_UNASKED.get(name, frozenset({"sufficiency"})),
        against=against,
    )
