"""How far MemFly's retrieval depends on its thresholds: each moved by a fifth (appendix C), on one conversation."""

from dataclasses import replace

from bench.scores import mean, score
from bench.server import bench_settings, connected, of_its_own
from memgraph_engine import Memory, Settings
from memgraph_engine.evaluation.locomo import Conversation
from memgraph_engine.evaluation.report import table
from memgraph_engine.evaluation.run import after

MEASURES = ("R@10", "R@20", "H@10", "nDCG@10")
_SHARES = (0.8, 1.2)
_GATE = ("merge_threshold", "link_threshold")
_RECALL = ("topic_anchors", "keyword_anchors")
# Not moved: K_final, which only cuts what is found off, and I_max, whose fifth is no whole round.


def measure(model: str, conversation: Conversation) -> tuple[dict[str, float], str]:
    """Measure the preset `memfly` without a chat model as it is, and with each threshold moved."""
    paper = Settings.paper("memfly")
    base = bench_settings(model).model_copy(update={"gate": paper.gate, "recall": paper.recall})
    rows = list[tuple[str, dict[str, float]]]()
    with connected(base) as memory:
        for name, gate in [("as in table 5", {}), *_moved(paper.gate, _GATE)]:
            with of_its_own(_with(memory, gate=paper.gate.model_copy(update=gate))) as mine:
                mine.add_many(conversation.turns, user_id=conversation.id)
                mine.rebuild_topics(user_id=conversation.id)
                rows.append((name, _asked(mine, conversation)))
                for of, recall in _moved(paper.recall, _RECALL) if not gate else ():
                    other = _with(mine, recall=paper.recall.model_copy(update=recall))
                    rows.append((of, _asked(other, conversation)))
    figures = {f"{name}.{one}": value for name, some in rows for one, value in some.items()}
    shown = table(("thresholds", *MEASURES), [(name, *(some[one] for one in MEASURES)) for name, some in rows])
    head = f"### memfly, {model}, {conversation.id}: {len(conversation.questions)} questions"
    return figures, f"{head}\n\n{shown}"


def _moved(settings: object, names: tuple[str, ...]) -> list[tuple[str, dict[str, float]]]:
    """Return each setting with its value moved down and up, a count to the next whole number."""
    found = []
    for name in names:
        value = getattr(settings, name)
        for share in _SHARES:
            moved = round(value * share, 2)
            if isinstance(value, int):
                moved = round(moved) if round(moved) != value else value + (1 if share > 1 else -1)
            found.append((f"{name} {moved}", {name: moved}))
    return found


def _with(memory: Memory, **tables: object) -> Memory:
    settings = memory.engine.settings.model_copy(update=tables)
    return Memory(replace(memory.engine, settings=settings))


def _asked(memory: Memory, conversation: Conversation) -> dict[str, float]:
    asked = after(conversation, memory)
    found = (
        (asked.search(question.text, user_id=conversation.id, top_k=20), question)
        for question in conversation.questions
    )
    return mean([score([source.id for hit in hits for source in hit.sources], of.evidence) for hits, of in found])
