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
import { DiskTimer } from "../../../kernel/src/journal/disk-timer.ts";
import { systemClock } from "../../../kernel/src/platform/clock.ts";
import { openNearDatabase } from "../../../kernel/src/platform/testing/near-database.ts";
import { needsPerson, type Talk } from "./talk.ts";
import { foldOf, type Talked } from "./talked.ts";
import { MARKS } from "./talking-mind.ts";

const ofKind = <Kind extends Entry["kind"]>(entries: readonly Entry[], kind: Kind): EntryOf<Kind>[] =>
  entries.filter((entry): entry is EntryOf<Kind> => entry.kind === kind);

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

/** Each call has one result, and each branch and worker one call that started it. */
export function checkCalls(entries: readonly Entry[]): void {
  const calls = ofKind(entries, "tool_call").map(({ call }) => call);
  const answered = ofKind(entries, "tool_result").map(({ call }) => call);
  expect(new Set(calls).size).toBe(calls.length);
  expect(answered.toSorted()).toEqual(calls.toSorted());
  const children = new Set(
    ofKind(entries, "process").flatMap(({ value }) =>
      value.kind === "branch" || value.kind === "worker" ? [value.id] : [],
    ),
  );
  const spawned = ofKind(entries, "tool_call").filter(
    ({ tool }) => tool === "spawn_worker" || tool === "branch",
  );
  const results = new Map(ofKind(entries, "tool_result").map(({ call, result }) => [call, result]));
  const childOf = (call: string): string => call.replace(/^call_/, "");
  expect(spawned.map(({ call }) => childOf(call))).toEqual(expect.arrayContaining([...children]));
  // A call about which a question still waited was not run.
  for (const { call } of spawned) {
    const result = results.get(call);
    if (result?.status === "success" && !JSON.stringify(result.value).includes('"Pending"'))
      expect(children, `the process of ${call}`).toContain(childOf(call));
  }
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

/** A channel's requests begin otherwise than before once for each of its summaries at most. */
export function checkSummaries({ model }: Talked, entries: readonly Entry[], talk: Talk): void {
  const channel = ofKind(entries, "process").find(({ value }) => value.kind === "channel")?.process;
  const summaries = ofKind(entries, "summary").filter(({ process }) => process === channel);
  const begun = talk.provider.sent.begunAgain.get(model.replace("lab/", "")) ?? 0;
  expect(begun, `${model} began again`).toBeLessThanOrEqual(summaries.length);
  const ends = summaries.map(({ covers }) => covers?.[1] ?? 0);
  expect(ends, "each summary ends behind the one before it").toEqual(
    [...new Set(ends)].toSorted((a, b) => a - b),
  );
}

/** A call that remembers something has its effect once if it succeeded, at most once otherwise. */
export function checkMemories(entries: readonly Entry[], remembered: readonly string[]): void {
  expect(new Set(remembered).size, "memories").toBe(remembered.length);
  const results = new Map(ofKind(entries, "tool_result").map(({ call, result }) => [call, result]));
  for (const { call, tool, arguments: args } of ofKind(entries, "tool_call"))
    if (tool === "memory_save" && results.get(call)?.status === "success")
      expect(remembered, JSON.stringify({ call, result: results.get(call) })).toContain(
        (args as { readonly text: string }).text,
      );
}

/** Nothing is open in the log, and clients are told the same as the fold of its entries. */
export function checkFold(talked: Talked, entries: readonly Entry[], conversation: Conversation): void {
  const state = foldOf(talked, entries);
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
  const tainted = ofKind(entries, "tool_call").flatMap((call) =>
    call.tainted === true ? [(call.arguments as { readonly path?: string }).path] : [],
  );
  const logged = new Map<string, string>();
  for (const { ref, state } of ofKind(entries, "action")) logged.set(ref, state);
  for (const { id, state, effects } of actions) {
    const path = effects[0]?.path ?? "";
    const { asked = new Set(), answered = new Map() } = talk.decided.get(id) ?? {};
    const facts = JSON.stringify({ id, state, path, asked: [...asked], answered: [...answered] });
    // An interrupted commit is rolled back, and its approval was not answered. A newer proposal for a path makes an older
    // one stale.
    const isAlone = !needsPerson(path);
    const ends = ["Committed", "Rejected", asked.has("approve") ? "Failed" : "Stale"];
    expect(isAlone ? [...ends, "Failed"] : ends, facts).toContain(state);
    if (state === "Committed" && !asked.has("approve")) {
      expect(isAlone, facts).toBe(true);
      expect(tainted, "files of tainted calls that nobody approved").not.toContain(path);
    }
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
    for (const talked of talk.conversations) {
      using opened = await conversations.open(talked.id);
      expect(await opened.log.verify()).toMatchObject({ ok: true });
      // Only the log itself knows when it was begun.
      expect({ ...opened.log.state, created: "" }).toEqual({
        ...foldOf(talked, talked.followed),
        created: "",
      });
    }
  } finally {
    await database[Symbol.asyncDispose]();
  }
  expect(damaged).toEqual([]);
}
