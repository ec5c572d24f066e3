"""Evaluation, without a database: measures, variants, what is kept, what the papers say."""

import json
import math
import subprocess
import sys
from argparse import Namespace

import numpy as np
import pytest

from bench import runs
from memgraph_engine import Settings
from memgraph_engine.cost import Cost
from memgraph_engine.errors import BudgetSpent, InvalidInput, ModelUnavailable
from memgraph_engine.evaluation import report
from memgraph_engine.evaluation.experiment import Experiment, identity, read, same_run
from memgraph_engine.evaluation.kept import Journal, KeptChat, KeptEmbedder, Replies
from memgraph_engine.evaluation.locomo import NOT_MENTIONED, conversations
from memgraph_engine.evaluation.ranking import paired
from memgraph_engine.evaluation.summary import Summary
from memgraph_engine.evaluation.variants import ABLATIONS, BLOCKS, MEMORY, RAG, SLM, Variant, variants
from memgraph_engine.evaluation.wording import MEASURES, bleu_1, f1, meteor, wording
from memgraph_engine.model.ports import Reply
from memgraph_engine.testing import HashingEmbedder, ScriptedChat
from tests import locomo

HELLO = [{"role": "user", "content": "Hello."}]
PAIRS = [
    ("Lisbon", "Lisbon"),
    ("in the old town of Lisbon", "Lisbon"),
    ("a dog", "a cat and a dog"),
    ("7 May 2023", "may 7, 2023"),
    ("paints pictures", "he was painting a picture"),
    ("nothing at all", "Lisbon"),
]


# ---- measures -------------------------------------------------------------------------------


@pytest.mark.parametrize(("answer", "reference"), [pair for pair in PAIRS if pair[1] != "a cat and a dog"])
def test_f1_is_rouge_1_where_no_word_comes_twice(answer, reference):
    from rouge_score.rouge_scorer import RougeScorer  # takes seconds, in each process that collects this file

    rouge = RougeScorer(["rouge1"]).score(reference, answer)["rouge1"].fmeasure
    assert f1(answer, reference) == pytest.approx(100 * rouge)


def test_f1_counts_a_word_once():
    assert f1("a dog a dog", "a dog") == 100


def test_bleu_1_is_precision_times_the_brevity_penalty():
    assert bleu_1("a dog", "a cat and a dog") == pytest.approx(100 * math.exp(1 - 5 / 2))
    assert bleu_1("a big dog", "a dog") == pytest.approx(100 * 2 / 3)
    assert bleu_1("dog dog dog", "a dog here") == pytest.approx(100 / 3)
    assert bleu_1("cat", "dog") == 0


def test_meteor_follows_its_formula_by_stems_without_synonyms():
    # "he" and "paint" of three and five words, in one chunk each
    precision, recall, penalty = 2 / 3, 2 / 5, 0.5 * (1 / 2) ** 3
    mean = 10 * precision * recall / (recall + 9 * precision)
    assert meteor("he paints houses", "and he painted a picture") == pytest.approx(100 * mean * (1 - penalty))
    assert meteor("automobile", "car") == 0


@pytest.mark.parametrize(("answer", "reference"), [*PAIRS, ("", "Lisbon"), ("…", "Lisbon"), ("里斯本", "Lisbon")])
def test_every_measure_is_between_0_and_100(answer, reference):
    scores = wording(answer, reference)
    assert tuple(scores) == MEASURES
    assert all(0 <= value <= 100 for value in scores.values())


def test_nothing_is_fetched_to_measure(monkeypatch, tmp_path):
    """In a process of its own, where nltk finds no data and no socket opens."""
    code = (
        "import socket\n"
        "def refuse(*_): raise AssertionError('the net was asked')\n"
        "socket.socket.connect = socket.getaddrinfo = refuse\n"
        "from memgraph_engine.evaluation.wording import wording\n"
        "print(wording('in Lisbon', 'Lisbon')['F1'])"
    )
    monkeypatch.setenv("NLTK_DATA", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert float(shown) == pytest.approx(200 / 3)
    assert list(tmp_path.iterdir()) == []


# ---- variants -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ABLATIONS)
def test_an_ablation_names_settings_that_exist_and_differ(name):
    settings = Settings.load(lifecycle={"evolve": 5})
    changed = Variant(name, ABLATIONS[name]).settings(settings)
    assert changed != settings


def test_a_setting_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="tpics"):
        Variant("x", {"recall": {"tpics": 0.0}}).settings(Settings.load())


def test_what_only_a_model_does_is_not_left_out_without_one():
    def names(*, model):
        return [one.name for one in variants(tuple(ABLATIONS), model=model, full_context=True, k=20)]

    needed = {
        "without-denoise",
        "without-iteration",
        "without-queries",
        "without-claims",
        "without-selector",
        "full-context",
    }
    assert set(names(model=True)) - set(names(model=False)) == {*needed, "full-context"}


def test_variants_that_differ_in_recall_alone_read_the_same_memory():
    assert Variant("x", ABLATIONS["without-topics"]).memory == MEMORY
    assert Variant("x", ABLATIONS["without-link"]).memory == "x"
    assert Variant(BLOCKS, ABLATIONS[BLOCKS]).memory == MEMORY


def test_blocks_are_read_where_they_find_or_weigh_anything():
    def names(settings):
        every = variants(tuple(ABLATIONS), model=True, full_context=False, k=20)
        return {one.name for one in every if one.reads_blocks(settings)}

    assert names(Settings.load()) == {"blocks", "with-blocks"}
    weighed = names(Settings.load(recall={"channels": ["dense_raw", "blocks"]}))
    assert {MEMORY, "without-link"} <= weighed
    assert weighed.isdisjoint((RAG, "memfly-retrieval", "without-pathways"))


def test_a_part_of_a_papers_way_brings_that_along_and_is_compared_with_it():
    parts = ("without-selector", "without-topics", "memfly-without-topics")
    chosen = variants(parts, model=True, full_context=False, k=20)
    assert {one.name: one.against for one in chosen} == {
        MEMORY: MEMORY,
        RAG: MEMORY,
        "without-topics": MEMORY,
        "memfly-retrieval": MEMORY,
        "memfly-without-topics": "memfly-retrieval",
        SLM: MEMORY,
        "without-selector": SLM,
    }
    assert SLM not in {one.name for one in variants(("without-claims",), model=False, full_context=False, k=20)}


def test_slm_proposes_twice_as_many_notes_as_are_kept_and_a_model_selects_where_there_is_one():
    def recall(name, *, model, **given):
        chosen = variants((name,), model=model, full_context=False, k=7)
        return next(one for one in chosen if one.name == name).settings(Settings.load(recall=given)).recall

    assert recall(SLM, model=True).pool == 14
    assert recall(SLM, model=True, reranker="litellm/x").reranker == "llm"
    assert recall(SLM, model=False, reranker="litellm/x").reranker == "litellm/x"
    without = recall("without-selector", model=True, reranker="litellm/x")
    assert without == recall(SLM, model=True).model_copy(update={"reranker": ""})  # it takes away one thing


# ---- differences ----------------------------------------------------------------------------


def test_a_small_difference_is_sure_where_each_question_shows_it_and_not_where_they_vary():
    chance = np.random.default_rng(1)
    easy = chance.uniform(0, 100, 200)
    steady = paired(easy + 2 + chance.normal(0, 1, 200), easy)
    assert steady.low > 1.5
    assert steady.high < 2.5
    assert steady.p < 0.01
    other = chance.permutation(easy) + 2  # the same scores, of other questions
    varying = paired(other, easy)
    assert varying.mean == pytest.approx(2)
    assert varying.low < 0 < varying.high
    assert varying.p > 0.05


def test_an_interval_is_that_of_the_mean():
    chance = np.random.default_rng(2)
    scores = chance.normal(5, 20, 400)
    found = paired(scores, np.zeros(400))
    error = 1.96 * scores.std() / 20
    assert found.low == pytest.approx(scores.mean() - error, abs=0.3)
    assert found.high == pytest.approx(scores.mean() + error, abs=0.3)


def test_only_questions_that_both_were_asked_are_compared(tmp_path):
    experiment = Experiment(read(locomo.write(tmp_path)))
    results = Journal(tmp_path / "results.jsonl")
    mine, theirs = ({0: ["D1:4", "D1:6"], 1: ["D1:9"]}, {0: [], 2: []})
    for variant, found in ((RAG, mine), (MEMORY, theirs)):
        for number, sources in found.items():
            results.add(("found", variant, 20, "one", number), {"sources": sources})
    compared = {one.category: one.difference for one in Summary(experiment, results).compared}
    assert compared["all"].questions == compared["1-4"].questions == 1
    assert compared["all"].mean == 100


# ---- questions ------------------------------------------------------------------------------


def test_the_right_answer_to_a_false_premise_is_that_it_was_not_mentioned(tmp_path):
    (conversation,) = read(locomo.write(tmp_path))
    assert [one.answer for one in conversation.questions if one.category == 5] == [NOT_MENTIONED]


def test_questions_without_evidence_are_asked_but_no_retrieval_is_measured_by_them(tmp_path):
    experiment = Experiment(read(locomo.write(tmp_path)), model="m")
    wanted = {
        task.question.evidence: task.wanted for task in experiment.tasks(experiment.conversations[0]) if task.k == 20
    }
    assert wanted.pop(()) == ("answer",)
    assert set(wanted.values()) == {("found", "answer")}


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("{", "can't be read"),
        ("[]", "is no LoCoMo file"),
        ('{"sample_id": "x"}', "is no LoCoMo file"),
        (json.dumps([{"sample_id": "x", "conversation": {}}]), "Sample x of .* is not of LoCoMo's form: KeyError"),
        (json.dumps([{**locomo.sample(), "qa": [{"category": 9, "question": "?"}]}]), "there is no category 9"),
        (json.dumps([{**locomo.sample(), "qa": []}]), "holds no questions"),
    ],
)
def test_a_file_that_is_none_of_locomos_is_refused(tmp_path, content, fault):
    file = tmp_path / "given.json"
    file.write_text(content)
    with pytest.raises(InvalidInput, match=fault):
        read(file)


# ---- what is kept ---------------------------------------------------------------------------


def chat(journal, *answers):
    replies = Replies(journal)
    inner = ScriptedChat(answers)
    return KeptChat(inner, replies), inner, replies


def ask(model, messages=HELLO, temperature=0.7):
    return model.chat(messages, temperature=temperature, max_tokens=9, timeout=1)


def test_what_was_paid_for_is_not_asked_again_by_the_next_process(tmp_path):
    file = tmp_path / "replies.jsonl"
    first, _, _ = chat(Journal(file), Reply("Hi.", Cost(1, 5, 2, 0.25), "length"))
    assert ask(first) == Reply("Hi.", Cost(1, 5, 2, 0.25), "length")
    second, inner, replies = chat(Journal(file))
    assert ask(second) == Reply("Hi.", Cost(1, 5, 2, 0.25), "length")
    assert inner.calls == []
    assert replies.spent == Cost(1, 5, 2, 0.25)


def test_another_question_or_temperature_is_asked(tmp_path):
    model, inner, _ = chat(Journal(tmp_path / "replies.jsonl"), "a", "b")
    assert [ask(model).text, ask(model, temperature=0.5).text, ask(model).text] == ["a", "b", "a"]
    assert inner.left == 0


def test_a_failure_is_not_kept(tmp_path):
    model, _, _ = chat(Journal(tmp_path / "replies.jsonl"), ModelUnavailable("busy"), "a")
    with pytest.raises(ModelUnavailable):
        ask(model)
    assert ask(model).text == "a"


def test_nothing_is_asked_above_the_limit_and_what_is_kept_is_still_given(tmp_path):
    model, inner, replies = chat(Journal(tmp_path / "replies.jsonl"), Reply("a", Cost(1, money=0.6)), "b")
    replies.limit = 0.5
    ask(model)
    with pytest.raises(BudgetSpent, match=r"\$0.6000 are spent, and \$0.5000 were allowed"):
        ask(model, temperature=0)
    assert ask(model).text == "a"
    assert inner.left == 1


def test_a_journal_of_something_else_is_left_alone(tmp_path):
    file = tmp_path / "diary.jsonl"
    file.write_text('{"dear": "diary"}\n')
    with pytest.raises(InvalidInput, match=r"diary.jsonl can't be gone on with: line 1"):
        Journal(file)
    assert file.read_text() == '{"dear": "diary"}\n'


def test_an_entry_without_what_it_cost_is_no_reply(tmp_path):
    file = tmp_path / "replies.jsonl"
    Journal(file).add(("asked",), {"text": "Hi."})
    with pytest.raises(InvalidInput, match=r"replies.jsonl can't be gone on with: it has an entry that is no reply"):
        Replies(Journal(file))


@pytest.mark.parametrize("end", ["\u2028", "\u2029", "\u0085", "\r"])
def test_a_reply_may_hold_any_end_of_a_line(tmp_path, end):
    file, entry = tmp_path / "replies.jsonl", {"answer": f"Lisbon{end} or Porto"}
    Journal(file).add(("ana", 1), entry)
    assert dict(Journal(file).items()) == {("ana", 1): entry}


def test_a_text_is_embedded_once_until_it_is_forgotten():
    class Counting(HashingEmbedder):
        seen = 0

        def embed_documents(self, texts):
            self.seen += len(texts)
            return super().embed_documents(texts)

    inner = Counting(8)
    kept = KeptEmbedder(inner)
    both = kept.embed_documents(["a", "b", "a"])
    assert np.allclose(both, HashingEmbedder(8).embed_documents(["a", "b", "a"]))
    kept.embed_documents(["b"])
    assert inner.seen == 2
    kept.forget()
    kept.embed_documents(["b"])
    assert inner.seen == 3


def test_a_folder_holds_one_run(tmp_path):
    file = locomo.write(tmp_path)
    settings = Settings.load()
    journal = Journal(tmp_path / "results.jsonl")
    name = same_run(journal, identity(file, "m", settings), tmp_path)
    again = Journal(tmp_path / "results.jsonl")
    assert same_run(again, identity(file, "m", settings), tmp_path) == name
    other = Settings.load(recall={"topic_anchors": 3})
    with pytest.raises(InvalidInput, match="another model, another recall: go on with the same, or name another"):
        same_run(again, identity(file, "n", other), tmp_path)


# ---- the papers -----------------------------------------------------------------------------


def test_the_papers_categories_are_the_same_ones():
    """Where both papers report on a model without a memory, each category is within a few points."""
    for model in ("gpt-4o-mini", "gpt-4o"):
        one, other = (row.values for row in report.rows("F1", model) if row.system == "full context")
        assert max(abs(a - b) for a, b in zip(one, other, strict=True)) < 3


@pytest.mark.parametrize("measure", ["F1", "BLEU-1"])
def test_what_memfly_reports_of_each_system_has_the_average_that_its_categories_have(measure):
    """Its averages are weighted by the questions of each category, so a value that was copied wrongly shows."""
    asked, systems = (
        (282, 321, 96, 841, 446),
        ("full context", "ReadAgent", "MemoryBank", "MemGPT", "A-MEM", "Mem0", "MemFly"),
    )
    for model in ("gpt-4o-mini", "gpt-4o", "Qwen3-8B", "Qwen3-14B"):
        told = [row for row in report.rows(measure, model) if row.source.startswith("MemFly")]
        assert tuple(row.system for row in told) == systems
        for row in told:
            weighed = sum(value * most for value, most in zip(row.values, asked, strict=True)) / sum(asked)
            assert row.average == pytest.approx(weighed, abs=0.11)


def test_a_run_that_a_paper_gives_two_values_for_has_two_rows():
    twice = [row.values[0] for row in report.rows("F1", "gpt-4o-mini") if row.system == "MLA-ARC"]
    assert twice == [25.85, 27.56]
    assert report.ablation("BLEU-1", MEMORY) == 36.85
    (row,) = (row for row in report.rows("BLEU-1", "ollama/qwen3-8b") if row.system == "MemFly")
    assert row.average == 34.51


def test_a_model_that_no_paper_knows_stands_beside_gpt_4o_mini():
    assert {row.model for row in report.rows("SBERT", "mine/own")} == {"gpt-4o-mini"}


def test_a_model_that_a_paper_judged_nothing_of_stands_beside_gpt_4o_mini():
    assert {row.model for row in report.rows("Judge", "gpt-4o")} == {"gpt-4o-mini"}


def test_a_mean_over_categories_1_to_4_counts_each_by_its_questions():
    """MemFly gives means over all five, which are those of the same numbers of questions."""
    for row in report.rows("F1", "gpt-4o-mini"):
        if row.average is not None:
            assert (row.but_adversarial * 1540 + row.values[4] * 446) / 1986 == pytest.approx(row.average, abs=0.02)
    judged = {row.system: row.but_adversarial for row in report.rows("Judge", "gpt-4o-mini")}
    assert judged["LightMem"] == pytest.approx(78.01, abs=0.01)
    assert judged["LightMem with source"] == pytest.approx(82.41, abs=0.01)
    (partly,) = (row for row in report.rows("F1", "gpt-4o-mini") if "in the text" in row.source and row.values[3])
    assert partly.but_adversarial is None


def test_a_file_that_would_be_measured_wrong_is_refused(tmp_path):
    def twice(sample):
        return [sample, sample]

    def no_question(sample):
        return [sample | {"qa": [sample["qa"][0] | {"question": " "}]}]

    def no_list(sample):
        return [sample | {"qa": [sample["qa"][0] | {"evidence": "D1:1"}]}]

    def same_turn(sample):
        session = [*sample["conversation"]["session_1"], sample["conversation"]["session_1"][0]]
        return [sample | {"conversation": sample["conversation"] | {"session_1": session}}]

    for wrong, why in (
        (twice, "several samples 'one'"),
        (no_question, "a question is"),
        (no_list, "no list"),
        (same_turn, "same dia_id"),
    ):
        file = locomo.write(tmp_path, *wrong(locomo.sample()))
        with pytest.raises(InvalidInput, match=why):
            list(conversations(file))


# ---- several runs -----------------------------------------------------------------------------


def figures(folder, **values):
    folder.mkdir()
    (folder / "figures.json").write_text(json.dumps(values))
    return folder


def test_runs_of_one_experiment_have_means_and_deviations(tmp_path):
    three = [figures(tmp_path / str(value), f1=value) for value in (40.0, 42.0, 44.0)]
    told, text = runs.run(Namespace(folder=three))
    assert told == {"f1.mean": 42.0, "f1.sd": 2.0}
    assert "| f1 | 42.00 ± 2.00 |" in text
    for folders, why in (
        (three[:1], "One run does not scatter"),
        ([*three, figures(tmp_path / "other", bleu=1.0)], "has other figures than"),
        ([*three, tmp_path / "none"], "holds no figures of a run"),
    ):
        with pytest.raises(SystemExit, match=why):
            runs.run(Namespace(folder=folders))
