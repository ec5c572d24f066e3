"""What is compared: the memory as it is, without one of its parts, and plain baselines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from memgraph_engine.client import Memory
from memgraph_engine.llm import Roles
from memgraph_engine.settings import RolesSettings, Settings

Overrides = Mapping[str, Mapping[str, object]]
"""Settings that differ, by table and name."""

MEMORY = "memory"
RAG = "rag"
FULL_CONTEXT = "full-context"
BLOCKS = "blocks"

ABLATIONS: Mapping[str, Overrides] = {
    # of the construction (MemFly, table 3)
    "without-update": {"gate": {"update": False}},
    "without-denoise": {"gate": {"denoise": False}},
    "without-link": {"gate": {"link": False}},
    "without-merge": {"gate": {"merge": False}},
    # of the retrieval
    "without-topics": {"recall": {"topics": 0.0}},
    "without-keywords": {"recall": {"keywords": 0.0}},
    "without-related": {"recall": {"related": 0.0}},
    "without-iteration": {"answer": {"rounds": 1}},
    # the paper's own retrieval (MemFly, section 3.4.1, table 5): the three pathways alone, fused by their ranks
    "memfly-retrieval": {
        "recall": {
            "keyword_anchors": 10,
            "topic_anchors": 3,
            "fusion": "rrf",
            "expansion": "anchors",
            "lexical_raw": 0.0,
            "lexical_context": 0.0,
            "dense_raw": 0.0,
            "dense_context": 0.0,
            "time": 0.0,
            "blocks": 0.0,
        }
    },
    # the blocks (LightMem, section 3.5): what is read is found by them, in one round, or they are one more pathway
    BLOCKS: {"answer": {"rounds": 1}},
    "with-blocks": {"recall": {"blocks": 0.05}},
    # no paper has these
    "without-pathways": {"recall": {"topics": 0.0, "keywords": 0.0, "related": 0.0, "blocks": 0.0}},
    "without-time": {"recall": {"time": 0.0}},
    "without-context": {"recall": {"dense_context": 0.0, "lexical_context": 0.0}},
    "without-words": {"recall": {"lexical_raw": 0.0, "lexical_context": 0.0}},
    "without-surroundings": {"recall": {"neighbour_1": 0.0, "neighbour_2": 0.0, "session": 0.0}},
}
"""What differs is a setting: a part that is left out, or another way. BLOCKS is read by other calls as well."""

_NEED_A_MODEL = {"without-denoise", "without-iteration"}  # what these leave out is only done for one
_NOTHING_BUT_DENSE = {
    "ranking": "weights",
    "lexical_raw": 0.0,
    "lexical_context": 0.0,
    "dense_context": 0.0,
    "dense_raw": 1.0,
    "neighbour_1": 0.0,
    "neighbour_2": 0.0,
    "session": 0.0,
    "keywords": 0.0,
    "topics": 0.0,
    "related": 0.0,
    "blocks": 0.0,
    "time": 0.0,
    "reranker": "",
}
_PLAIN: Overrides = {
    "gate": {"update": False, "discard": False, "denoise": False},
    "recall": _NOTHING_BUT_DENSE,
    "answer": {"rounds": 1},
}
_READ_ONLY = {"recall", "answer"}  # tables that change nothing about what is stored


@dataclass(frozen=True, slots=True)
class Variant:
    """One column of a comparison; `models` is False for what is built without any."""

    name: str
    overrides: Overrides
    models: bool = True

    @property
    def memory(self) -> str:
        """The variant whose memory it reads: its own, or the default one.

        >>> Variant("without-link", ABLATIONS["without-link"]).memory, Variant("x", {"recall": {"topics": 0.0}}).memory
        ('without-link', 'memory')
        """
        return MEMORY if self.models and set(self.overrides) <= _READ_ONLY else self.name

    def reads_blocks(self, settings: Settings) -> bool:
        """Tell whether the blocks of the memory that it reads have to be built.

        >>> settings, every = Settings.load(), variants(tuple(ABLATIONS), model=True, full_context=True)
        >>> [one.name for one in every if one.reads_blocks(settings)]
        ['blocks', 'with-blocks']
        """
        return self.name == BLOCKS or self.settings(settings).recall.blocks > 0

    def settings(self, settings: Settings) -> Settings:
        """Return the settings with what differs; raises ValidationError for a name that is none."""
        changed = {}
        for table, values in self.overrides.items():
            section = getattr(settings, table)
            changed[table] = type(section).model_validate({**section.model_dump(), **values})
        return settings.model_copy(update=changed)

    def of(self, memory: Memory, tenant: str) -> Memory:
        """Return the variant of a memory, for a tenant of its own."""
        settings = self.settings(memory.engine.settings).model_copy(update={"tenant": tenant})
        roles = memory.engine.roles
        if not self.models:
            settings = without_models(settings)
            roles = Roles(settings.llm)
        reranker = memory.engine.reranker if settings.recall.reranker else None
        return Memory(replace(memory.engine, settings=settings, roles=roles, reranker=reranker))


def without_models(settings: Settings) -> Settings:
    """Return the settings with no chat model in any role."""
    llm = settings.llm.model_copy(update={"model": "", "fallbacks": (), "roles": RolesSettings()})
    return settings.model_copy(update={"llm": llm})


def variants(ablations: Sequence[str], *, model: bool, full_context: bool) -> list[Variant]:
    """Return what is compared, in order; without a model only what retrieves, and what can differ."""
    chosen = [name for name in ABLATIONS if name in ablations and (model or name not in _NEED_A_MODEL)]
    found = [Variant(MEMORY, {}), Variant(RAG, _PLAIN, models=False)]
    found += [Variant(FULL_CONTEXT, {}, models=False)] if model and full_context else []
    return found + [Variant(name, ABLATIONS[name]) for name in chosen]
