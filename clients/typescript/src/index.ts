/** A client of memgraph-engine's server: the calls of its `Memory`, with the types of the server's OpenAPI document. */

import createClient, { type Client, type ClientOptions } from "openapi-fetch";
import type { Readable } from "openapi-typescript-helpers";
import type {
  Answer,
  Context,
  Decision,
  ErasurePlan,
  ErasureReceipt,
  Message,
  Note,
  operations,
  paths,
  Problem,
  Profile,
  Prompt,
  Receipt,
  Story,
} from "./schema.js";

export type * from "./schema.js";

type Name = keyof operations;
type Whose = { user_id?: string; shared?: boolean };
type Json<Holder> = Holder extends { content: { "application/json": infer Held } } ? Held : never;
type Body<Of extends Name> = Json<NonNullable<operations[Of]["requestBody"]>>;
type Query<Of extends Name> = NonNullable<operations[Of]["parameters"]["query"]>;
type Given<Of extends Name> = [Body<Of>] extends [never] ? Omit<Query<Of>, keyof Whose> : Body<Of>;

/** What an operation answers, by its name in the document. */
export type Result<Of extends Name> = Json<operations[Of]["responses"][200]>;
/** What an operation takes, without what stands `Before` it; `signal` ends the request. */
export type Options<Of extends Name, Before extends string = never> = Omit<Given<Of>, Before> & {
  signal?: AbortSignal;
};

/** Where a server is, and whose memory is meant. */
export interface MemoryOptions {
  /** Where it listens, as `http://127.0.0.1:8080`. */
  baseUrl: string;
  /** What `memgraph-engine keys add` printed; a server on this machine may need none. */
  key?: string;
  /** The user whose memory is meant; a key of one user means that user's. */
  user?: string;
  /** Take the tenant's shared memory, not a user's. */
  shared?: boolean;
  /** What makes the requests, instead of the global `fetch`. */
  fetch?: ClientOptions["fetch"];
}

/** What the server refused or failed at; its message is the server's sentence. */
export class MemoryError extends Error {
  override readonly name = "MemoryError";
  /** The status over HTTP. */
  readonly status: number;
  /** The class of the engine's error, as `NotFound`; undefined where the engine was not asked. */
  readonly code: string | undefined;
  /** The seconds after which to try again, where the server says so. */
  readonly retryAfter: number | undefined;

  constructor({ detail, status, error }: Pick<Problem, "detail" | "status" | "error">, retryAfter?: number) {
    super(detail);
    this.status = status;
    this.code = error;
    this.retryAfter = retryAfter;
  }
}

/** A memory that a server holds. Its methods are those of Python's `Memory`, and throw MemoryError. */
export class Memory {
  /** Makes any call by its path, also those that have no method here; it throws MemoryError too. */
  readonly client: Client<paths>;
  /** Whose memory is meant, as parameters of a call of `client`. */
  readonly whose: Readonly<Whose>;
  readonly #own: { query: Readonly<Whose> };

  constructor({ baseUrl, key, user, shared, fetch }: MemoryOptions) {
    this.whose = { user_id: user, shared };
    this.#own = { query: this.whose };
    this.client = createClient<paths>({ baseUrl, fetch, headers: key ? { Authorization: `Bearer ${key}` } : {} });
    this.client.use({
      async onResponse({ response }) {
        if (!response.ok) throw await refusal(response);
      },
    });
  }

  /** Add a message; return what became of it. */
  add(message: Message, { signal, ...more }: Options<"add", "message"> = {}): Promise<Receipt> {
    return told(this.client.POST("/v1/messages", { params: this.#own, body: { message, ...more }, signal }));
  }

  /** Add messages, each as if it came alone; return what became of them. */
  addMany(messages: Message[], { signal, ...more }: Options<"add_many", "messages"> = {}): Promise<Receipt> {
    return told(this.client.POST("/v1/messages/batch", { params: this.#own, body: { messages, ...more }, signal }));
  }

  /** Return the notes that answer a question best, best first, from the user's own memory and the shared one. */
  search(query: string, { signal, ...more }: Options<"search", "query"> = {}): Promise<Result<"search">> {
    return told(this.client.POST("/v1/search", { params: this.#own, body: { query, ...more }, signal }));
  }

  /** Return what the memory holds on a question, numbered and dated, for the prompt of a model of your own. */
  context(query: string, { signal, ...more }: Options<"context", "query"> = {}): Promise<Context> {
    return told(this.client.POST("/v1/context", { params: this.#own, body: { query, ...more }, signal }));
  }

  /** Return the messages to give a model of your own: what is known, remembered and was just said. */
  prompt(query: string, { signal, ...more }: Options<"prompt", "query"> = {}): Promise<Prompt> {
    return told(this.client.POST("/v1/prompt", { params: this.#own, body: { query, ...more }, signal }));
  }

  /** Let the server's model answer a question from its context, with citations that are checked. */
  answer(query: string, { signal, ...more }: Options<"answer", "query"> = {}): Promise<Answer> {
    return told(this.client.POST("/v1/answer", { params: this.#own, body: { query, ...more }, signal }));
  }

  /** Yield the answer in pieces of text while it comes, then all of it, as `answer` returns it. */
  async *answerStream(
    query: string,
    { signal, ...more }: Options<"answer_stream", "query"> = {},
  ): AsyncGenerator<string | Answer, void, void> {
    const asked = { params: this.#own, body: { query, ...more }, signal, parseAs: "stream" } as const;
    const { data: stream } = await this.client.POST("/v1/answer/stream", asked);
    for await (const { name, data } of events(stream!)) {
      signal?.throwIfAborted(); // what had come by then is not told either
      if (name === "problem") throw new MemoryError(data);
      yield name === "piece" ? data.text : data;
    }
  }

  /** Return a note by its id, or by that of one of its sources. */
  get(id: string, { signal }: Options<"get"> = {}): Promise<Note> {
    return told(this.client.GET("/v1/notes/{id}", { params: { ...this.#own, path: { id } }, signal }));
  }

  /** Yield the notes that pass the filters, oldest first; `limit` are fetched at a time. */
  async *getAll({ signal, after, ...more }: Options<"get_all"> = {}): AsyncGenerator<Note, void, void> {
    do {
      const query = { ...more, after, ...this.whose };
      const page = await told<Result<"get_all">>(this.client.GET("/v1/notes", { params: { query }, signal }));
      yield* page.notes;
      after = page.next;
    } while (after);
  }

  /** Return what is true now by what was said, without a question. */
  facts({ signal, ...more }: Options<"facts"> = {}): Promise<Result<"facts">> {
    return told(this.client.GET("/v1/facts", { params: { query: { ...more, ...this.whose } }, signal }));
  }

  /** Return what is known of the user: residence, job and the like. */
  profile({ signal, ...more }: Options<"profile"> = {}): Promise<Profile> {
    return told(this.client.GET("/v1/profile", { params: { query: { ...more, ...this.whose } }, signal }));
  }

  /** Set what the profile has by a name; null ends it. Return the decision. */
  setProfile(
    name: string,
    value: string | null,
    { signal, ...more }: Options<"set_profile", "name" | "value"> = {},
  ): Promise<Decision> {
    return told(this.client.PUT("/v1/profile", { params: this.#own, body: { name, value, ...more }, signal }));
  }

  /** Return where a note comes from, and the decisions that changed it. */
  explain(id: string, { signal }: Options<"explain"> = {}): Promise<Story> {
    return told(this.client.GET("/v1/explain/{id}", { params: { ...this.#own, path: { id } }, signal }));
  }

  /** Return the newest decisions, the newest first. */
  decisions({ signal, ...more }: Options<"decisions"> = {}): Promise<Result<"decisions">> {
    return told(this.client.GET("/v1/decisions", { params: { query: { ...more, ...this.whose } }, signal }));
  }

  /** Let a note say something else; return the decision. */
  update(id: string, text: string, { signal }: Options<"update", "text"> = {}): Promise<Decision> {
    const params = { ...this.#own, path: { id } };
    return told(this.client.PUT("/v1/notes/{id}", { params, body: { text }, signal }));
  }

  /** Delete a note, recoverably; return the decision. */
  delete(id: string, { signal }: Options<"delete"> = {}): Promise<Decision> {
    return told(this.client.DELETE("/v1/notes/{id}", { params: { ...this.#own, path: { id } }, signal }));
  }

  /** Undo a decision; return the decision that did. */
  undo(decision: string, { signal, ...more }: Options<"undo"> = {}): Promise<Decision> {
    const params = { path: { id: decision }, query: { ...more, ...this.whose } };
    return told(this.client.POST("/v1/decisions/{id}/undo", { params, signal }));
  }

  /** Return the plan of what is to be erased for good; nothing is erased yet. */
  forget({ signal, ...more }: Options<"forget">): Promise<ErasurePlan> {
    return told(this.client.POST("/v1/erasures/plans", { params: this.#own, body: more, signal }));
  }

  /** Erase what a plan of `forget` names, by the plan's id; return the receipt. */
  erase(plan: string, { signal }: Options<"erase", "plan"> = {}): Promise<ErasureReceipt> {
    return told(this.client.POST("/v1/erasures", { params: this.#own, body: { plan }, signal }));
  }
}

/** Return what a call gives; one that failed has thrown. */
async function told<Data>(reply: Promise<{ data?: Readable<NoInfer<Data>> }>): Promise<Data> {
  return (await reply).data as Data;
}

/** Return the error for a response; one that is not the server's own, as a proxy's, is told by its status. */
async function refusal(response: Response): Promise<MemoryError> {
  const { status, statusText, headers } = response;
  const after = Number(headers.get("Retry-After") ?? Number.NaN);
  const own = headers.get("Content-Type")?.startsWith("application/problem+json");
  const problem: Pick<Problem, "detail"> = own ? await response.json() : { detail: `${status} ${statusText}`.trim() };
  return new MemoryError({ ...problem, status }, Number.isNaN(after) ? undefined : after);
}

/** Yield the events of a stream; it is cancelled when nobody listens any more. */
async function* events(stream: ReadableStream<BufferSource>) {
  let rest = "";
  for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + chunk).split("\n\n");
    rest = blocks.pop()!;
    for (const block of blocks) {
      const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(block)!;
      yield { name, data: JSON.parse(data!) };
    }
  }
}
