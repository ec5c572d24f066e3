"""What a reader was shown is counted beside the reads, for each reader alone, and costs nothing where nobody asks."""

from datetime import timedelta

import pytest

from memgraph_engine import Memory, Settings
from memgraph_engine.asking import write_behind
from memgraph_engine.graph import usage
from memgraph_engine.graph.rows import made
from memgraph_engine.lifecycle import utility
from memgraph_engine.lifecycle.policies import Policy
from memgraph_engine.model.usage import Usage
from tests.clocks import BEGIN
from tests.test_erasure import killed_at, rows

DAY = timedelta(days=1)
ANA = {"user_id": "ana"}
HERON, TIDE = "The heron eats fish at the old harbour.", "The tide turns at noon."


@pytest.fixture
def connected(tenant, embedder, clock):
    """Connect to the memory of this test with settings of one's own."""
    some = []

    def connect(record="on", **settings):
        given = Settings.load(**{"use": {"record": record}, **settings})
        some.append(Memory.connect(tenant=tenant, embedder=embedder, clock=clock, settings=given))
        return some[-1]

    yield connect
    for one in some:
        one.close()


def counted(memory, user="ana"):
    """How a user has used notes, by their ids, after all that waits was written."""
    memory._reader._use.write()
    return written(memory, user)


def written(memory, user="ana"):
    """The same, without what waits."""
    times = ", ".join(f"{name}: u.{name}.epochMillis" for name in ("scored_at", "last_shown", "last_used"))
    query = f"MATCH (u:Usage {{scope: $scope}}) RETURN u.id AS id, u {{.shown, .used, .utility, {times}}} AS usage"
    return {row["id"]: made(Usage, row["usage"]) for row in rows(memory, query, scope=scope(memory, user))}


def scope(memory, user):
    return memory._scope(user, shared=user is None).name


def note(receipt):
    return receipt.entries[0].note


def test_a_context_counts_what_it_shows_and_a_search_counts_nothing(connected):
    memory = connected()
    heron = note(memory.add(HERON, **ANA))
    memory.search("What does the heron eat?", **ANA)
    assert counted(memory) == {}
    for _ in range(2):
        shown = memory.context("What does the heron eat?", **ANA)
    assert [entry.note.id for entry in shown.entries] == [heron]
    assert counted(memory) == {heron: Usage(30, BEGIN, shown=2, last_shown=BEGIN)}
    assert memory.stats(**ANA).used == 1


def test_an_answer_counts_what_it_shows(connected):
    memory = connected()
    heron = note(memory.add(HERON, **ANA))
    assert memory.answer("What does the heron eat?", **ANA).text is None  # there is no model
    assert {one: use.shown for one, use in counted(memory).items()} == {heron: 1}


@pytest.mark.parametrize("record", ["auto", "off"])
def test_nothing_is_counted_where_nothing_reads_it(connected, record):
    memory = connected(record)
    memory.add(HERON, **ANA)
    memory.context("What does the heron eat?", **ANA)
    assert counted(memory) == {}
    assert memory.stats(**ANA).used == 0


def test_it_is_counted_where_a_class_ends_with_its_use(connected, tmp_path):
    path = tmp_path / "policies.yaml"
    path.write_text("default: once\nclasses:\n  once: {ttl: none, uses: 1}\n")
    memory = connected("auto", lifecycle={"policies": str(path)})
    memory.add(HERON, **ANA)
    memory.context("What does the heron eat?", **ANA)
    assert len(counted(memory)) == 1


def test_counting_makes_no_writer_stale(connected):
    memory = connected()
    memory.add(HERON, **ANA)
    before = memory.stats(**ANA).version
    memory.context("What does the heron eat?", **ANA)
    assert counted(memory)
    assert memory.stats(**ANA).version == before


def test_each_reader_of_a_shared_note_has_a_count_of_his_own(connected):
    memory = connected()
    heron = note(memory.add(HERON, shared=True))
    for user, times in (("ana", 1), ("bo", 2), ("nobody", 1)):
        if user != "nobody":
            memory.add("Hello, I am new here and like boats.", user_id=user)
        for _ in range(times):
            memory.context("What does the heron eat?", user_id=user)
    assert [counted(memory, user)[heron].shown for user in ("ana", "bo")] == [1, 2]
    assert counted(memory, None) == counted(memory, "nobody") == {}


def test_what_waits_is_written_when_the_memory_is_closed(connected):
    memory = connected()
    heron = note(memory.add(HERON, **ANA))
    memory.context("What does the heron eat?", **ANA)
    memory.close()
    assert counted(connected())[heron].shown == 1


class Held:
    """A timer that rings when the test says so."""

    made: list["Held"] = []  # noqa: RUF012

    def __init__(self, seconds, ring):
        self.seconds, self.ring, self.cancelled = seconds, ring, False
        self.made.append(self)

    def start(self):
        pass

    def cancel(self):
        self.cancelled = True


def test_what_waits_is_written_after_five_seconds_or_when_it_is_much(connected, monkeypatch):
    monkeypatch.setattr(write_behind, "Timer", Held)
    monkeypatch.setattr(Held, "made", [])
    memory = connected()
    heron = note(memory.add(HERON, **ANA))
    kept = memory.get(heron, **ANA)
    memory._reader._use.shown(memory._scope("ana", shared=False), [kept])
    memory._reader._use.shown(memory._scope("ana", shared=False), [kept])
    (first,) = Held.made
    assert first.seconds == 5
    first.ring()
    assert written(memory)[heron].shown == 2
    memory._reader._use.shown(memory._scope("ana", shared=False), [kept] * 100)
    assert [one.seconds for one in Held.made] == [5, 0]


def test_what_waits_is_written_by_itself(connected):
    memory = connected()
    heron = note(memory.add(HERON, **ANA))
    memory._reader._use.shown(memory._scope("ana", shared=False), [memory.get(heron, **ANA)] * 100)
    memory._reader._use._timer.join()
    assert written(memory)[heron].shown == 100


def test_a_count_that_cannot_be_written_disturbs_no_read_and_is_told_once(connected, monkeypatch, caplog):
    from memgraph_engine.errors import QueryFailed

    def refused(*_):
        raise QueryFailed("Neo.ClientError.Security.Forbidden", "This account may only read.")

    memory = connected()
    memory.add(HERON, **ANA)
    monkeypatch.setattr(usage, "change", refused)
    for _ in range(2):
        assert memory.context("What does the heron eat?", **ANA).entries
        memory._reader._use.write()
    assert [one.getMessage().count("may only read") for one in caplog.records] == [1]


def test_what_was_erased_meanwhile_is_not_counted(connected):
    memory = connected()
    heron = note(memory.add(HERON, **ANA, id="m1"))
    assert [entry.note.id for entry in memory.context("What does the heron eat?", **ANA).entries] == [heron]
    memory.erase(memory.forget(source="m1", **ANA))
    assert counted(memory) == {}


def test_an_erasure_forgets_how_anybody_used_the_note(connected):
    memory = connected()
    heron = note(memory.add(HERON, shared=True, id="m1"))
    tide = note(memory.add(TIDE, shared=True, id="m2"))
    for user in ("ana", "bo"):
        memory.add("Good night!", user_id=user)
        memory.context("What does the heron eat at the harbour?", user_id=user)
        memory.context("When does the tide turn?", user_id=user)
    assert set(counted(memory)) == set(counted(memory, "bo")) == {heron, tide}
    memory.erase(memory.forget(source="m1", shared=True))
    assert set(counted(memory)) == set(counted(memory, "bo")) == {tide}
    memory.erase(memory.forget(everything=True, shared=True))
    assert counted(memory) == counted(memory, "bo") == {}


def test_what_was_counted_of_a_note_since_its_erasure_was_cut_off_stays(connected, clock, monkeypatch):
    memory = connected()
    note(memory.add(TIDE, shared=True, id="m2"))
    heron = note(memory.add(HERON, shared=True, id="m1"))
    memory.add("Good night!", **ANA)
    for question in ("What does the heron eat at the harbour?", "When does the tide turn?"):
        memory.context(question, **ANA)
    assert len(counted(memory)) == 2
    killed_at(memory, monkeypatch, "memgraph_engine.graph.usage.forget_all", shared=True, everything=True)
    clock.later(DAY)
    assert note(memory.add(HERON, shared=True, id="m1")) == heron
    memory.context("What does the heron eat at the harbour?", **ANA)
    memory.sweep(shared=True)
    assert set(counted(memory)) == {heron}


def test_a_user_who_is_erased_leaves_no_count(connected):
    memory = connected()
    memory.add(HERON, shared=True)
    memory.add(TIDE, **ANA)
    memory.context("What does the heron eat?", **ANA)
    assert counted(memory)
    memory.erase(memory.forget(everything=True, **ANA))
    assert counted(memory) == {}


# ---- utility ------------------------------------------------------------------------------------


def lived(start, *outcomes):
    """The utilities of a note over some answers."""
    one, told = Usage(start, BEGIN), []
    for outcome in outcomes:
        one = utility.judged(one, outcome, BEGIN)
        told.append(one.utility)
    return told


def test_four_sessions_go_as_in_memoryarchitect():
    """Section III.B: A tells of the sun, B of watering, C of the soil, D of yellow leaves, and A1 is a chat's."""
    assert lived(50, "used", "unused") == [60, 55]  # A
    assert lived(50, "used", "used", "used") == [60, 70, 75]  # B
    assert lived(50, "unused") == [45]  # C
    assert lived(50, "used") == [60]  # D
    assert lived(30, "unused") == [28]  # A1


def test_a_utility_stays_within_its_bounds():
    assert lived(98, "used") == [100]
    assert lived(1, "unused") == [0]
    assert lived(50, "contradicted", "contradicted") == [20, 0]
    assert lived(50, "shown") == [50]


def test_a_message_starts_lower_than_a_document_and_a_class_may_say_where(connected):
    memory = connected()
    said = memory.get(note(memory.add(HERON, **ANA)), **ANA)
    read = memory.get(note(memory.add(TIDE, kind="document", **ANA)), **ANA)
    assert [utility.fresh(Policy("a"), one).utility for one in (said, read)] == [30, 50]
    assert [utility.fresh(Policy("a", start=70), one).utility for one in (said, read)] == [70, 70]


def test_what_is_not_shown_loses_one_in_thirty_days(connected, clock):
    memory = connected()
    heron = note(memory.add(HERON, **ANA))
    clock.now += 95 * DAY
    memory.context("What does the heron eat?", **ANA)
    assert counted(memory)[heron].utility == 27
    clock.now += 29 * DAY
    assert utility.current(counted(memory)[heron], clock.now) == 27
    clock.now += DAY
    assert utility.current(counted(memory)[heron], clock.now) == 26
