/** Checks of conversations that have come to rest. */
import { join } from "node:path";
import { expect } from "vitest";
import { silentLog } from "../../../kernel/src/base/log.ts";
import type { Action } from "../../../kernel/src/base/vocabulary/action.ts";
import {
  type Conversation,
  type Entry,
  type EntryOf,
} from "../../../kernel/src/base/vocabulary/conversation.ts";
import { Conversations } from "../../../kernel/src/conversations/conversations.ts";
import { ConversationFold } from "../../../kernel/src/conversations/fold.ts";
import { DiskTimer } from "../../../kernel/src/journal/disk-timer.ts";
import { systemClock } from "../../../kernel/src/platform/clock.ts";
import { openNearDatabase } from "../../../kernel/src/platform/testing/near-database.ts";
import type { Talk, Talked } from "./talk.ts";
import { MARKS } from "./talking-mind.ts";

const ofKind = <Kind extends Entry["kind"]>(entries: readonly Entry[], kind: Kind): EntryOf<Kind>[] =>
  entries.filter((entry): entry is EntryOf<Kind> => entry.kind === kind);

/** Returns the fold of the entries. */
export function folded(entries: readonly Entry[]): ConversationFold["state"] {
  const fold = new ConversationFold();
  for (const entry of entries) fold.take(entry);
  return fold.state;
}

/** Every message that was acknowledged is there once, under the id that was answered; nothing else was said. */
export function checkMessages({ sent }: Talked, entries: readonly Entry[]): void {
  const said = ofKind(entries, "message").flatMap(({ id, origin, parts }) =>
    origin === "person"
      ? [[parts.map((part) => (part.type === "text" ? part.text : "")).join(""), id] as const]
      : [],
  );
  expect(Object.fromEntries(said)).toEqual(Object.fromEntries(sent));
  expect(said.length).toBe(sent.size);
}

/** Each call has one result, and each worker one call that started it. */
export function checkCalls(entries: readonly Entry[]): void {
  const calls = ofKind(entries, "tool_call").map(({ call }) => call);
  const results = ofKind(entries, "tool_result").map(({ call }) => call);
  expect(new Set(calls).size).toBe(calls.length);
  expect(results.toSorted()).toEqual(calls.toSorted());
  const workers = ofKind(entries, "process").flatMap(({ value }) =>
    value.kind === "worker" ? [value.id] : [],
  );
  const spawned = new Set(
    ofKind(entries, "tool_call").flatMap(({ tool, call }) => (tool === "spawn_worker" ? [call] : [])),
  );
  // A call about which a question still waited was not run.
  const started = ofKind(entries, "tool_result").filter(
    ({ call, result }) =>
      spawned.has(call) && result.status === "success" && !JSON.stringify(result.value).includes('"Pending"'),
  );
  expect(new Set(workers).size).toBe(started.length);
}

/** Each request has an answer or a partial one, or is void; each answer has one entry with its usage. */
export function checkRequests(entries: readonly Entry[]): void {
  const voided = new Set(ofKind(entries, "void").map(({ message }) => message));
  const answers = ofKind(entries, "message").filter(({ role }) => role === "assistant");
  const answered = new Set(answers.map(({ id }) => id));
  const requests = ofKind(entries, "request");
  const open = requests.filter(({ message }) => !voided.has(message) && !answered.has(message));
  expect(open, "requests without an end").toEqual([]);
  const whole = answers.filter(({ partial }) => partial !== true);
  expect(new Set(whole.map(({ id }) => id)).size).toBe(whole.length);
  expect(ofKind(entries, "usage").length).toBe(whole.length);
}

/** Nothing is open in the log, and clients are told the same as the fold of its entries. */
export function checkFold(entries: readonly Entry[], conversation: Conversation): void {
  const state = folded(entries);
  expect(state).toMatchObject({ requests: [], calls: [], references: [], partial: expect.any(Array) });
  const { seq, processes, title, tainted, usage, updated } = conversation;
  expect({ seq, processes, title, tainted, updated }).toEqual({
    seq: state.seq,
    processes: state.processes,
    title: state.title,
    tainted: state.tainted,
    updated: state.updated,
  });
  const { input_tokens, output_tokens } = state.usage;
  expect(usage).toMatchObject({ input_tokens, output_tokens });
}

/** A call with a number had its effect once if it succeeded, at most once otherwise; nothing else had one. */
export function checkMarks(entries: readonly Entry[], marks: Readonly<Record<string, number>>): void {
  const results = new Map(ofKind(entries, "tool_result").map(({ call, result }) => [call, result]));
  const known = new Set<string>();
  for (const { call, tool, arguments: args } of ofKind(entries, "tool_call")) {
    if (tool !== `${MARKS}/mark`) continue;
    const { n } = args as { readonly n: number };
    known.add(String(n));
    const times = marks[n] ?? 0;
    const result = results.get(call);
    const facts = { n, times, result };
    if (result?.status === "success") expect(facts).toMatchObject({ times: 1, result: { value: n } });
    else expect(facts.times, JSON.stringify(facts)).toBeLessThanOrEqual(1);
    // A process that does not know whether a call took effect must not be told that it failed.
    if (result?.status === "error" && times > 0) expect(result.message).toMatch(/is unknown|^cancelled$/);
  }
  expect(Object.keys(marks).filter((n) => !known.has(n))).toEqual([]);
}

/** Every action ended as its person decided, the disk holds exactly the committed changes, and the log agrees. */
export function checkActions(talk: Talk, actions: readonly Action[], entries: readonly Entry[]): void {
  const paths = actions
    .map(({ effects }) => effects[0]?.path ?? "")
    .filter((path) => !path.startsWith("never/"));
  expect(new Set(paths).size, "one action for a call").toBe(paths.length);
  const logged = new Map<string, string>();
  for (const { ref, state } of ofKind(entries, "action")) logged.set(ref, state);
  for (const { id, state, effects } of actions) {
    const path = effects[0]?.path ?? "";
    const { asked = new Set(), answered = new Map() } = talk.decided.get(id) ?? {};
    const facts = JSON.stringify({ id, state, path, asked: [...asked], answered: [...answered] });
    // An interrupted commit is rolled back, and its approval was not answered. A newer proposal for a path makes an older
    // one stale.
    const ends = ["Committed", "Rejected", asked.has("approve") ? "Failed" : "Stale"];
    expect(ends, facts).toContain(state);
    if (state === "Committed") expect(asked, facts).toContain("approve");
    if (answered.has("approve")) expect(state, facts).toBe("Committed");
    if (answered.has("reject")) expect(state, facts).toBe("Rejected");
    if (logged.has(id)) expect(logged.get(id), facts).toBe(state);
  }
  const committed = actions.flatMap(({ state, effects }) =>
    state === "Committed" ? [effects[0]?.path ?? ""] : [],
  );
  expect(talk.files().toSorted()).toEqual(committed.filter((path) => !talk.deleted.has(path)).toSorted());
}

/** The logs of a kernel that has ended are whole, and have the same fold as before. */
export async function checkLogs(talk: Talk, stateFolder: string): Promise<void> {
  const database = await openNearDatabase({
    path: join(stateFolder, "ledger.sqlite"),
    migrations: [],
    log: silentLog,
  });
  const damaged: string[] = [];
  try {
    await using conversations = new Conversations({
      stateFolder,
      database,
      clock: systemClock,
      log: silentLog,
      disk: new DiskTimer(systemClock),
      maxBytes: () => 256 * 1024 * 1024,
      damaged: (_id, error) => damaged.push(error.message),
    });
    for (const { id, followed } of talk.conversations) {
      using opened = await conversations.open(id);
      expect(await opened.log.verify()).toMatchObject({ ok: true });
      // Only the log itself knows when it was begun.
      expect({ ...opened.log.state, created: "" }).toEqual({ ...folded(followed), created: "" });
    }
  } finally {
    await database[Symbol.asyncDispose]();
  }
  expect(damaged).toEqual([]);
}
