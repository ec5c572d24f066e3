"""A second opinion: asked before a note is merged or replaced, and about nothing else."""

from dataclasses import replace

import pytest

from memgraph_engine import Memory, Settings
from memgraph_engine.cost import Cost
from memgraph_engine.errors import ModelUnavailable, SettingsError
from memgraph_engine.judging.choose import judge_named
from memgraph_engine.model.ports import Judge, Judgement

ADOPTED = "I adopted a grey cat from the shelter in Porto."
RESTATED = "From the shelter in Porto I adopted a grey cat."


class Scripted:
    """Says the same of every pair, and keeps what it was asked."""

    name = "scripted"

    def __init__(self, *answers):
        self.answers, self.asked = answers, []

    def judge(self, pairs):
        self.asked += pairs
        return [self.answers[0]] * len(pairs) if self.answers else []


class Down(Scripted):
    def judge(self, pairs):
        super().judge(pairs)
        raise ModelUnavailable("The judge is down.")


def with_judge(memory, judge):
    return Memory(replace(memory.engine, judge=judge))


def told(memory, *texts):
    return [memory.add(text, user_id="ana", speaker="Ana", id=str(n)).entries[0] for n, text in enumerate(texts)]


def test_a_scripted_judge_is_one():
    assert isinstance(Scripted(), Judge)


@pytest.mark.parametrize(
    ("relation", "kind", "tie"),
    [("same", "merge", None), ("different", "link", "link"), ("contradictory", "link", "conflict")],
)
def test_a_merge_takes_place_if_the_judge_confirms_it(memory, relation, kind, tie):
    judge = Scripted(Judgement(relation, 0.9, cost=Cost(calls=1)))
    first, second = told(with_judge(memory, judge), ADOPTED, RESTATED)
    assert judge.asked == [(f"Ana: {ADOPTED}", f"Ana: {RESTATED}")]
    assert second.kind == kind
    decision = memory.decisions(user_id="ana", limit=1)[0]
    assert (decision.model, decision.cost.calls) == ("scripted", 1)
    assert "scripted" in decision.considered[0].evidence
    if tie:
        assert [(one.note, one.kind) for one in memory.explain("1", user_id="ana").ties] == [(first.note, tie)]


@pytest.mark.parametrize(
    ("relation", "kind"), [("contradictory", "supersede"), ("same", "link"), ("different", "link")]
)
def test_a_note_is_replaced_if_the_judge_confirms_it(memory, relation, kind):
    judge = Scripted(Judgement(relation, 0.9))
    _, second = told(with_judge(memory, judge), "I live in Lisbon.", "I no longer live in Lisbon.")
    assert second.kind == kind
    assert len(judge.asked) == 1


def test_nothing_else_is_asked(memory):
    judge = Scripted(Judgement("same", 0.9))
    told(with_judge(memory, judge), ADOPTED, ADOPTED, "I adopted a grey cat from the shelter in Faro.", "Thanks!")
    assert judge.asked == []


@pytest.mark.parametrize("judge", [Down(), Scripted(Judgement("different", 0.3))], ids=["down", "unsure"])
def test_without_a_judgement_the_local_one_stands(memory, judge):
    assert told(with_judge(memory, judge), ADOPTED, RESTATED)[1].kind == "merge"
    assert judge.asked


def test_a_judge_is_named_in_the_settings(monkeypatch):
    assert judge_named(Settings.load()) is None
    monkeypatch.setenv("MEMGRAPH_ENGINE_GATE__JUDGE", "guess")
    with pytest.raises(SettingsError, match="no judge 'guess'"):
        judge_named(Settings.load())


@pytest.mark.sentence_transformers
@pytest.mark.filterwarnings("ignore")
def test_a_cross_encoder_judges(tmp_path):
    """The real class with random weights: no package ships a small one for natural language inference."""
    import torch
    from sentence_transformers import CrossEncoder
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    torch.manual_seed(0)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "i", "like", "no", "cats", "dogs", "."]
    (tmp_path / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    labels = {0: "contradiction", 1: "entailment", 2: "neutral"}
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        id2label=labels,
        label2id={label: place for place, label in labels.items()},
    )
    BertForSequenceClassification(config).save_pretrained(tmp_path / "bert")
    BertTokenizerFast(str(tmp_path / "vocab.txt")).save_pretrained(tmp_path / "bert")
    CrossEncoder(str(tmp_path / "bert"), num_labels=3).save_pretrained(str(tmp_path / "judge"))
    judge = judge_named(
        Settings.load(
            gate={**Settings.load().gate.model_dump(), "judge": f"sentence-transformers/{tmp_path / 'judge'}"}
        )
    )
    assert judge is not None
    assert judge.name == "sentence-transformers/judge"
    found = judge.judge([("i like cats .", "i like no cats ."), ("i like dogs .", "i like dogs .")])
    assert len(found) == 2
    assert all(0 <= one.confidence <= 1 and one.relation in ("same", "different", "contradictory") for one in found)
    assert judge.judge([]) == []
