import { describe, expect, onTestFinished, test } from "vitest";
import { neverAborted } from "../base/abort.ts";
import { nextTurn } from "../base/next-turn.ts";
import { silentLog } from "../base/log.ts";
import { ManualClock } from "../base/testing/manual-clock.ts";
import type { Ask, Asking } from "../base/vocabulary/ask.ts";
import { ownAccord, personAt } from "../base/vocabulary/principal.ts";
import { openNearDatabase } from "../platform/testing/near-database.ts";
import { until } from "../../../test/support/until.ts";
import { AskRows } from "./ask-rows.ts";
import { Asks, type AskPorts, type Question } from "./asks.ts";
import { asksMigrations } from "./migrations.ts";

const hour = 3_600_000;
const me = personAt("test");
const question: Question = {
  agent: "dev.a",
  kind: "budget",
  title: "May dev.a use it?",
  reason: "Its price is not known.",
  sources: [],
  facts: { model: "lab/x" },
  scopes: ["once", "always"],
  about: "lab/x",
  countsFor: "agent",
};

const untouched = (rows: AskRows): Omit<AskPorts["rows"], "store"> => ({
  list: (state) => rows.list(state),
  get: (id) => rows.get(id),
  addKey: (key, ask) => rows.addKey(key, ask),
  ofKey: (key) => rows.ofKey(key),
  forgetConversation: (conversation) => rows.forgetConversation(conversation),
  redact: (texts) => rows.redact(texts),
});

/** A call that outlives its kernel, by its key. `changes` receives the states that it was notified of. */
function callOf(key: string, changes: string[] = [], isPausing = () => false): Asking {
  return { key, changed: ({ state }) => changes.push(state), isPausing };
}

async function openRows(): Promise<AskRows> {
  const database = await openNearDatabase({ path: ":memory:", migrations: asksMigrations, log: silentLog });
  onTestFinished(() => database[Symbol.asyncDispose]());
  return new AskRows(database);
}

async function fixture(ports: Partial<AskPorts> & { readonly opened?: AskRows } = {}) {
  const clock = new ManualClock();
  const rows = ports.opened ?? (await openRows());
  const remembered = new Map<string, boolean>();
  const keyOf = (subject: object): string => JSON.stringify(subject);
  const asks = new Asks({
    clock,
    log: silentLog,
    rows,
    expireAfterMs: () => 24 * hour,
    remembered: {
      find: (subject) => remembered.get(keyOf(subject)) ?? null,
      remember: async (subject, allow) => void remembered.set(keyOf(subject), allow),
    },
    ...ports,
  });
  onTestFinished(() => asks[Symbol.dispose]());
  const told: string[] = [];
  asks.changed.on(({ state }) => told.push(state));
  const only = async (): Promise<Ask> => {
    const [ask, ...more] = await asks.list("Pending");
    expect(more).toEqual([]);
    if (ask === undefined) throw new Error("Nothing is asked.");
    return ask;
  };
  /** Waits until a question is asked. */
  const next = async (): Promise<Ask> => {
    await until("a question", async () => (await asks.list("Pending")).length > 0);
    return only();
  };
  return { next, asks, rows, clock, remembered, told, only };
}

test("a question names who led to it, and is another one on behalf of others", async () => {
  const { asks } = await fixture();
  const behalf = (...ids: string[]) => ({
    on_behalf_of: ids.map((id) => ({ kind: "agent" as const, id })),
  });
  const own = asks.isAllowed(question, neverAborted);
  void asks.isAllowed({ ...question, on_behalf_of: [{ kind: "person", client: "x" }] }, neverAborted);
  const called = asks.isAllowed({ ...question, ...behalf("dev.b", "dev.c") }, neverAborted);
  void asks.isAllowed({ ...question, ...behalf("dev.b", "dev.c") }, neverAborted);
  const [second, first, ...more] = await asks.list("Pending");
  expect(more).toEqual([]);
  expect(second).toMatchObject(behalf("dev.b", "dev.c"));
  expect(first).not.toHaveProperty("on_behalf_of");
  expect(second?.digest).not.toBe(first?.digest);
  for (const [ask, allow] of [
    [first, true],
    [second, false],
  ] as const)
    await asks.answer(me, ask?.id ?? "", { digest: ask?.digest ?? "sha256:", allow, remember: "once" });
  expect([await own, await called]).toEqual([true, false]);
});

describe("a call that waits for an answer", () => {
  test("continues once it is allowed, after the answer was stored", async () => {
    const stored: string[] = [];
    const { rows } = await fixture();
    const { asks, only, told } = await fixture({
      rows: {
        ...untouched(rows),
        store: async (ask) => {
          await rows.store(ask);
          stored.push(ask.state);
        },
      },
    });
    const allowed = asks.isAllowed(question, neverAborted).then((is) => [is, ...stored]);
    const { id, digest } = await only();
    expect(await asks.answer(me, id, { digest, allow: true })).toMatchObject({ state: "Allowed", id });
    expect(await allowed).toEqual([true, "Pending", "Allowed"]);
    expect(told).toEqual(["Pending", "Allowed"]);
    expect(await asks.list("Pending")).toEqual([]);
    expect(await rows.list()).toMatchObject([{ id, state: "Allowed" }]);
  });

  test("is denied when nobody answers in time", async () => {
    const { asks, clock, rows } = await fixture();
    const allowed = asks.isAllowed(question, neverAborted);
    await clock.advanceAsync(24 * hour);
    expect(await allowed).toBe(false);
    expect(await rows.list()).toMatchObject([{ state: "Expired" }]);
  });

  test("withdraws its question when it is cancelled, and leaves that of another call", async () => {
    const { asks, only, told } = await fixture();
    const [one, two] = [new AbortController(), new AbortController()];
    const first = asks.isAllowed(question, one.signal);
    const second = asks.isAllowed(question, two.signal);
    one.abort(new Error("cancelled"));
    await expect(first).rejects.toThrow("cancelled");
    expect(told).toEqual(["Pending"]);
    const { id, digest } = await only();
    two.abort(new Error("cancelled too"));
    await expect(second).rejects.toThrow("cancelled too");
    expect(told).toEqual(["Pending", "Expired"]);
    await expect(asks.answer(me, id, { digest, allow: true })).rejects.toMatchObject({
      code: "IllegalTransition",
      facts: { state: "Expired" },
    });
  });

  test("gets the answer that is being stored while the time runs out", async () => {
    const { asks, only, clock } = await fixture();
    const allowed = asks.isAllowed(question, neverAborted);
    const { id, digest } = await only();
    const answering = asks.answer(me, id, { digest, allow: true });
    clock.advance(24 * hour);
    expect((await answering).state).toBe("Allowed");
    expect(await allowed).toBe(true);
  });

  test("waits on when the answer cannot be stored", async () => {
    let isFull = true;
    const { rows } = await fixture();
    const { asks, only, told } = await fixture({
      rows: {
        ...untouched(rows),
        store: async (ask) => {
          if (isFull && ask.state !== "Pending") throw new Error("The disk is full.");
          await rows.store(ask);
        },
      },
    });
    const allowed = asks.isAllowed(question, neverAborted);
    const { id, digest } = await only();
    await expect(asks.answer(me, id, { digest, allow: true })).rejects.toThrow("full");
    expect(told).toEqual(["Pending"]);
    isFull = false;
    await asks.answer(me, id, { digest, allow: false });
    expect(await allowed).toBe(false);
  });
});

describe("an answer", () => {
  test("is a person's only, for the question that was shown, once, within its scopes", async () => {
    const { asks, only } = await fixture();
    const allowed = asks.isAllowed(question, neverAborted);
    const { id, digest } = await only();
    const agent = { kind: "agent" as const, id: "dev.a", lineage: ownAccord };
    await expect(asks.answer(agent, id, { digest, allow: true })).rejects.toMatchObject({
      code: "PermissionDenied",
    });
    const other = `sha256:${"0".repeat(64)}` as const;
    await expect(asks.answer(me, id, { digest: other, allow: true })).rejects.toMatchObject({
      code: "DigestMismatch",
    });
    await expect(
      asks.answer(me, id, { digest, allow: true, remember: "conversation" }),
    ).rejects.toMatchObject({ code: "InvalidParams" });
    await expect(asks.answer(me, "none", { digest, allow: true })).rejects.toMatchObject({
      code: "NotFound",
    });
    const both = await Promise.allSettled([
      asks.answer(me, id, { digest, allow: true }),
      asks.answer(me, id, { digest, allow: false }),
    ]);
    expect(both.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(await allowed).toBe(true);
  });

  test("reaches every call that asked the same", async () => {
    const { asks, only } = await fixture();
    const both = Promise.all([
      asks.isAllowed(question, neverAborted),
      asks.isAllowed(question, neverAborted),
    ]);
    const { id, digest } = await only();
    await asks.answer(me, id, { digest, allow: true });
    expect(await both).toEqual([true, true]);
  });

  test('of "once" is asked again, but not soon after it was denied', async () => {
    const { asks, only, clock } = await fixture();
    for (const allow of [true, false]) {
      const allowed = asks.isAllowed(question, neverAborted);
      const { id, digest } = await only();
      await asks.answer(me, id, { digest, allow, remember: "once" });
      expect(await allowed).toBe(allow);
    }
    expect(await asks.isAllowed(question, neverAborted)).toBe(false);
    clock.advance(600_000);
    const again = asks.isAllowed(question, neverAborted);
    const { id, digest } = await only();
    await asks.answer(me, id, { digest, allow: true });
    expect(await again).toBe(true);
  });

  test('of "always" is not asked again; for the workspace it counts for other agents too', async () => {
    const { asks, only, remembered } = await fixture();
    const ofAll: Question = {
      ...question,
      kind: "model",
      scopes: ["always", "once"],
      countsFor: "workspace",
    };
    const first = asks.isAllowed(ofAll, neverAborted);
    const { id, digest } = await only();
    await asks.answer(me, id, { digest, allow: true });
    expect(await first).toBe(true);
    expect([...remembered]).toEqual([[JSON.stringify({ kind: "model", about: "lab/x" }), true]]);
    expect(await asks.isAllowed({ ...ofAll, agent: "dev.b" }, neverAborted)).toBe(true);
  });

  test("for a conversation counts in that one until it is deleted, in later kernels too", async () => {
    const opened = await openRows();
    const first = await fixture({ opened });
    const ofTalk: Question = { ...question, scopes: ["once", "conversation"], conversation: "c1" };
    for (const [about, allow] of [
      ["lab/x", true],
      ["lab/y", false],
    ] as const) {
      const asked = first.asks.isAllowed({ ...ofTalk, about }, neverAborted);
      const { id, digest } = await first.next();
      await first.asks.answer(me, id, { digest, allow, remember: "conversation" });
      expect(await asked).toBe(allow);
    }
    first.asks[Symbol.dispose]();
    const second = await fixture({ opened });
    second.asks.resume([], await opened.conversationAnswers());
    expect(await second.asks.isAllowed(ofTalk, neverAborted)).toBe(true);
    expect(await second.asks.isAllowed({ ...ofTalk, about: "lab/y" }, neverAborted)).toBe(false);
    second.asks.conversationEnded("c1");
    await until("the answers to be deleted", async () => (await opened.conversationAnswers()).length === 0);
  });

  test("for a conversation that cannot be stored does not count, and the question stays", async () => {
    const opened = await openRows();
    let isFull = false;
    const { asks, only } = await fixture({
      opened,
      rows: {
        ...untouched(opened),
        store: async (ask, about, answer) => {
          if (isFull) throw new Error("full");
          await opened.store(ask, about, answer);
        },
      },
    });
    const ofTalk: Question = { ...question, scopes: ["once", "conversation"], conversation: "c1" };
    void asks.isAllowed(ofTalk, neverAborted);
    const { id, digest } = await only();
    isFull = true;
    const answer = { digest, allow: true, remember: "conversation" as const };
    await expect(asks.answer(me, id, answer)).rejects.toThrow("full");
    expect(await only()).toMatchObject({ id });
    expect(await opened.conversationAnswers()).toEqual([]);
  });

  test("for a conversation counts in no other one", async () => {
    const { asks, only } = await fixture();
    const ofTalk: Question = { ...question, scopes: ["once", "conversation"], conversation: "c1" };
    const first = asks.isAllowed(ofTalk, neverAborted);
    const { id, digest } = await only();
    await asks.answer(me, id, { digest, allow: true, remember: "conversation" });
    expect(await first).toBe(true);
    expect(await asks.isAllowed(ofTalk, neverAborted)).toBe(true);
    const abort = new AbortController();
    const other = asks.isAllowed({ ...ofTalk, conversation: "c2" }, abort.signal);
    expect(await only()).toMatchObject({ conversation: "c2" });
    abort.abort(new Error("enough"));
    await expect(other).rejects.toThrow("enough");
    asks.conversationEnded("c1");
    void asks.isAllowed(ofTalk, neverAborted);
    expect(await only()).toMatchObject({ conversation: "c1" });
  });
});

test("an agent has a bounded number of questions, and another agent can still ask", async () => {
  const { asks } = await fixture();
  for (let n = 0; n < 8; n++) void asks.isAllowed({ ...question, about: `lab/${n}` }, neverAborted);
  await expect(asks.isAllowed({ ...question, about: "lab/9" }, neverAborted)).rejects.toMatchObject({
    code: "LimitExceeded",
  });
  void asks.isAllowed({ ...question, agent: "dev.b" }, neverAborted);
  expect(await asks.list("Pending")).toHaveLength(9);
});

test("an agent that takes its questions back again and again may not ask for a while", async () => {
  const { asks, clock, told } = await fixture();
  const askAndLeave = async (agent = question.agent): Promise<unknown> => {
    const leaving = new AbortController();
    const asking = asks.isAllowed({ ...question, agent }, leaving.signal).catch((error: unknown) => error);
    leaving.abort(new Error("cancelled"));
    return asking;
  };
  const outcomes = [];
  for (let n = 0; n < 100; n++) outcomes.push(await askAndLeave());
  expect(told).toHaveLength(2 * 16);
  expect(outcomes.at(-1)).toMatchObject({ code: "LimitExceeded", facts: { limit: "withdrawnAsks" } });
  expect(await askAndLeave("dev.b")).toMatchObject({ message: "cancelled" });
  clock.advance(600_001);
  expect(await askAndLeave()).toMatchObject({ message: "cancelled" });
});

describe("questions of conversations", () => {
  const of = (n: number, conversation = "c"): Question => ({ ...question, conversation, about: `lab/${n}` });
  const pending = async (asks: Asks): Promise<string[]> =>
    (await asks.list("Pending"))
      .map(({ conversation, facts: _facts, id: _id }) => conversation ?? "")
      .toSorted();
  const begin = (asks: Asks, questions: readonly Question[], abort = new AbortController()) =>
    questions.map((each, n) =>
      asks
        .isAllowed(each, abort.signal, callOf(`${each.conversation ?? ""} ${n}`))
        .catch((error: unknown) => error),
    );

  const many = (count: number): Question[] => Array.from({ length: count }, (_, n) => of(n));

  test("wait unseen while three of the same one wait, and are asked as there is room", async () => {
    const { asks, told } = await fixture();
    const calls = begin(asks, many(12));
    const other = begin(asks, [of(0, "d")]);
    await until("the questions", async () => (await asks.list("Pending")).length === 4);
    expect(await pending(asks)).toEqual(["c", "c", "c", "d"]);
    for (let answered = 0; answered < 13; answered++) {
      const [ask] = await asks.list("Pending");
      if (ask === undefined) throw new Error("Nothing is asked.");
      await asks.answer(me, ask.id, { digest: ask.digest, allow: true });
    }
    expect(await Promise.all([...calls, ...other])).toEqual(Array.from({ length: 13 }, () => true));
    expect(told.filter((state) => state === "Pending")).toHaveLength(13);
  });

  test("have their whole time once they are asked", async () => {
    const { asks, clock } = await fixture();
    const calls = begin(asks, many(4));
    await until("the questions", async () => (await asks.list("Pending")).length === 3);
    await clock.advanceAsync(24 * hour);
    expect(await Promise.all(calls.slice(0, 3))).toEqual([false, false, false]);
    await clock.advanceAsync(23 * hour);
    expect(await pending(asks)).toEqual(["c"]);
  });

  test("that are unseen are the next kernel's, and end with their calls", async () => {
    const { asks, rows, clock } = await fixture();
    void begin(asks, many(5));
    await until("the rows", async () => (await rows.list("Pending")).length === 5);
    asks[Symbol.dispose]();
    const { asks: next } = await fixture({ opened: rows, clock });
    next.resume(await rows.endAll(new Date(clock.now()).toISOString()));
    expect(await next.list("Pending")).toHaveLength(3);
    const leaving = new AbortController();
    const again = begin(next, many(5), leaving);
    await until("the calls", async () => {
      leaving.abort(new Error("stopped"));
      return true;
    });
    expect(await Promise.all(again)).toEqual(Array.from({ length: 5 }, () => new Error("stopped")));
  });

  test("may be withdrawn as often as processes are stopped, and never fail", async () => {
    const { asks } = await fixture();
    for (let n = 0; n < 40; n++) {
      const leaving = new AbortController();
      const call = asks.isAllowed(of(n), leaving.signal, callOf(`c ${n}`)).catch((error: unknown) => error);
      await until("the question", async () => (await asks.list("Pending")).length === 1);
      leaving.abort(new Error("stopped"));
      expect(await call).toMatchObject({ message: "stopped" });
    }
  });

  test("leave an agent's program its own bounded number", async () => {
    const { asks } = await fixture();
    void begin(asks, many(3));
    await until("the questions", async () => (await asks.list("Pending")).length === 3);
    for (let n = 0; n < 8; n++) void asks.isAllowed({ ...question, about: `p/${n}` }, neverAborted);
    await expect(asks.isAllowed({ ...question, about: "p/9" }, neverAborted)).rejects.toMatchObject({
      code: "LimitExceeded",
    });
  });
});

test("what a kernel that died had asked has expired for the next one", async () => {
  const { asks, rows, only } = await fixture();
  void asks.isAllowed(question, neverAborted);
  const { id } = await only();
  await rows.endAll("2026-11-24T00:00:00.000Z");
  expect(await rows.get(id)).toMatchObject({ state: "Expired", expires: "2026-11-24T00:00:00.000Z" });
});

describe("a question of a call that outlives its kernel", () => {
  test("is the same one for the next kernel, and its answer reaches the call that asks again", async () => {
    const opened = await openRows();
    const first = await fixture({ opened });
    const told: string[] = [];
    let isPausing = false;
    const stopping = new AbortController();
    const asked = first.asks.isAllowed(
      question,
      stopping.signal,
      callOf("call", told, () => isPausing),
    );
    const { id, digest } = await first.next();
    await until("the call to be told", () => told.length > 0);
    isPausing = true;
    stopping.abort(new Error("The kernel stops."));
    await expect(asked).rejects.toThrow("stops");
    first.asks[Symbol.dispose]();
    const second = await fixture({ opened });
    second.asks.resume(await opened.endAll("2026-11-24T00:00:00.000Z"));
    expect(await second.only()).toMatchObject({ id, digest, state: "Pending" });
    const again = second.asks.isAllowed(question, neverAborted, callOf("call", told));
    await until("the call to be told again", () => told.length > 1);
    await second.asks.answer(me, id, { digest, allow: true });
    expect(await again).toBe(true);
    expect(told).toEqual(["Pending", "Pending", "Allowed"]);
    expect(second.told).toEqual(["Allowed"]);
  });

  test.each(["before", "while"])(
    "race: is not asked again if the person answers it %s the next kernel's call finds its row",
    async (when) => {
      const opened = await openRows();
      const first = await fixture({ opened });
      void first.asks.isAllowed(question, neverAborted, callOf("call"));
      const { id, digest } = await first.next();
      first.asks[Symbol.dispose]();
      const storing = Promise.withResolvers<void>();
      const reading = Promise.withResolvers<void>();
      const second = await fixture({
        rows: {
          ...untouched(opened),
          ofKey: async (key) => {
            const found = await opened.ofKey(key);
            await reading.promise;
            return found;
          },
          store: async (...given) => {
            await storing.promise;
            await opened.store(...given);
          },
        },
      });
      second.asks.resume(await opened.endAll("2026-11-24T00:00:00.000Z"));
      const again = second.asks.isAllowed(question, neverAborted, callOf("call"));
      const answered = second.asks.answer(me, id, { digest, allow: true });
      if (when === "before") {
        storing.resolve();
        await answered;
        reading.resolve();
      } else {
        reading.resolve();
        await nextTurn();
        storing.resolve();
      }
      expect(await again).toBe(true);
      expect(second.told).toEqual(["Allowed"]);
      expect(await opened.list()).toHaveLength(1);
    },
  );

  test("may be answered while nothing waits, and is not asked again by the same call", async () => {
    const opened = await openRows();
    const { asks, next, told } = await fixture({ opened });
    const stopping = new AbortController();
    const asked = asks.isAllowed(
      question,
      stopping.signal,
      callOf("call", [], () => true),
    );
    const { id, digest } = await next();
    stopping.abort(new Error("It pauses."));
    await expect(asked).rejects.toThrow("pauses");
    await asks.answer(me, id, { digest, allow: true });
    const changes: string[] = [];
    expect(await asks.isAllowed(question, neverAborted, callOf("call", changes))).toBe(true);
    expect(changes).toEqual(["Allowed"]);
    expect(told).toEqual(["Pending", "Allowed"]);
    // Another call asks again.
    void asks.isAllowed(question, neverAborted, callOf("other"));
    expect((await next()).id).not.toBe(id);
  });

  test("is withdrawn with a call that was cancelled, which is told", async () => {
    const { asks, next, rows } = await fixture();
    const changes: string[] = [];
    const stopping = new AbortController();
    const asked = asks.isAllowed(question, stopping.signal, callOf("call", changes));
    await next();
    await until("the call to be told", () => changes.length > 0);
    stopping.abort(new Error("cancelled"));
    await expect(asked).rejects.toThrow("cancelled");
    await until("its end", () => changes.length > 1);
    expect(changes).toEqual(["Pending", "Expired"]);
    expect(await rows.list()).toMatchObject([{ state: "Expired" }]);
  });

  test("expires for the next kernel when the rest of its time is over", async () => {
    const opened = await openRows();
    const first = await fixture({ opened });
    void first.asks.isAllowed(question, neverAborted, callOf("call"));
    const { expires } = await first.next();
    first.asks[Symbol.dispose]();
    const second = await fixture({ opened });
    const untilThen = Date.parse(expires) - second.clock.now();
    second.clock.advance(untilThen - 1);
    second.asks.resume(await opened.endAll(expires));
    expect(await second.asks.list("Pending")).toHaveLength(1);
    second.clock.advance(1);
    expect(await second.asks.list("Pending")).toEqual([]);
    expect(await second.asks.isAllowed(question, neverAborted, callOf("call"))).toBe(false);
  });

  test("that no call waits for is asked once, answered to all who listen, and can be withdrawn", async () => {
    const { asks, told } = await fixture();
    const [one, same] = await Promise.all([
      asks.ask(question, { key: "edit" }),
      asks.ask(question, { key: "edit" }),
    ]);
    expect(same?.id).toBe(one?.id);
    asks.withdraw(one?.id ?? "");
    expect(told).toEqual(["Pending", "Expired"]);
    expect(await asks.ask(question, { key: "edit" })).toMatchObject({ id: one?.id, state: "Expired" });
    const other = await asks.ask(question, { key: "another edit" });
    await asks.answer(me, other?.id ?? "", { digest: other?.digest ?? "sha256:", allow: false });
    expect(await asks.ask(question, { key: "a third" })).toBe(null);
  });
});
