// Run by tests/test_typescript.py, whose server has one place for requests, and a model that says where Ana lives.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Memory, MemoryError, type Message, type Note } from "memgraph-engine-client";

const baseUrl = process.env.MEMORY_URL!;
const ana = new Memory({ baseUrl, key: process.env.ANA });
const ben = new Memory({ baseUrl, key: process.env.BEN });
const WHERE = "Where does Ana live?";

async function all<One>(some: AsyncIterable<One>): Promise<One[]> {
  const found = [];
  for await (const one of some) found.push(one);
  return found;
}

/** Tell that a call is refused, and how. */
async function refused(call: Promise<unknown>, status: number, code: string | undefined, told: RegExp) {
  const error = await call.then(() => assert.fail("it was not refused"), (error: unknown) => error);
  assert.ok(error instanceof MemoryError, String(error));
  assert.deepEqual([error.name, error.status, error.code], ["MemoryError", status, code]);
  assert.match(error.message, told);
  return error;
}

test("what is added is found, and told for a prompt", async () => {
  const { entries } = await ana.add({ text: "I moved to Lisbon in March.", id: "m1", speaker: "Ana" });
  const { hits, among } = await ana.search(WHERE, { top_k: 3 });
  assert.deepEqual([hits[0]?.note.id, among], [entries[0]?.note, 1]);
  const context = await ana.context(WHERE, { budget: 500 });
  assert.match(context.text, /Ana: I moved to Lisbon in March\./);
  const { messages } = await ana.prompt(WHERE, { system: "You are kind." });
  assert.match(JSON.stringify(messages), /You are kind\..*Lisbon/);
  assert.equal((await ana.get("m1")).text, "I moved to Lisbon in March.");
});

test("an answer comes whole, or in pieces and then whole", async () => {
  const whole = await ana.answer(WHERE);
  assert.deepEqual([whole.text, whole.citations.length], ["In Lisbon [1].", 1]);
  const pieces = await all(ana.answerStream(WHERE));
  const last = pieces.pop();
  assert.ok(pieces.length > 1 && typeof last === "object");
  assert.deepEqual([pieces.join(""), last.text], ["In Lisbon [1].", "In Lisbon [1]."]);
  assert.deepEqual(last.citations, whole.citations);
});

test("signs that nobody cuts at come through a stream", async () => {
  const said = (await all(ana.answerStream("What does the sign say?"))).slice(0, -1);
  assert.equal(said.join(""), "日曜日は休み 🛥\n\nevent: closed");
});

test("what goes wrong in a stream is thrown behind its pieces", async () => {
  const heard: unknown[] = [];
  const listen = async () => {
    for await (const piece of ana.answerStream("break off")) heard.push(piece);
  };
  await refused(listen(), 503, "Unreachable", /^No server answers at the address/);
  assert.deepEqual(heard, ["In Lis"]);
  await refused(all(ana.answerStream("")), 400, "InvalidInput", /query/);
});

test("a note is changed, deleted and brought back, whatever signs its id has", async () => {
  const id = "a/b?c#d%20 ä";
  await ana.add({ text: "The boat is at the old pier.", id });
  await ana.update(id, "The boat is at the new pier.");
  const decision = await ana.delete(id);
  await refused(ana.get(id), 404, "NotFound", /'a\/b\?c#d%20 ä' of user 'ana' .* is deleted/);
  assert.equal((await ana.undo(decision.id)).undoes, decision.id);
  assert.equal((await ana.get(id)).text, "The boat is at the new pier.");
  const { decisions } = await ana.explain(id);
  assert.deepEqual(decisions.map((one) => one.kind).slice(-3), ["update", "delete", "undo"]);
  assert.equal((await ana.decisions({ limit: 1 })).decisions[0]?.kind, "undo");
});

test("a listing goes on over its pages", async () => {
  const said: Message[] = ["plum", "pear", "fig", "quince"].map((fruit, at) => ({
    text: `The ${fruit} is ripe on day ${at}.`,
    session: "garden",
    tags: at % 2 ? ["odd", "fruit"] : ["fruit"],
  }));
  assert.equal((await ana.addMany(said)).entries.length, 4);
  const texts = (notes: Note[]) => notes.map((note) => note.text);
  const found = texts(await all(ana.getAll({ session: "garden", limit: 1 })));
  assert.deepEqual(found.map((text) => text.split(" ")[1]), ["plum", "pear", "fig", "quince"]);
  assert.deepEqual(texts(await all(ana.getAll({ tags: ["odd", "fruit"] }))), [found[1], found[3]]);
});

test("facts and a profile are told without a question", async () => {
  const { facts } = await ana.facts();
  assert.ok(facts.some((fact) => fact.value.includes("Lisbon")), JSON.stringify(facts));
  await ana.setProfile("job", "diver");
  const value = async () => (await ana.profile()).attributes.find((one) => one.predicate === "job")?.value;
  assert.equal(await value(), "diver");
  await ana.setProfile("job", null);
  assert.equal(await value(), undefined);
});

test("a key opens the memory of its user alone", async () => {
  assert.deepEqual((await ben.search(WHERE)).hits, []);
  assert.deepEqual(await all(ben.getAll()), []);
  await refused(ben.get("m1"), 404, "NotFound", /of user 'ben'/);
  const other = new Memory({ baseUrl, key: process.env.BEN, user: "ana" });
  await refused(other.search(WHERE), 403, "NotAllowed", /one user/);
});

test("a tenant's key opens the memory that is named", async () => {
  const tenant = { baseUrl, key: process.env.TENANT };
  assert.equal((await new Memory({ ...tenant, user: "ana" }).get("m1")).id, (await ana.get("m1")).id);
  await refused(new Memory(tenant).get("m1"), 400, "InvalidInput", /user_id/);
  await new Memory({ ...tenant, shared: true }).add("The harbour opens at six.");
  assert.equal((await ben.search("When does the harbour open?")).hits[0]?.note.text, "The harbour opens at six.");
});

test("what is refused is told in the server's words", async () => {
  for (const key of [undefined, "mge_wrong"]) {
    await refused(new Memory({ baseUrl, key }).search(WHERE), 401, "KeyRefused", /key/);
  }
  await refused(ana.search(WHERE, { top_k: 0 }), 400, "InvalidInput", /top_k/);
  await refused(new Memory({ baseUrl, key: process.env.READER }).add("Hello."), 403, "NotAllowed", /write/);
  // @ts-expect-error: the types know what there is, and so does the server
  await refused(ana.search(WHERE, { topk: 3 }), 400, "InvalidInput", /topk/);
  await refused(ana.forget({ session: "nowhere", everything: true }), 400, "InvalidInput", /everything/);
});

test("what another one answers in its place is told by its status", async () => {
  const html = async () => new Response("<h1>Oh</h1>", { status: 502, statusText: "Bad Gateway" });
  const error = await refused(new Memory({ baseUrl, fetch: html }).get("m1"), 502, undefined, /^502 Bad Gateway$/);
  assert.equal(error.retryAfter, undefined);
});

test("what has no method is called by its path", async () => {
  const { data } = await ana.client.GET("/v1/stats", { params: { query: ana.whose } });
  assert.ok(data?.notes.active);
  const params = { query: ana.whose, path: { id: "m9" } };
  await refused(ana.client.GET("/v1/sources/{id}", { params }), 404, "NotFound", /m9/);
});

test("what is erased is gone for good", async () => {
  const plan = await ana.forget({ session: "garden" });
  assert.equal(plan.sources.length, 4);
  assert.equal((await ana.erase(plan.id)).residue, 0);
  assert.deepEqual(await all(ana.getAll({ session: "garden" })), []);
});

test("what is aborted before it is sent does nothing", async () => {
  const signal = AbortSignal.abort();
  await assert.rejects(ana.add({ text: "Never mind.", id: "never" }, { signal }), { name: "AbortError" });
  await refused(ana.get("never"), 404, "NotFound", /never/);
});

test("a stream that is left ends on the server too", async () => {
  for await (const piece of ana.answerStream("go on for ever")) {
    assert.equal(typeof piece, "string");
    break;
  }
  assert.equal((await ana.get("m1")).status, "active"); // in the only place
});

test("who comes while the server is busy is told when to come again; a stream can be aborted", async () => {
  const abort = new AbortController();
  const listen = async () => {
    for await (const _ of ana.answerStream("go on for ever", { signal: abort.signal })) {
      const busy = await refused(ana.get("m1"), 503, undefined, /busy/);
      assert.equal(busy.retryAfter, 2);
      abort.abort();
    }
  };
  await assert.rejects(listen(), { name: "AbortError" });
});
