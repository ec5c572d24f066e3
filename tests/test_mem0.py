"""mem0's calls: what is written against mem0 runs on a memory of this engine, with the same forms and refusals."""

import asyncio
from datetime import date

import pytest

from memgraph_engine.errors import InvalidInput
from memgraph_engine.integrations.mem0 import AsyncMemory, Memory
from memgraph_engine.testing import HashingEmbedder

ANA, BEN = {"user_id": "ana"}, {"user_id": "ben"}
TALK = [
    {"role": "user", "content": "I moved to Lisbon in March."},
    {"role": "assistant", "content": "Lisbon has seven hills and a castle."},
    {"role": "user", "content": "My dentist is Dr Silva.", "name": "Ana"},
    {"role": "system", "content": "You are a helpful assistant."},
]


@pytest.fixture
def mem0(memory):
    return Memory(memory=memory)


def texts(found):
    return {one["memory"] for one in found["results"]}


def test_what_is_said_again_joins_what_is_known_and_tells_so(mem0):
    (first,) = mem0.add("I moved to Lisbon in March.", **ANA)["results"]
    (again,) = mem0.add("I moved to Lisbon in March.", **ANA)["results"]
    assert (first["event"], again["event"], again["id"]) == ("ADD", "NONE", first["id"])
    assert texts(mem0.get_all(filters=ANA)) == {"I moved to Lisbon in March."}


@pytest.mark.parametrize("infer", [True, False])
def test_of_a_long_message_each_memory_has_its_own_text(mem0, infer):
    said = [
        f"On day {day} we walked from hut {day} to hut {day + 1}, {'over the ridge and ' * 9}down." for day in range(60)
    ]
    content = " ".join(said)
    made = mem0.add({"role": "user", "content": content}, **ANA, infer=infer)["results"]
    assert len(made) > 2
    assert [one["memory"] for one in made] == [mem0.get(one["id"])["memory"] for one in made]
    assert "".join("".join(one["memory"] for one in made).split()) == "".join(content.split())


def test_what_joins_a_memory_is_told_with_what_that_says_now(mem0):
    (first,) = mem0.add("I moved to Lisbon in March 2023.", **ANA)["results"]
    (second,) = mem0.add("In March 2023 I moved to Lisbon.", **ANA)["results"]
    assert (second["event"], second["id"]) == ("UPDATE", first["id"])
    assert second["memory"] == mem0.get(second["id"])["memory"]


def test_without_inference_each_message_is_a_memory_of_its_own(mem0):
    for _ in range(2):
        mem0.add(TALK, **ANA, infer=False)
    assert len(mem0.get_all(filters=ANA)["results"]) == 6


def test_users_agents_and_runs_are_apart(mem0):
    mem0.add("My code is 4711.", **ANA)
    mem0.add("My code is 0815.", **ANA, agent_id="bank", run_id="r1")
    mem0.add("My code is 1234.", agent_id="bank")
    mem0.add("My code is 9999.", run_id="r1")
    found = {
        name: texts(mem0.search("What is the code?", filters=filters, threshold=0.0))
        for name, filters in {
            "ana": ANA,
            "ana's bank": {**ANA, "agent_id": "bank"},
            "bank": {"agent_id": "bank"},
            "run": {"run_id": "r1"},
            "ben": BEN,
        }.items()
    }
    assert found == {
        "ana": {"My code is 4711.", "My code is 0815."},
        "ana's bank": {"My code is 0815."},
        "bank": {"My code is 1234."},
        "run": {"My code is 9999."},
        "ben": set(),
    }


def test_a_memory_is_read_changed_and_deleted_by_its_id_alone(mem0, memory):
    (made,) = mem0.add("My dentist is Dr Silva.", **ANA)["results"]
    assert mem0.update(made["id"], "My dentist is Dr Costa.") == {"message": "Memory updated successfully!"}
    assert mem0.get(made["id"])["memory"] == "My dentist is Dr Costa."
    mem0.delete(made["id"])
    assert mem0.get(made["id"]) is None
    changes = [(one["event"], one["old_memory"], one["new_memory"]) for one in mem0.history(made["id"])]
    assert changes == [
        ("ADD", None, "My dentist is Dr Silva."),
        ("UPDATE", "My dentist is Dr Silva.", "My dentist is Dr Costa."),
        ("DELETE", "My dentist is Dr Costa.", None),
    ]
    memory.undo(memory.decisions(**ANA)[0].id, **ANA)
    assert mem0.get(made["id"])["memory"] == "My dentist is Dr Costa."


@pytest.fixture(scope="module")
def levels(kept):
    def tell(memory):
        mem0 = Memory(memory=memory)
        for level, name in enumerate(("one", "two", "three"), 1):
            mem0.add(f"Level {name}", **ANA, metadata={"level": level, "name": name.title()}, infer=False)
        mem0.add("Level none", **ANA, infer=False)

    return Memory(memory=kept(tell))


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"level": 2}, {"two"}),
        ({"level": {"gte": 2}}, {"two", "three"}),
        ({"level": {"gt": 1, "lt": 3}}, {"two"}),
        ({"level": {"in": [1, 3]}}, {"one", "three"}),
        ({"level": {"nin": [1, 3]}}, {"two", "none"}),
        ({"level": {"ne": 2}}, {"one", "three", "none"}),
        ({"level": "*"}, {"one", "two", "three"}),
        ({"name": {"contains": "T"}}, {"two", "three"}),
        ({"name": {"icontains": "t"}}, {"two", "three"}),
        ({"name": {"gt": 5}}, set()),
        ({"AND": [{"level": {"gt": 1}}, {"name": "Two"}]}, {"two"}),
        ({"OR": [{"level": 1}, {"level": 3}]}, {"one", "three"}),
        ({"NOT": [{"level": 1}]}, {"two", "three", "none"}),
        ({"role": "user"}, {"one", "two", "three", "none"}),
        ({"role": "assistant"}, set()),
    ],
)
def test_filters_mean_what_they_mean_in_mem0(levels, filters, expected):
    found = levels.search("Level", filters={**ANA, **filters}, threshold=0.0)
    assert texts(found) == {f"Level {name}" for name in expected}
    assert texts(levels.get_all(filters={**ANA, **filters})) == texts(found)


def test_only_what_reaches_the_threshold_is_found_and_no_more_than_asked_for(mem0):
    mem0.add(TALK, **ANA, infer=False)
    found = mem0.search("Who is my dentist?", filters=ANA, threshold=0.0)["results"]
    assert len(found) == 3
    assert mem0.search("Who is my dentist?", filters=ANA, threshold=0.0, top_k=1)["results"] == found[:1]
    assert all(one["score"] >= 0.5 for one in mem0.search("Who is my dentist?", filters=ANA, threshold=0.5)["results"])
    assert "score_details" in mem0.search("Who is my dentist?", filters=ANA, explain=True)["results"][0]


def test_a_time_an_end_and_metadata_are_kept(mem0):
    mem0.add("The ferry leaves at nine.", **ANA, timestamp="2024-05-01", metadata={"place": "Porto", "user_id": "ben"})
    (only,) = mem0.get_all(filters=ANA)["results"]
    assert (only["memory"], only["metadata"], only["user_id"]) == (
        "The ferry leaves at nine.",
        {"place": "Porto"},
        "ana",
    )
    (brief,) = mem0.add("It is late today.", **ANA, expiration_date=date(2999, 1, 1))["results"]
    first, second = (mem0.memory.get(one["id"].partition(":")[2], **ANA) for one in (only, brief))
    assert (first.said_at.year, second.expires_at.year) == (2024, 2999)


def test_all_of_a_user_or_of_all_users_goes(mem0, memory):
    for user in (ANA, BEN):
        mem0.add("My code is 4711.", **user)
    mem0.delete_all(**ANA)
    assert (texts(mem0.get_all(filters=ANA)), len(mem0.get_all(filters=BEN)["results"])) == (set(), 1)
    mem0.reset()
    assert texts(mem0.get_all(filters=BEN)) == set()
    assert [receipt.residue for receipt in memory.receipts()] == [0, 0]


WRONG = [
    lambda one: one.add("I moved."),
    lambda one: one.add("I moved.", user_id=" "),
    lambda one: one.add("I moved.", user_id="ana lee"),
    lambda one: one.search("Where?"),
    lambda one: one.search("Where?", user_id="ana"),
    lambda one: one.search("Where?", filters={"place": "Porto"}),
    lambda one: one.search("", filters=ANA),
    lambda one: one.search("Where?", filters=ANA, threshold=2),
    lambda one: one.search("Where?", filters=ANA, top_k=-1),
    lambda one: one.search("Where?", filters={**ANA, "OR": []}),
    lambda one: one.get_all(user_id="ana"),
    lambda one: one.get_all(),
    lambda one: one.delete("11111111-1111-1111-1111-111111111111"),
    lambda one: one.update("11111111-1111-1111-1111-111111111111", "It is."),
    lambda one: one.update("11111111-1111-1111-1111-111111111111"),
    lambda one: one.delete_all(),
]
SKIPPED = [
    {
        "role": "assistant",
        "tool_calls": [{"id": "1", "type": "function", "function": {"name": "look", "arguments": ""}}],
    },
    {"role": "assistant", "content": None},
    {"role": "user"},
    {"content": "I like dates."},
    {"role": None, "content": "I like dates."},
    {"role": "user", "content": []},
    {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://example.org/fig.png"}}]},
    {"role": "user", "content": {"type": "image_url", "image_url": {"url": "https://example.org/fig.png"}}},
    {"role": "system", "content": "You are kind."},
]
"""What mem0 passes over."""
UNSTORED = ["I like \0 dates.", "I like \ud800 dates.", "x" * 500_001]
NAMES = [" ", "\u200b", "x" * 600, "A\0na", "A\ud800na", "\U0010ffff"]
TAKEN = [
    {"role": "user", "content": "I like figs.", "tokens": 4, "id": 7, "time": "at noon", "tags": 5},
    {"role": "user", "content": [{"type": "text", "text": "I like figs."}, {"type": "widget", "data": 5}]},
    {"role": "user", "content": "I like figs.", "name": 7},
]
SENSELESS = [
    lambda one: one.add(None, **ANA),
    lambda one: one.add(5, **ANA),
    lambda one: one.add(["x"], **ANA),
    lambda one: one.add("I moved.", **ANA, metadata=5),
    lambda one: one.search(5, filters=ANA),
    lambda one: one.search("Where?", filters=5),
    lambda one: one.search("Where?", filters={**ANA, "k": {}}),
    lambda one: one.search("Where?", filters={**ANA, "k": {"in": 5}}),
    lambda one: one.search("Where?", filters={**ANA, "k": {"nin": "x"}}),
    lambda one: one.search("Where?", filters={**ANA, "AND": ["x"]}),
    lambda one: one.get_all(filters=ANA, top_k=-1),
]


@pytest.mark.parametrize("call", WRONG, ids=range(len(WRONG)))
def test_what_mem0_refuses_is_refused(levels, call):
    with pytest.raises(ValueError):
        call(levels)


@pytest.mark.parametrize("infer", [True, False])
@pytest.mark.parametrize("taken", TAKEN, ids=range(len(TAKEN)))
def test_what_mem0_passes_over_is_skipped_and_what_else_a_message_has_is_not_looked_at(mem0, taken, infer, caplog):
    unknown = {"role": "narrator", "content": "Figs were liked."}
    (made,) = mem0.add([*SKIPPED, unknown, taken], **ANA, infer=infer)["results"]
    assert (made["memory"], made["role"]) == ("I like figs.", "user")
    assert texts(mem0.get_all(filters=ANA)) == {"I like figs."}
    assert len(caplog.messages) == len(SKIPPED)  # the system's is none of them, the unknown role is
    assert mem0.add(SKIPPED, **ANA, infer=infer) == {"results": []}


@pytest.mark.parametrize("infer", [True, False])
def test_what_can_t_be_stored_of_a_message_refuses_no_other(mem0, infer, caplog):
    roles = ("user", "assistant", "tool")
    lacking = [{"role": role, "content": text, "name": "Ana"} for text in UNSTORED[:2] for role in roles]
    lacking += [{"role": role, "content": UNSTORED[2]} for role in roles[:2]]
    ill_named = [{"role": "user", "content": f"My figs number {n}.", "name": name} for n, name in enumerate(NAMES)]
    made = mem0.add([*lacking, *ill_named], **ANA, infer=infer)["results"]
    assert [one["memory"] for one in made] == [one["content"] for one in ill_named]
    assert {one["actor_id"] for one in made} == {None}
    assert len(caplog.messages) == len(lacking)


def test_what_is_found_by_the_run_of_a_repeat_is_told_with_that_run(mem0):
    for run in ("first", "second", "third"):
        mem0.add("I like figs.", **ANA, run_id=run)
    for run in ("first", "second", "third"):
        meant = {**ANA, "run_id": run}
        for found in (mem0.search("figs", filters=meant), mem0.get_all(filters=meant)):
            assert [one["run_id"] for one in found["results"]] == [run]


@pytest.mark.parametrize("call", SENSELESS, ids=range(len(SENSELESS)))
def test_what_makes_no_sense_is_told_in_a_sentence(levels, call):
    with pytest.raises(InvalidInput):
        call(levels)


def test_a_filter_of_another_kind_holds_for_nothing(mem0):
    mem0.add("I moved.", **ANA, metadata={"place": "Porto 5"})
    assert texts(mem0.get_all(filters={**ANA, "role": {"contains": 5}})) == set()
    assert texts(mem0.get_all(filters={**ANA, "place": {"contains": 5}})) == {"I moved."}


def test_what_can_t_be_kept_is_said(mem0):
    (made,) = mem0.add("I moved.", **ANA)["results"]
    for call in (
        lambda: mem0.update(made["id"], metadata={"a": 1}),
        lambda: mem0.add("I moved.", **ANA, memory_type="procedural_memory"),
        lambda: mem0.search("Where?", filters=ANA, reference_date="2024-01-01"),
        lambda: mem0.search("Where?", filters=ANA, show_expired=True),
    ):
        with pytest.raises(InvalidInput):
            call()


def test_the_asynchronous_one_does_the_same(memory):
    async def main():
        async with AsyncMemory(memory=memory) as mem0:
            (made,) = (await mem0.add("I moved to Lisbon.", **ANA))["results"]
            found = await mem0.search("Where does Ana live?", filters=ANA)
            return made["id"], [one["id"] for one in found["results"]]

    made, found = asyncio.run(main())
    assert found == [made]


# ---- beside mem0 itself: the same calls to both ------------------------------------------------


class Vectors:
    """The embedder that mem0 is given in place of a model's."""

    def __init__(self):
        self._embedder = HashingEmbedder(dimensions=256)

    def embed(self, text, _action=None):
        return self._embedder.embed_documents([text])[0]

    def embed_batch(self, texts, _action=None):
        return self._embedder.embed_documents(list(texts))


@pytest.fixture
def twin(tmp_path, monkeypatch):
    """mem0 itself, offline: in a local folder, without a model."""
    monkeypatch.setenv("MEM0_TELEMETRY", "False")
    monkeypatch.setenv("MEM0_DIR", str(tmp_path))
    import mem0 as theirs
    from mem0.memory import main

    monkeypatch.setattr(main.EmbedderFactory, "create", lambda *_, **__: Vectors())
    monkeypatch.setattr(main.LlmFactory, "create", lambda *_, **__: None)
    store = {"path": str(tmp_path / "store"), "embedding_model_dims": 256, "collection_name": "twin"}
    return theirs.Memory.from_config(
        {"vector_store": {"provider": "qdrant", "config": store}, "history_db_path": str(tmp_path / "history.db")}
    )


def form(value):
    """Return the names and kinds of what a call returned."""
    if isinstance(value, dict):
        return {name: form(one) for name, one in value.items()}
    if isinstance(value, list):
        return [form(one) for one in value][:1]
    return type(value).__name__


@pytest.mark.mem0
@pytest.mark.filterwarnings("ignore")
def test_the_same_calls_give_the_same_forms_and_memories(mem0, twin):
    both = {"ours": mem0, "theirs": twin}
    added = {name: one.add(TALK, **ANA, metadata={"place": "Porto"}, infer=False) for name, one in both.items()}
    for told in added.values():
        for one in told["results"]:
            one["actor_id"] = one["actor_id"] or ""
    assert form(added["ours"]) == form(added["theirs"])
    without = ("id",)
    ours, theirs = (
        [{key: value for key, value in one.items() if key not in without} for one in added[name]["results"]]
        for name in both
    )
    assert ours == theirs
    found = {name: one.search("Who is my dentist?", filters=ANA, threshold=0.0) for name, one in both.items()}
    assert texts(found["ours"]) == texts(found["theirs"])
    listed = {name: one.get_all(filters=ANA) for name, one in both.items()}
    assert texts(listed["ours"]) == texts(listed["theirs"])
    for one in listed["theirs"]["results"]:
        (own,) = (own for own in listed["ours"]["results"] if own["memory"] == one["memory"])
        assert set(one) - set(own) == set(), f"mem0 tells {set(one) - set(own)} too"
        assert (own["hash"], own["metadata"], own["role"]) == (one["hash"], one["metadata"], one["role"])
    for name, one in both.items():
        first = added[name]["results"][0]["id"]
        assert one.update(first, "I moved to Porto.") == {"message": "Memory updated successfully!"}
        assert one.get(first)["memory"] == "I moved to Porto."
        assert one.delete(first) == {"message": "Memory deleted successfully!"}
        assert one.get(first) is None
        events = [change["event"] for change in one.history(first)]
        assert events == ["ADD", "UPDATE", "DELETE"], name
        assert one.delete_all(**ANA) == {"message": "Memories deleted successfully!"}
        assert one.get_all(filters=ANA) == {"results": []}


@pytest.mark.mem0
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", WRONG, ids=range(len(WRONG)))
def test_mem0_refuses_the_same(twin, call):
    from mem0.exceptions import ValidationError

    with pytest.raises((ValueError, ValidationError)):
        call(twin)


@pytest.mark.mem0
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("taken", TAKEN[:2], ids=range(2))
def test_mem0_takes_and_passes_over_the_same(twin, taken):
    (made,) = twin.add([*SKIPPED, taken], **ANA, infer=False)["results"]
    assert (made["memory"], made["role"]) == ("I like figs.", "user")
