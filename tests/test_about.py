"""What is known about the user is told to whoever asks for that, in whatever words it was said."""

import pytest

from memgraph_engine import Memory, Settings

TOLD = ["I live in Lisbon.", "I'm allergic to peanuts.", "I work as a nurse."]
OTHER = [
    "The museum opens at nine, they say.",
    "What do you know about trains?",
    "Tell me a joke about penguins.",
    "The printer jams when the paper is damp.",
    "What does a heat pump cost?",
    "Bo knows a good carpenter.",
    "Write me a poem about rain.",
    "The ferry was late again.",
]


@pytest.mark.parametrize("profile", [True, False], ids=["with a profile", "without one"])
def test_what_a_user_told_of_himself_answers_what_is_known_about_him(tenant, embedder, profile):
    settings = Settings.load(lifecycle={"profile": profile})
    with Memory.connect(tenant=tenant, embedder=embedder, settings=settings) as memory:
        memory.add_many([{"role": "user", "content": text} for text in (*OTHER, *TOLD)], user_id="ana")
        found = [hit.note.text for hit in memory.search("What do you know about me?", user_id="ana", top_k=5)]
        assert set(TOLD) <= set(found)
        assert all(text in memory.context("What do you know about me?", user_id="ana").text for text in TOLD)
        assert memory.search("What do you know about me?", user_id="bo") == []
