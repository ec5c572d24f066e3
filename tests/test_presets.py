"""The settings of the papers, held against what the papers give."""

import re
from operator import attrgetter
from typing import get_args

import pytest

from memgraph_engine import Memory, Settings, SettingsError
from memgraph_engine.cli import setup
from memgraph_engine.settings import Preset

OFF = 0.0
VALUES = {
    "memfly": {
        "gate.merge_threshold": 0.7,  # table 5
        "gate.link_threshold": 0.5,
        "recall.topic_anchors": 3,
        "recall.keyword_anchors": 10,
        "recall.rounds": 3,
        "answer.rounds": 3,
        "recall.ranking": "rrf",  # equation 20, of the three pathways alone
        "recall.channels": ("keywords", "topics", "related"),
        "recall.expansion": "anchors",  # equations 18, 19
        "recall.pathways": "always",
        "recall.spread": 1000,  # equations 15, 17: all
        "recall.planning": "each",  # section 3.4.2
    },
    "mla-arc": {
        "recall.ranking": "cosine",  # section 3.7.1
        "recall.similarity": 0.7,
        "recall.frequency": 0.15,
        "recall.restated": 1.0,  # section 3.6.1
        "recall.decay": 0.15,
        "recall.related_from": 5,  # section 4.3
        "recall.depth": 2,  # section 4.3, where it has no value
        "use.record": "on",  # section 3.7.1: n_access
        "lifecycle.session_cap": 40,  # section 3.8.2, where it has no number
        "lifecycle.join": True,  # section 3.6.1
        "lifecycle.evolve": 5,  # section 5.2.3
        "lifecycle.access_weight": 1.0,  # section 3.8.3
        "lifecycle.age_weight": 1.0,
        "lifecycle.information_weight": OFF,
        "lifecycle.cap_mb": 8000,  # section 3.8.1
        "lifecycle.order": "temperature",  # section 3.8.3
        "lifecycle.target": 0.875,  # section 3.8.1: 8 GB to 7 GB
        "lifecycle.profile": "models",  # section 3.3.2
        "prompt.interactions": 10,  # section 3.4.1
        "prompt.nearest": 10,  # section 3.7.1, by the k of section 5.2.3
    },
    "lightmem-slm": {
        "recall.ranking": "cosine",  # section 3.4
        "recall.candidates": 2,
        "recall.reranker": "llm",
        "recall.pool": 20,
        "recall.split": True,  # equation 3
        "recall.intent": True,  # section 3.3
        "claims.share": 0.25,  # section 3.3, where it has no value
        "claims.reread": True,  # section 3.6
        "recall.sufficient": OFF,
        "lifecycle.cap": 10_000,  # equation 6
        "worker.claims_after": 12,  # table 7
    },
    "lightmem-tree": {
        "blocks.schema_file": "lightmem-personal",  # appendix A.1
        "blocks.linkage": "paper",  # sections 3.3, 3.4
        "answer.rounds": 1,  # section 3.5
    },
    "memoryarchitect": {
        "recall.ranking": "cosine",  # section II.C.2
        "recall.similarity": 0.7,
        "recall.utility": 0.2,
        "recall.policy": 0.2,  # half of one and the boost: the boost counts 0.1
        "recall.intent": True,  # section II.C.1
        "recall.rounds": 2,  # so that a model reads the question, and none other is needed
        "recall.sufficient": OFF,
        "lifecycle.policies": "memoryarchitect",  # section III.A
        "lifecycle.classes": "models",  # section II.B
        "lifecycle.cap": 10_000,  # section II.F
        "lifecycle.order": "utility",
        "use.flag": True,  # section II.D.2
        "use.prune": True,  # section II.D.3
    },
}


@pytest.mark.parametrize("paper", [name for name in get_args(Preset) if name])
def test_a_preset_holds_what_its_paper_gives(paper):
    settings = Settings.paper(paper)
    assert {name: attrgetter(name)(settings) for name in VALUES[paper]} == VALUES[paper]
    assert settings.preset == paper


def test_a_preset_lies_below_what_is_set_by_oneself_and_above_the_defaults(tmp_path, monkeypatch):
    file = tmp_path / "mine.toml"
    file.write_text('preset = "memfly"\n[recall]\ntopic_anchors = 4\n')
    monkeypatch.setenv("MEMGRAPH_ENGINE_CONFIG", str(file))
    monkeypatch.setenv("MEMGRAPH_ENGINE_RECALL__KEYWORD_ANCHORS", "7")
    recall = Settings.load(recall={"spread": 50}).recall
    assert (recall.topic_anchors, recall.keyword_anchors, recall.spread, recall.rounds) == (4, 7, 50, 3)
    assert Settings.load(preset="").recall.rounds == 1
    monkeypatch.setenv("MEMGRAPH_ENGINE_PRESET", "mla-arc")
    assert Settings.load().recall.ranking == "cosine"


def test_an_unknown_preset_is_named_with_those_that_there_are():
    with pytest.raises(SettingsError, match=r"preset: .*'memfly', 'mla-arc'.*'memoryarchitect'"):
        Settings.load(preset="memgpt")


def test_whatever_the_page_names_is_there(root):
    page = (root / "docs" / "papers.md").read_text("utf-8")
    named = [one for row in page.splitlines() if row.startswith("| ") for one in re.findall("`([^`]+)`", row)]
    settings, found = Settings.load(), 0
    for name in named:
        if "/" in name:
            assert (root / name).is_file(), name
        elif name.startswith("Memory."):
            assert hasattr(Memory, name.removeprefix("Memory.")), name
        elif re.fullmatch(r"[a-z]+\.[a-z_]+", name):
            attrgetter(name)(settings)
        else:
            continue
        found += 1
    assert found > 60


@pytest.mark.parametrize("paper", get_args(Preset)[1:])
def test_a_written_file_has_a_presets_values_so_that_uncommenting_one_changes_nothing(paper, tmp_path, monkeypatch):
    file = tmp_path / "memgraph-engine.toml"
    setup._write(file, paper)
    file.write_text(re.sub(r"^# (?=\w+ = )", "", file.read_text(), flags=re.MULTILINE))
    preset = Settings.paper(paper).model_dump()
    monkeypatch.setenv("MEMGRAPH_ENGINE_CONFIG", str(file))
    assert Settings.load().model_dump() == preset
