"""A policy file is read as it is meant, or refused with the place of the mistake and what was expected."""

import sys
import time
from datetime import UTC, datetime, timedelta

import pytest

from memgraph_engine import InvalidInput, PolicyError, Settings, SettingsError
from memgraph_engine.lifecycle.file import policies
from memgraph_engine.lifecycle.policies import Extension, Life, Policies, Policy, Rule, outlives, quoted
from memgraph_engine.model.memory import NEVER, Source

NOW = datetime(2024, 5, 1, tzinfo=UTC)
DAY = timedelta(days=1)
GOOD = (
    "default: a\nclasses:\n  a: {ttl: none}\n  b: {ttl: 90m, from: said, at_end: erase, restart: false, join: false}\n"
)


def read(tmp_path, text):
    path = tmp_path / "policies.yaml"
    path.write_text(text)
    policies.cache_clear()
    return policies(str(path))


def test_the_shipped_policies_are_good():
    default, paper = policies("default"), policies("memoryarchitect")
    assert list(default.classes) == list(paper.classes)
    assert default.classes["factual"] == Policy("factual")
    assert default.rules == ()
    assert paper.classes["factual"].ttl == 30 * DAY


def test_a_file_is_read(tmp_path):
    rules = "rules:\n  - {when: {kind: document, tags: [x]}, class: b}\n  - {when: {pattern: '(?i)code'}, class: a}\n"
    found = read(tmp_path, GOOD + rules)
    assert found.default == "a"
    assert found.classes["b"] == Policy(
        "b", timedelta(minutes=90), said=True, at_end="erase", restart=False, join=False
    )
    assert found.rules[0] == Rule("b", kind="document", tags=("x",))
    assert found.rules[1].pattern.search("My CODE")


def test_a_rule_goes_by_what_a_message_says(tmp_path):
    """As in the file of MemoryArchitect: small talk is ephemeral, and a request is bound to its intent."""
    found = policies("memoryarchitect")
    said = {
        "Thanks a lot! See you soon.": "ephemeral",
        "Book a table for two tonight, please.": "intent-bound",
        "What is there to know about growing tomatoes?": "intent-bound",
        "Vielen Dank, bis bald!": "ephemeral",
        "Reserva una mesa para dos, por favor.": "intent-bound",
        "My tomatoes have yellow leaves. What could be wrong?": "factual",
        "I water the tomatoes twice a week.": "factual",
        "I'm vegan. What can I cook tonight?": "factual",
        "Remember that I am diabetic.": "factual",
        "Please don't give me nuts.": "factual",
        "Did you know that I'm allergic to peanuts?": "factual",
    }
    assert {text: found.of(Source("1", text, "")).name for text in said} == said
    assert found.of(Source("1", "Where is Ana?", "", kind="document")).name == "canonical"
    with pytest.raises(PolicyError, match="'lies' is none of small-talk, request"):
        read(tmp_path, GOOD + "rules:\n  - {when: {says: lies}, class: a}\n")


def test_what_counts_use_is_read(tmp_path):
    given = "uses: 1, extend: {above: 80, by: 30d}, boost: -0.5, half_life: none, start: 70, prune: false, evict: false"
    found = read(tmp_path, f"default: a\nclasses:\n  a: {{{given}}}\n  b: {{uses: none, boost: 1}}")
    assert found.classes["a"] == Policy(
        "a",
        uses=1,
        extend=Extension(80, 30 * DAY),
        boost=-0.5,
        half_life=None,
        start=70,
        prune=False,
        evict=False,
    )
    assert found.classes["b"] == Policy("b", boost=1.0)


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("", "", "it is empty; classes and a default are expected"),
        ("classes: [", "line 1, column 11", "this is no YAML"),
        ("[" * 10_000, "", "nested too deeply"),
        ("- a", "line 1, column 1", "the file must be a mapping"),
        ("default: a", "line 1, column 1", "classes is missing"),
        ("classes:\n  a: {ttl: none}", "line 1, column 1", "default is missing"),
        ("default: a\nclasses: {}", "line 2, column 10", "at least one is expected"),
        (GOOD + "clases: {}", "line 5, column 1", "unknown key 'clases'; the keys are default, classes, rules"),
        ("default: c\nclasses: {a: {}}", "line 1, column 10", "there is no class 'c'; the classes are a"),
        ("default: a\nclasses:\n  a: {tll: 3d}", "line 3, column 7", "the class a has the unknown key 'tll'"),
        ("default: a\nclasses:\n  a: {ttl: 0d}", "line 3, column 12", "'0d' is no duration; none, or a number above 0"),
        ("default: a\nclasses:\n  a: {ttl: -3d}", "line 3, column 12", "'-3d' is no duration"),
        ("default: a\nclasses:\n  a: {ttl: 30}", "line 3, column 12", "'30' is no duration"),
        ("default: a\nclasses:\n  a: {at_end: hide}", "line 3, column 15", "'hide' is none of archive, erase"),
        ("default: a\nclasses:\n  a: {join: maybe}", "line 3, column 13", "true or false is expected"),
        ("default: a\nclasses:\n  a: {at_end: erase, archive: 3d}", "line 3, column 31", "archive has no meaning"),
        ("default: a\nclasses:\n  a: {boost: 1.5}", "line 3, column 14", "'1.5' is no number from -1 to 1"),
        ("default: a\nclasses:\n  a: {boost: nan}", "line 3, column 14", "'nan' is no number from -1 to 1"),
        ("default: a\nclasses:\n  a: {uses: 0}", "line 3, column 13", "'0' is no whole number from 1 to 1,000,000"),
        ("default: a\nclasses:\n  a: {start: 101}", "line 3, column 14", "'101' is no whole number from 0 to 100"),
        ("default: a\nclasses:\n  a: {half_life: 0d}", "line 3, column 18", "'0d' is no duration"),
        ("default: a\nclasses:\n  a: {evict: 3}", "line 3, column 14", "true or false is expected"),
        ("default: a\nclasses:\n  a: {extend: 30d}", "line 3, column 15", "extend must be a mapping"),
        ("default: a\nclasses:\n  a: {extend: {above: 80}}", "line 3, column 15", "extend needs by"),
        ("default: a\nclasses:\n  a: {extend: {above: 80, by: none}}", "line 3, column 31", "needs a time, not none"),
        ("default: a\nclasses:\n  a: {extend: {above: 49, by: 3d}}", "line 3, column 15", "start with, 50"),
        ("default: a\nclasses:\n  a: {start: 60, extend: {above: 59, by: 3d}}", "line 3, column 26", "start with, 60"),
        ("default: a\nclasses:\n  a: {}\n  a: {}", "line 4, column 3", "'a' comes twice"),
        ("default: a\nclasses:\n  'a b': {}", "line 3, column 3", "no name of a class"),
        ("default: a\nclasses:\n  a:", "line 3, column 5", "the class a must be a mapping"),
        (GOOD + "rules: {}", "line 5, column 8", "rules must be a list"),
        (GOOD + "rules:\n- {when: {role: user}}", "line 6, column 3", "a rule needs class"),
        (GOOD + "rules:\n- {when: {}, class: a}", "line 6, column 10", "a rule without a condition fits all"),
        (GOOD + "rules:\n- {when: {role: user}, class: z}", "line 6, column 31", "there is no class 'z'"),
        (GOOD + "rules:\n- {when: {kind: mail}, class: a}", "line 6, column 17", "'mail' is none of message"),
        (GOOD + "rules:\n- {when: {pattern: '('}, class: a}", "line 6, column 20", "no regular expression"),
        (GOOD + 'rules:\n- {when: {pattern: "\\ud800"}, class: a}', "line 6, column 20", "is no text"),
        (
            GOOD + "rules:\n- {when: {pattern: '(a)\\1'}, class: a}",
            "line 6, column 20",
            "of RE2: invalid escape sequence",
        ),
        (GOOD + "rules:\n- {when: {pattern: '(?<!a)b'}, class: a}", "line 6, column 20", "invalid perl operator: (?<!"),
        (GOOD + "rules:\n- {when: {pattern: '(a{99}){99}'}, class: a}", "line 6, column 20", "no regular expression"),
        (GOOD + "rules:\n- {when: {pattern: '[^b]{900}b'}, class: a}", "line 6, column 20", "takes too long"),
        (GOOD + "rules:\n- {when: {colour: red}, class: a}", "line 6, column 11", "unknown key 'colour'"),
    ],
)
def test_a_file_that_is_wrong_is_refused(tmp_path, text, place, said):
    with pytest.raises(PolicyError) as error:
        read(tmp_path, text)
    assert str(error.value).startswith(f"{tmp_path / 'policies.yaml'}{', ' if place else ''}{place}: ")
    assert said in str(error.value)
    assert isinstance(error.value, SettingsError)


def test_without_its_engine_a_pattern_is_refused_and_a_file_without_one_is_read(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "re2", None)
    with pytest.raises(
        PolicyError, match=r"line 6, column 20: A pattern needs .* pip install 'memgraph-engine\[patterns\]'"
    ):
        read(tmp_path, GOOD + "rules:\n- {when: {pattern: 'a'}, class: a}")
    assert read(tmp_path, GOOD + "rules:\n- {when: {role: user}, class: a}").rules


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|a)*b", "(a|aa)+$", "(.*a){20}c", "([a-z]+)*!", "(?:a?){300}a{300}c", "a.{200}c"]
)
@pytest.mark.parametrize("unit", ["a", "ab", "aé "])
def test_no_pattern_hangs(tmp_path, pattern, unit):
    rule = read(tmp_path, GOOD + f"rules:\n- {{when: {{pattern: '{pattern}'}}, class: a}}").rules[0]
    started = time.process_time()
    rule.fits(Source("1", unit * (500_000 // len(unit)) + "\n", ""))
    assert time.process_time() - started < 10


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(PolicyError, match="can't be read: No such file"):
        policies(str(tmp_path / "none.yaml"))
    with pytest.raises(SettingsError, match=r"lifecycle\.policies"):
        Settings.load(lifecycle={"policies": ""})


def test_a_rule_fits_what_has_all_of_it():
    source = Source("1", "Buy bread.", "", role="user", speaker="Ana", tags=("a", "b"))
    assert Rule("x", role="user", tags=("a",)).fits(source)
    assert not Rule("x", role="user", tags=("a", "c")).fits(source)
    assert not Rule("x", role="assistant").fits(source)


def test_a_life_counts_from_when_it_was_stored_or_said():
    said = Source("1", "Hi.", "", said_at=NOW - 5 * DAY)
    stored, spoken = Policy("a", 7 * DAY), Policy("a", 7 * DAY, said=True)
    for policy, ends in ((stored, NOW + 7 * DAY), (spoken, NOW + 2 * DAY)):
        found = Policies("a", {"a": policy}).assigned(said, "message 0", NOW)
        assert found.expires_at == ends


def test_what_erases_counts_from_when_it_was_said():
    erasing = Policies("a", {"a": Policy("a", 7 * DAY, at_end="erase")})
    found = erasing.assigned(Source("1", "Hi.", "", said_at=NOW - 5 * DAY), "message 0", NOW)
    assert found.expires_at == found.erase_at == NOW + 2 * DAY
    with pytest.raises(InvalidInput, match="counts from when it was said"):
        erasing.assigned(Source("1", "Hi.", "", said_at=NOW - 8 * DAY), "message 0", NOW)


def test_a_life_beyond_the_calendar_has_no_end():
    assert Policy("a", 900_000 * DAY * 4).life(NOW) == Life("a")
    assert Policy("a").life(NOW) == Life("a", NEVER, NEVER)


@pytest.mark.parametrize(
    ("new", "known", "joins"),
    [
        (("a", NEVER), ("a", NEVER), True),
        (("a", NOW + DAY), ("a", NOW), True),
        (("a", NOW), ("a", NOW + DAY), False),
        (("a", NOW), ("b", NOW), False),
        (("b", NOW + DAY), ("b", NOW), False),
        (("b", NOW), ("b", NOW), True),
        (("c", NOW), ("c", NOW), False),
        (("gone", NOW), ("gone", NOW), True),
    ],
)
def test_what_joins_neither_dies_early_nor_lives_on(new, known, joins):
    classes = {"a": Policy("a"), "b": Policy("b", restart=False), "c": Policy("c", join=False)}
    assert Policies("a", classes).joins(new, known) == joins


def test_only_what_ends_no_earlier_is_quoted():
    short, long = (Source(name, "Hi.", "", expires_at=ends) for name, ends in (("s", NOW), ("l", NEVER)))
    assert outlives(long, short)
    assert quoted(long, short) is long
    assert quoted(short, long) is None
    assert quoted(None, long) is None
    assert quoted(Source("e", "Hi.", "", erase_at=NOW), long) is None
