"""The sample conversation in LoCoMo's format, with a few questions; nothing of LoCoMo itself is in it."""

import json
import re
from datetime import datetime
from pathlib import Path

from memgraph_engine.llm.role import roles
from tests import models
from tests.loopback import Say

SAMPLE = Path(__file__).parent.parent / "config" / "sample" / "conversation.jsonl"
QUESTIONS = (
    (1, "What animals does Jonas have?", "a dog and a cat", ["D1:4", "D1:6"]),
    (2, "When did Mira's course in boatbuilding begin?", "4 March 2024", ["D1:9"]),
    (3, "Could Jonas eat a hazelnut cake?", "No, he is allergic to hazelnuts", ["D2:7"]),
    (4, "What is the name of Jonas's dog?", "Pepper", ["D1:4"]),
    (4, "What did Mira do before she built boats?", "She was a lawyer", []),
    (5, "When did Mira adopt a dog?", None, ["D1:2"]),
)


def sample(name="one", turns=18):
    """One sample of a LoCoMo file, with the first turns of the conversation: those that the questions are about."""
    messages = [json.loads(line) for line in SAMPLE.read_text("utf-8").splitlines()][:turns]
    conversation = {}
    for message in messages:
        session = f"session_{message['id'].split(':')[0]}"
        at = datetime.fromisoformat(message["time"])
        hour = f"{at.hour % 12 or 12}:{at:%M} {'am' if at.hour < 12 else 'pm'}"
        conversation.setdefault(f"{session}_date_time", f"{hour} on {at.day} {at:%B}, {at.year}")
        turn = {"dia_id": f"D{message['id']}", "speaker": message["speaker"], "text": message["text"]}
        caption = {"blip_caption": message["caption"]} if "caption" in message else {}
        conversation.setdefault(session, []).append(turn | caption)
    return {"sample_id": name, "conversation": conversation, "qa": [_asked(*one) for one in QUESTIONS]}


def _asked(category, question, answer, evidence):
    right = {"adversarial_answer": "in January"} if answer is None else {"answer": answer}
    return {"question": question, "category": category, "evidence": evidence, **right}


def write(folder, *samples):
    """Write a LoCoMo file, and return where."""
    file = folder / "locomo.json"
    file.write_text(json.dumps(list(samples) or [sample()]), encoding="utf-8")
    return file


ANSWERS = {
    "What animals does Jonas have?": "a dog and a cat",
    "When did Mira's course in boatbuilding begin?": "March 2024",
    "What is the name of Jonas's dog?": "Pepper",
    "When did Mira adopt a dog?": "UNKNOWN",
}


def role(request):
    """The prompt that a request was made from."""
    system = request["messages"][0]["content"]
    return next(name for name, prompt in roles().items() if re.fullmatch(_filled(prompt), system))


def _filled(prompt):
    """A pattern of a prompt's system text, whatever its variables are."""
    pattern = re.escape(prompt.file.system)
    for variable in prompt.file.variables:
        pattern = pattern.replace(re.escape(f"{{{variable}}}"), ".*")
    return pattern


def reply(request):
    """What a model says in an evaluation, whatever it is asked: the extractor keeps all, the gate sees no repeat."""
    name, data = role(request), given(request)
    if name == "extraction":
        turns = [one for one in data if isinstance(one["turn"], int)]
        return _said({"turns": [_kept(one) for one in turns]})
    if name == "gating":
        pairs = [(note["note"], one["candidate"]) for note in data for one in note["candidates"]]
        return _said({"pairs": [models.judged("none", 0.1, 0.1, *pair)["pairs"][0] for pair in pairs]})
    if name == "merging":
        return _said({"merges": [{"merge": one["merge"], "context": " ".join(one["texts"])} for one in data]})
    if name == "labelling":
        return _said({"topics": [{"topic": one["topic"], "label": "Life"} for one in data]})
    if name == "planning":
        return _said({"questions": [{"question": 1, "topic": "", "keywords": [], "since": None, "until": None}]})
    if name == "selecting":
        return _said({"keep": [one["note"] for one in data if "note" in one][:3]})
    if name == "sufficiency":
        return _said({"questions": [{"question": 1, "confidence": 1.0, "next": ""}]})
    if name == "judging":
        right = [{"answer": one["answer"], "reason": "", "correct": one["right"] == one["given"]} for one in data]
        return _said({"answers": right})
    return Say(ANSWERS.get(data[0]["question"], "no idea"))


def _kept(turn):
    words = [word for word in re.findall(r"[a-z]+", turn["text"]) if len(word) > 5]
    return models.turn(turn["turn"], f"{turn['speaker']}: {turn['text']}", keywords=words[:4])


def given(request):
    """The JSON lines of a request's data."""
    lines = request["messages"][-1]["content"].splitlines()
    return [json.loads(line) for line in lines if line.startswith("{")]


def _said(answer):
    return Say(json.dumps(answer))
