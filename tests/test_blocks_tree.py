"""The tree of blocks in memory: leaves, linkage, ids, intervals, selection, schemas."""

import doctest
import importlib
import json

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist

from memgraph_engine.blocks.fields import nested
from memgraph_engine.blocks.linkage import Dendrogram, average_linkage, rounded
from memgraph_engine.blocks.reading import branch_aware
from memgraph_engine.blocks.schema import schema
from memgraph_engine.blocks.tree import Placed, segments, tree, units
from memgraph_engine.errors import SettingsError
from memgraph_engine.model.block import LONGEST

ROOM = ("fields", "linkage", "schema", "tree")


@pytest.mark.parametrize("name", ROOM)
def test_docstring_examples(name):
    assert doctest.testmod(importlib.import_module(f"memgraph_engine.blocks.{name}")).failed == 0


# ---- linkage --------------------------------------------------------------------------------


def crowd(n, seed, dimensions=32):
    """Vectors in some clusters, so that distances differ much."""
    chance = np.random.default_rng(seed)
    middles = 2 * chance.normal(size=(max(n // 20, 1), dimensions))
    return chance.normal(size=(n, dimensions)) + middles[chance.integers(0, len(middles), n)]


def merged(pairs, n):
    """Return each merge as the set of its members, with its place."""
    members = [frozenset([one]) for one in range(n)]
    for a, b in np.asarray(pairs, dtype=int).tolist():
        members.append(members[a] | members[b])
    return members[n:]


@pytest.mark.parametrize(("n", "seed"), [(2, 0), (3, 1), (36, 2), (500, 3), (2000, 4)])
def test_the_linkage_is_scipys(n, seed):
    vectors = crowd(n, seed)
    ours, theirs = average_linkage(vectors), linkage(pdist(vectors, "cosine"), "average")
    found = dict(zip(merged(ours.pairs, n), ours.heights, strict=True))
    expected = dict(zip(merged(theirs[:, :2], n), theirs[:, 2], strict=True))
    assert found.keys() == expected.keys()
    assert all(abs(found[one] - height) < 1e-8 for one, height in expected.items())


def test_many_equal_vectors_are_linked_by_their_numbers():
    found = average_linkage(np.ones((6, 3)))
    assert found.pairs.tolist() == [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]]
    assert not found.heights.any()


@pytest.mark.parametrize("seed", range(5))
def test_the_distance_of_equal_vectors_has_no_sign(seed):
    vectors = np.repeat(crowd(9, seed), 3, axis=0).astype(np.float32)
    assert not np.signbit(average_linkage(vectors).heights).any()
    assert not np.signbit(rounded(np.array([-1e-12, -0.0, 1e-12]))).any()


def test_one_vector_is_a_tree_by_itself():
    assert average_linkage(np.ones((1, 3))).pairs.shape == (0, 2)


def test_too_many_for_the_exact_form_are_linked_in_parts_whole_and_repeatably(monkeypatch):
    monkeypatch.setattr("memgraph_engine.blocks.linkage._PART", 400)
    vectors = crowd(900, 5, 8)
    found, again = average_linkage(vectors, exact=800), average_linkage(vectors, exact=800)
    assert len(merged(found.pairs, 900)[-1]) == 900
    assert (found.pairs == again.pairs).all()


# ---- units and leaves -----------------------------------------------------------------------

TALKS = st.lists(st.tuples(st.sampled_from(["", "a", "b"]), st.integers(0, 99)), max_size=130)


@given(TALKS, st.integers(0, 2**32 - 1), st.integers(1, 6))
@settings(max_examples=60, deadline=None)
def test_leaves_hold_each_note_once_in_order_and_few_a_unit(talks, seed, most):
    notes = [Placed(f"n{at}", session, seq, at, 1) for at, (session, seq) in enumerate(talks)]
    vectors = np.random.default_rng(seed).normal(size=(len(notes), 4))
    found = units(notes)
    assert sorted(at for unit in found for at in unit) == list(range(len(notes)))
    for unit in found:
        assert 1 <= len(unit) <= LONGEST
        assert len({notes[at].session for at in unit}) == 1
        starts = segments(vectors[unit], most)
        assert starts[0] == 0
        assert starts[-1] == len(unit)
        assert starts == sorted(set(starts))
        assert len(starts) - 1 <= most


def test_a_talk_is_cut_where_its_subject_changes():
    boats, bread = [[1.0, 0.1 * n, 0] for n in range(3)], [[0, 0.1 * n, 1.0] for n in range(4)]
    assert segments(np.array([*boats, *bread]), most=2) == [0, 3, 7]


# ---- the tree -------------------------------------------------------------------------------


def built(talks, seed, scope="acme/ana"):
    notes = [Placed(f"n{at}", session, seq, at, 1) for at, (session, seq) in enumerate(talks)]
    vectors = np.random.default_rng(seed).normal(size=(len(notes), 8))
    return notes, vectors, tree(scope, notes, vectors)


@given(TALKS, st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_intervals_nest_as_the_nodes_do(talks, seed):
    _, _, made = built(talks, seed)
    of = {node.id: node for node in made.nodes}
    assert len(of) == len(made.nodes)
    for node in made.nodes:
        above, at = set(), node
        while at.parent is not None:
            at = of[at.parent]
            above.add(at.id)
        assert above | {node.id} == {
            one.id for one in made.nodes if one.entered <= node.entered and node.left <= one.left
        }
        below = [one for one in made.nodes if node.entered <= one.entered <= node.left]
        assert node.notes == sum(len(one.own) for one in below)
        assert node.leaves == sum(bool(one.own) for one in below)
        assert bool(node.own) == (node.level == 0)
    assert sum(node.parent is None for node in made.nodes) == bool(talks)


@given(TALKS, st.integers(0, 2**32 - 1), st.randoms())
@settings(max_examples=40, deadline=None)
def test_the_same_notes_give_the_same_ids_in_whatever_order_they_come(talks, seed, chance):
    notes, vectors, made = built(talks, seed)
    order = list(range(len(notes)))
    chance.shuffle(order)
    again = tree("acme/ana", [notes[at] for at in order], vectors[order])
    assert [(node.id, node.made_from) for node in again.nodes] == [(node.id, node.made_from) for node in made.nodes]
    assert np.allclose(again.vectors, made.vectors)


def test_another_version_of_a_note_leaves_the_ids_and_is_told_by_what_they_are_made_from():
    notes, vectors, made = built([("a", n) for n in range(12)], 3)
    notes[5] = Placed("n5", "a", 5, 5, 2)
    again = tree("acme/ana", notes, vectors)
    assert [node.id for node in again.nodes] == [node.id for node in made.nodes]
    differ = {one.id for one, two in zip(made.nodes, again.nodes, strict=True) if one.made_from != two.made_from}
    leaf = next(node for node in made.nodes if "n5" in node.own)
    assert differ == {one.id for one in made.nodes if one.entered <= leaf.entered and leaf.left <= one.left}


def test_two_memories_have_no_block_in_common():
    ours, theirs = built([("a", n) for n in range(30)], 1)[2], built([("a", n) for n in range(30)], 1, "acme/bo")[2]
    assert {node.id for node in ours.nodes}.isdisjoint(node.id for node in theirs.nodes)


@pytest.mark.parametrize("seed", range(3))
def test_what_all_notes_have_in_common_draws_them_into_no_single_block(seed):
    """As code does, which is near to all other code: of twelve blocks the largest holds half at most."""
    draw = np.random.default_rng(seed)
    vectors = draw.normal(size=(240, 32)) * (1 + 2 * draw.random((240, 1))) + 4 * draw.normal(size=32)
    nodes = tree("acme/ana", [Placed(f"n{at:03}", f"s{at}", 0, at, 1) for at in range(240)], vectors).nodes
    known, cut = {node.id: node for node in nodes}, [nodes[0]]
    while len(cut) < 12:
        cut.remove(widest := max((node for node in cut if node.parts), key=lambda node: node.height))
        cut += [known[part] for part in widest.parts]
    assert max(node.notes for node in cut) <= 120


def test_a_tree_deeper_than_the_stack_is_walked(monkeypatch):
    n = 3000
    chain = Dendrogram(np.array([[n + at - 1 if at else 0, at + 1] for at in range(n - 1)]), np.zeros(n - 1))
    monkeypatch.setattr("memgraph_engine.blocks.tree.average_linkage", lambda *_, **__: chain)
    made = tree("acme/ana", [Placed(f"n{at:05}", f"s{at:05}", 0, at, 1) for at in range(n)], np.ones((n, 2)))
    assert (made.nodes[0].level, made.nodes[0].entered, made.nodes[0].left) == (n - 1, 0, 2 * n - 2)


def test_no_block_is_nearer_in_itself_than_its_parts_are_also_where_it_is_linked_in_parts(monkeypatch):
    monkeypatch.setattr("memgraph_engine.blocks.linkage._PART", 400)
    vectors = crowd(900, 6, 4)
    notes = [Placed(f"n{at:05}", f"s{at:05}", 0, at, 1) for at in range(len(vectors))]
    made = tree("acme/ana", notes, vectors, exact=500)
    heights = {node.id: node.height for node in made.nodes}
    assert all(heights[node.parent] >= node.height for node in made.nodes if node.parent)


# ---- selection ------------------------------------------------------------------------------


class Ranked:
    def __init__(self, scope, node):
        self.scope, self.entered, self.left = scope, node.entered, node.left


@given(TALKS, st.integers(0, 2**32 - 1), st.randoms(), st.integers(1, 12))
@settings(max_examples=60, deadline=None)
def test_no_selected_block_holds_another_and_each_left_out_is_on_a_branch_of_a_better_one(talks, seed, chance, k):
    made = built(talks, seed)[2]
    ranked = [Ranked(scope, node) for scope in ("mine", "shared") for node in made.nodes]
    chance.shuffle(ranked)
    chosen = branch_aware(ranked, k)

    def related(one, two):
        inside = one.entered <= two.entered and two.left <= one.left
        return one.scope == two.scope and (inside or (two.entered <= one.entered and one.left <= two.left))

    assert len(chosen) <= k
    assert not any(related(one, two) for one in chosen for two in chosen if one is not two)
    for at, one in enumerate(ranked):
        better = [two for two in ranked[:at] if two in chosen]
        assert (one in chosen) == (len(better) < k and not any(related(one, two) for two in better))


# ---- schemas --------------------------------------------------------------------------------

GOOD = """
most = 3

[[field]]
name = "told"
type = "text"
meaning = "What is told."
local = "gist"
embed = true

[[field]]
name = "who"
type = "list"
meaning = "Who speaks."
local = "people"
"""


INLINE = 'name = "a", type = "text", meaning = "It.", local = "gist", embed = true'


def written(folder, text):
    path = folder / "own.toml"
    path.write_text(text, "utf-8")
    return str(path)


def test_a_schema_of_ones_own_is_data(tmp_path):
    own = schema(written(tmp_path, GOOD))
    assert (own.most, [field.name for field in own.field]) == (3, ["told", "who"])


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        (
            'type = "text"',
            'type = "prose"',
            6,
            "field 1: type has to be text, list, notes, salient or dates, not 'prose'",
        ),
        ('type = "text"', 'type = "list"', 4, "makes a field of the type 'text'"),
        ('local = "people"', 'local = "crowd"', 15, "field 2: local has to be one of gist, "),
        ("embed = true", "embed = false", 4, "no field is embedded"),
        ("embed = true", 'embed = "yes"', 9, "field 1: embed has to be true or false, not 'yes'"),
        ("embed = true", "embed = 1", 9, "field 1: embed has to be true or false, not the number 1"),
        ("most = 3", "most = 0", 2, "most has to be a whole number from 1 to 40, not the number 0"),
        ("most = 3", "most = true", 2, "most has to be a whole number from 1 to 40, not True"),
        ("most = 3", 'most = "5"', 2, "most has to be a whole number from 1 to 40, not '5'"),
        ("most = 3", "", 1, "most is missing; it is a whole number from 1 to 40"),
        ("most = 3", "many = 3", 2, "there is no key 'many', only most and field"),
        ('meaning = "Who speaks."', "", 11, "field 2: meaning is missing"),
        (
            'meaning = "Who speaks."',
            'sense = "Who speaks."',
            14,
            "field 2: there is no key 'sense', only name and type",
        ),
        ('meaning = "Who speaks."', 'meaning = "  "', 14, "field 2: meaning has to be words that say"),
        ('meaning = "Who speaks."', 'meaning = """\n[[field]]\nlocal = 3\n"""\nkinds = 3', 18, "no key 'kinds'"),
        ('meaning = "Who speaks."', 'meaning = "It." # kinds = 3\n"kinds" = 3', 15, "no key 'kinds'"),
        ('local = "people"', 'local = "people"\nkinds = 3', 16, "field 2: there is no key 'kinds'"),
        ('local = "people"', 'local = "people"\nfield.color = 3', 11, "field 2: there is no key 'field'"),
        ('name = "who"', 'name = "told"', 12, "the field 'told' comes twice"),
        ('name = "who"', 'name = "Who is it"', 12, "name has to be small letters, digits and _"),
        ("[[field]]", "[[fields]]", 4, "there is no key 'fields', only most and field"),
        (
            GOOD,
            "most = 3\nfield = 3\n",
            2,
            "field has to be one or more tables, each headed [[field]], not the number 3",
        ),
        (GOOD, "most = 3\n\n[field]\nname = 'a'", 3, "each headed [[field]], not a single table"),
        (GOOD, "most = 3\nfield = [\n  3,\n]", 2, "field 1: this is the number 3, where a table [[field]] has to be"),
        (GOOD, "most = 3\nfield = []", 2, "each headed [[field]], not empty"),
        (
            GOOD,
            f"most = 3\nfield = [\n  {{ {INLINE} }},\n  {{ {INLINE}, most = 1 }},\n]",
            4,
            "field 2: there is no key 'most'",
        ),
        (GOOD, f"most = 3\nfield = [{{{INLINE}}}, {{{INLINE}}}]", 2, "the field 'a' comes twice"),
        (GOOD, f"most = 3\nfield = [\n  {{ {INLINE} }},\n  {{ {INLINE} }},\n]", 4, "the field 'a' comes twice"),
        (
            GOOD,
            'most = 3\n[[field]]\nname = "a"\ntype = "dates"\nmeaning = "When."\nlocal = "span"\nembed = true\n',
            2,
            "field 1: dates are in no vector, so embed can't be true",
        ),
    ],
)
def test_a_wrong_schema_is_refused_by_file_and_line(tmp_path, old, new, line, said):
    assert old in GOOD
    path = written(tmp_path, GOOD.replace(old, new))
    with pytest.raises(SettingsError) as refused:
        schema(path)
    assert f"{path}, line {line}: " in str(refused.value)
    assert said in str(refused.value)


PLAIN = {"name": "a", "type": "text", "meaning": "It.", "local": "gist", "embed": True}
CYCLE = "most: 3\nfield: &all\n  - {name: a, type: text, meaning: It., local: gist, embed: true}\n  - *all\n"


def as_json(*fields, **more):
    return json.dumps({"most": 3, **more, "field": [{**PLAIN, **one} for one in fields]}, indent="\t")


@pytest.mark.parametrize(
    ("suffix", "text", "said"),
    [
        ("json", as_json({"type": "prose"}), "field 1: type has to be text, list, notes, salient or dates"),
        ("json", as_json({}, {"$ref": "#/field/0"}), "field 2: there is no key '$ref', only name"),
        ("json", as_json({}, rules=["Keep it."]), "a rule of how blocks are merged is the key merge of its field"),
        ("json", as_json({"merge": "  "}), "merge has to be words that say how the field is made"),
        ("json", as_json({"type": "dates", "local": "span", "embed": False, "merge": "All."}), "no rule says how"),
        ("json", as_json({}, {"name": "a.b"}), "the field 'a' has parts, and so no type of its own"),
        ("yaml", CYCLE, "field 2: this is a list, where a table [[field]] has to be"),
        ("yaml", "most: 3\nfield:\n  - {name: a.b.c, type: text}\n", "perhaps a dot and as much again"),
        ("yml", "most: 3\nfield: 3\n", "field has to be one or more tables"),
        ("yaml", "most: 3\n", "field is missing"),
    ],
)
def test_a_wrong_schema_in_json_or_yaml_is_refused_by_file_and_field(tmp_path, suffix, text, said):
    path = tmp_path / f"own.{suffix}"
    path.write_text(text, "utf-8")
    with pytest.raises(SettingsError) as refused:
        schema(str(path))
    assert f"{path}: " in str(refused.value)
    assert said in str(refused.value)


@pytest.mark.parametrize(("suffix", "kind"), [("json", "JSON"), ("yaml", "YAML")])
def test_what_is_no_json_or_yaml_is_refused_by_file_in_one_sentence(tmp_path, suffix, kind):
    path = tmp_path / f"own.{suffix}"
    path.write_text('{"most": 3, "field": [', "utf-8")
    with pytest.raises(SettingsError, match=rf"own\.{suffix}: this is no {kind}: .*line \d") as refused:
        schema(str(path))
    assert "\n" not in str(refused.value)


def test_a_schema_is_the_same_in_toml_yaml_and_json(tmp_path):
    toml = schema(written(tmp_path, f"most = 3\nfield = [{{ {INLINE} }}]\n"))
    for suffix in ("json", "yaml"):  # JSON is YAML as well
        path = tmp_path / f"own.{suffix}"
        path.write_text(as_json({}).replace("\t", " "), "utf-8")
        assert schema(str(path)) == toml


@pytest.mark.parametrize(("name", "parts"), [
    ("lightmem-personal", ["mentions", "predicate", "locations"]),
    ("lightmem-repository", ["symbols", "endpoints", "cli", "configs", "files", "libraries", "concepts"]),
])  # fmt: skip
def test_the_papers_schemas_have_its_nested_keywords_and_salient_notes(name, parts):
    own = schema(name)
    told = nested({field.name: () for field in own.field})
    assert list(told["keywords"]) == parts
    assert [field.name for field in own.field if field.type == "salient"] == ["salient_notes"]


def test_what_is_no_toml_is_refused_by_file_and_line(tmp_path):
    path = written(tmp_path, GOOD.replace('name = "who"', "name = who"))
    with pytest.raises(SettingsError, match=r"own\.toml: this is no TOML: .*line 12"):
        schema(path)


def test_a_byte_order_mark_is_passed_over(tmp_path):
    assert schema(written(tmp_path, f"\ufeff{GOOD}")).most == 3


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (f"most = {'9' * 5000}\n", "has too many digits"),
        (f"most = {'[' * 3000}{']' * 3000}\n", "nested too deeply"),
    ],
)
def test_what_no_reader_takes_is_refused_by_its_file(tmp_path, given, said):
    with pytest.raises(SettingsError, match=rf"own\.toml: .*{said}"):
        schema(written(tmp_path, given))


@pytest.mark.parametrize("value", ["!!int x", "!!timestamp x", "2020-99-99"])
def test_a_value_that_is_not_of_its_tag_is_refused_by_its_file(tmp_path, value):
    path = tmp_path / "own.yaml"
    path.write_text(f"most: {value}\n")
    with pytest.raises(SettingsError, match=r"own\.yaml: .*not of its tag"):
        schema(str(path))


@pytest.mark.parametrize(
    ("name", "said"), [("own\0.toml", r"'own\\x00\.toml' can't be read: no file"), (".", "directory")]
)
def test_a_name_that_no_file_has_is_refused(name, said):
    with pytest.raises(SettingsError, match=said):
        schema(name)


def test_a_schema_that_is_not_there_is_named(tmp_path):
    with pytest.raises(SettingsError, match=r"personal and repository are shipped"):
        schema(str(tmp_path / "gone.toml"))
