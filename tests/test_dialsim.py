"""DialSim's files, by a sample of our own in their form: none of its data is here."""

import doctest
import os
import pickle

import pytest

from memgraph_engine import InvalidInput
from memgraph_engine.evaluation import dialsim
from memgraph_engine.evaluation.dialsim import sessions

UNKNOWN = "I don't know."
SCRIPT = """[Scene: a harbour]
Teleplay: Nobody
Ross: The ferry to Kos is late.
Mira: It is never late!
(She laughs.)
Ross: On Monday it was.
"""


def question(text, answer, *options):
    return {"questions": text, "options": [*options, UNKNOWN], "answer": answer}


def sample():
    late = question({"Mira": "When was the ferry late?"}, "On Monday", "On Monday", "On Tuesday", "Never", "In May")
    fan = question({"default": "Which ship is late?"}, "the ferry", "The ferry", "A yacht", "A raft", "A tug")
    broken = question({"default": "Who?"}, "Nobody of these", "Ann", "Bo", "Cy", "Di")
    return {
        "S01E01": {
            1: {
                "script": SCRIPT,
                "date": "September 22, 1994",
                "hard_q": {"past": [late]},
                "easy_q": {"ans": {0: fan}},
            },
            2: {"script": "Mira: Bye.", "date": "September 23, 1994", "hard_q": {}, "easy_q": {"ans": {3: broken}}},
        }
    }


@pytest.fixture
def write(tmp_path):
    def written(given):
        path = tmp_path / "friends_dialsim.pickle"
        path.write_bytes(given if isinstance(given, bytes) else pickle.dumps(given))
        return path

    return written


def test_docstring_examples():
    assert doctest.testmod(dialsim).failed == 0


def test_a_session_has_its_turns_with_their_speakers_and_day(write):
    first, second = sessions(write(sample()))
    assert [(turn["speaker"], turn["text"]) for turn in first.turns] == [
        ("Ross", "The ferry to Kos is late."),
        ("Mira", "It is never late!\n(She laughs.)"),
        ("Ross", "On Monday it was."),
    ]
    assert {turn["session"] for turn in first.turns} == {"S01E01:1"}
    assert first.date.isoformat() == "1994-09-22T00:00:00+00:00"
    assert len({turn["id"] for one in (first, second) for turn in one.turns}) == len(first.turns) + 1


def test_what_is_asked_names_who_asks_it_and_its_options(write):
    first, second = sessions(write(sample()))
    hard, fan = first.questions
    assert (hard.hard, hard.kind, fan.hard, fan.kind) == (True, "past", False, "ans")
    assert hard.asked_by("Mira").splitlines() == [
        "Mira: When was the ferry late?",
        "\t(A) On Monday",
        "\t(B) On Tuesday",
        "\t(C) Never",
        "\t(D) In May",
        f"\t(E) {UNKNOWN}",
    ]
    assert hard.asked_by("Bo") == ""
    assert fan.asked_by("Bo").startswith("Bo: Which ship is late?")
    assert second.questions == []  # its answer is none of its options
    assert second.chosen(1) is None


@pytest.mark.parametrize(
    ("answer", "right"),
    [("(A)", True), ("(a) The ferry.", True), ("(A) or (B)", False), ("(E)", False), ("The ferry", False), ("", False)],
)
def test_an_answer_is_right_that_names_one_option_the_right_one(write, answer, right):
    (first, _) = sessions(write(sample()))
    assert first.questions[1].right(answer) is right


def test_a_run_asks_the_same_again_and_mostly_what_is_hard(write):
    (first, _) = sessions(write(sample()))
    chosen = [first.chosen(seed).hard for seed in range(200)]
    assert chosen == [first.chosen(seed).hard for seed in range(200)]
    assert 110 < sum(chosen) < 170


class Runs:
    def __reduce__(self):
        return os.getenv, ("HOME",)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (b"no pickle", "can't be read"),
        (pickle.dumps(Runs()), "only plain values are read"),
        ({}, "is no DialSim file"),
        ({"S01E01": {1: {"script": "Ann: Hi."}}}, "Episode 'S01E01' .* is not of DialSim's form: KeyError"),
        ({"S01E01": {1: {"script": "Ann: Hi.", "date": "soon"}}}, "is not of DialSim's form: ValueError"),
    ],
)
def test_what_is_none_of_its_files_is_refused_and_runs_nothing(write, given, why):
    with pytest.raises(InvalidInput, match=why):
        list(sessions(write(given)))
