import { describe, expect, onTestFinished, test } from "vitest";
import { neverAborted } from "../base/abort.ts";
import { silentLog } from "../base/log.ts";
import { ManualClock } from "../base/testing/manual-clock.ts";
import type { Ask } from "../base/vocabulary/ask.ts";
import { ownAccord, personAt } from "../base/vocabulary/principal.ts";
import { openNearDatabase } from "../platform/testing/near-database.ts";
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

async function fixture(ports: Partial<AskPorts> = {}) {
  const database = await openNearDatabase({ path: ":memory:", migrations: asksMigrations, log: silentLog });
  onTestFinished(() => database[Symbol.asyncDispose]());
  const clock = new ManualClock();
  const rows = new AskRows(database);
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
  return { asks, rows, clock, remembered, told, only };
}

describe("a call that waits for an answer", () => {
  test("continues once it is allowed, after the answer was stored", async () => {
    const stored: string[] = [];
    const { rows } = await fixture();
    const { asks, only, told } = await fixture({
      rows: {
        list: (state) => rows.list(state),
        get: (id) => rows.get(id),
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
        list: (state) => rows.list(state),
        get: (id) => rows.get(id),
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

  test("for a conversation counts in that one until it ends", async () => {
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

test("what a kernel that died had asked has expired for the next one", async () => {
  const { asks, rows, only } = await fixture();
  void asks.isAllowed(question, neverAborted);
  const { id } = await only();
  await rows.endAll("2026-11-24T00:00:00.000Z");
  expect(await rows.get(id)).toMatchObject({ state: "Expired", expires: "2026-11-24T00:00:00.000Z" });
});
