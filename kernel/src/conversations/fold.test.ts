import fc from "fast-check";
import { expect, test } from "vitest";
import type { Entry, EntryOf, Process } from "../base/vocabulary/conversation.ts";
import { otherSources } from "../base/vocabulary/bounds.ts";
import { ConversationFold } from "./fold.ts";
import { entryOf, histories } from "./testing/entries.ts";

const foldOf = (entries: readonly Entry[], fold = new ConversationFold()): ConversationFold => {
  for (const entry of entries) fold.take(entry);
  return fold;
};
const process = (id: string, value: Partial<Process> = {}): Process => ({
  id,
  kind: "worker",
  state: "Running",
  started: "2026-11-26T08:00:00.000Z",
  ...value,
});
const channel = entryOf(1, { kind: "process", value: process("c", { kind: "channel" }), process: "c" });
const request = (seq: number, message: string, attempt = 1, of = "c"): Entry =>
  entryOf(seq, {
    kind: "request",
    process: of,
    message,
    attempt,
    model: "lab/m",
    digest: `sha256:${"0".repeat(64)}`,
  });
const said = (seq: number, id: string, more: Partial<Omit<EntryOf<"message">, "seq" | "kind">> = {}): Entry =>
  entryOf(seq, {
    kind: "message",
    id,
    process: "c",
    origin: "model",
    role: "assistant",
    parts: [{ type: "text", text: id }],
    ...more,
  });

test("a request is open from its entry to its answer, its void, its next attempt or its process's end", () => {
  const open = (...entries: readonly Entry[]) => foldOf([channel, ...entries]).state.requests;
  expect(open(request(2, "m1"))).toMatchObject([{ message: "m1", attempt: 1 }]);
  expect(open(request(2, "m1"), said(3, "m1", { partial: true }))).toHaveLength(1);
  expect(open(request(2, "m1"), said(3, "m1"))).toEqual([]);
  expect(open(request(2, "m1"), entryOf(3, { kind: "void", message: "m1" }))).toEqual([]);
  expect(open(request(2, "m1"), request(3, "m1", 2))).toMatchObject([{ message: "m1", attempt: 2 }]);
  for (const state of ["Done", "Failed", "Cancelled"] as const)
    expect(
      open(request(2, "m1", 1, "w"), entryOf(3, { kind: "process", value: process("w", { state }) })),
    ).toEqual([]);
});

test("of a process that has ended nothing is open, although a kernel died before it wrote the ends", () => {
  const { state } = foldOf([
    channel,
    request(2, "m1", 1, "w"),
    said(3, "m1", { process: "w", partial: true }),
    entryOf(4, { kind: "tool_call", process: "w", call: "t1", tool: "a/b", arguments: {} }),
    entryOf(5, { kind: "ask", process: "w", ref: "q1", state: "Pending" }),
    entryOf(6, { kind: "process", value: process("w", { state: "Cancelled", task: "x".repeat(9_999) }) }),
  ]);
  expect(state).toMatchObject({ requests: [], calls: [], references: [], partial: [] });
  expect(state.processes.at(-1)?.task).toHaveLength(2_000);
});

test("partial texts are known until the whole message or its void comes", () => {
  const asked = [channel, request(2, "m1")];
  const partial = said(3, "m1", { partial: true });
  expect(foldOf([...asked, partial, { ...partial, seq: 4 }]).state.partial).toEqual([
    { process: "c", message: "m1" },
  ]);
  expect(foldOf([...asked, partial, said(4, "m1")]).state.partial).toEqual([]);
  expect(foldOf([...asked, partial, entryOf(4, { kind: "void", message: "m1" })]).state.partial).toEqual([]);
  // A piece behind the whole answer begins nothing.
  expect(foldOf([...asked, said(3, "m1"), { ...partial, seq: 4 }]).state.partial).toEqual([]);
});

test("a call is open until its first result; a result without a call, and a second one, change nothing", () => {
  const call = entryOf(2, { kind: "tool_call", call: "t1", tool: "files/read", arguments: {} });
  const result = entryOf(3, { kind: "tool_result", call: "t1", result: { status: "success", value: 1 } });
  expect(foldOf([call]).state.calls).toMatchObject([{ seq: 2, call: "t1", tool: "files/read" }]);
  expect(foldOf([call, { ...call, seq: 3 }]).state.calls).toHaveLength(1);
  expect(foldOf([call, result, { ...result, seq: 4 }]).state.calls).toEqual([]);
  expect(foldOf([result]).state.calls).toEqual([]);
});

test("actions and questions are open while they are pending", () => {
  const action = (seq: number, state: string, origin = "model"): Entry =>
    entryOf(seq, { kind: "action", ref: "a1", state, origin });
  expect(foldOf([action(1, "Pending")]).state.references).toEqual([
    { kind: "action", ref: "a1", process: "p" },
  ]);
  for (const state of ["Committed", "Rejected", "Expired", "Failed"])
    expect(foldOf([action(1, "Pending"), action(2, state)]).state.references).toEqual([]);
});

test("unread counts answers of the channel and notices that the person has not seen, nor said or decided something after", () => {
  const notice = entryOf(3, { kind: "notice", text: "It stopped." });
  const worker = said(4, "m2", { process: "w" });
  const unread = (...entries: readonly Entry[]) => foldOf([channel, ...entries]).state.unreadAt.length;
  expect(unread(said(2, "m1"), notice, worker)).toBe(2);
  expect(unread(said(2, "m1", { partial: true }))).toBe(0);
  expect(unread(said(2, "m1"), said(3, "u", { role: "user", origin: "person" }))).toBe(0);
  expect(unread(said(2, "m1"), said(3, "u", { role: "user", origin: "message:mail" }))).toBe(1);
  expect(unread(notice, entryOf(4, { kind: "action", ref: "a", state: "Rejected", origin: "person" }))).toBe(
    0,
  );
  expect(unread(said(2, "m1"), notice, entryOf(4, { kind: "meta", read: 2 }))).toBe(1);
  expect(unread(said(2, "m1"), notice, entryOf(4, { kind: "meta", title: "One" }))).toBe(2);
  expect(unread(said(2, "m1"), notice, entryOf(4, { kind: "meta", read: 3 }), said(5, "m2"))).toBe(1);
});

test("that it was read, and that a text was removed, does not make a conversation the last used one", () => {
  const later = "2026-11-21T00:00:00.000Z";
  for (const entry of [
    entryOf(3, { kind: "meta", read: 2 }),
    entryOf(3, { kind: "redaction", entries: [{ ...said(2, "m1"), parts: [] }] }),
  ]) {
    const { state } = foldOf([channel, said(2, "m1"), { ...entry, created: later }]);
    expect([state.seq, state.updated]).toEqual([3, said(2, "m1").created]);
  }
  expect(
    foldOf([channel, { ...entryOf(2, { kind: "meta", title: "T" }), created: later }]).state.updated,
  ).toBe(later);
});

test("the size of the context is that of the last request until a summary begins it again", () => {
  const usage = entryOf(2, {
    kind: "usage",
    model: "lab/m",
    input_tokens: 900,
    output_tokens: 100,
    process: "c",
  });
  const summary = entryOf(3, { kind: "summary", text: "s", covers: [1, 2], tokens: 120, process: "c" });
  expect(foldOf([channel, usage]).state.contextTokens).toBe(1_000);
  expect(foldOf([channel, usage, summary]).state.contextTokens).toBe(120);
  const ofOther = { ...summary, process: "w" };
  expect(foldOf([channel, usage, ofOther]).state.contextTokens).toBe(1_000);
});

test("a state that an earlier version stored is completed", () => {
  const { unreadAt: _none, ...earlier } = foldOf([channel]).state;
  expect(ConversationFold.begin("2026-11-21T00:00:00.000Z", earlier as never).state.unreadAt).toEqual([]);
});

test("sources of tainted entries are named once; without any, the origin is", () => {
  const tainted = (seq: number, more: Partial<Pick<Entry, "sources" | "origin">>): Entry =>
    entryOf(seq, { kind: "notice", text: "", tainted: true, ...more });
  const { state } = foldOf([
    tainted(1, { sources: ["web", "mcp:x"] }),
    tainted(2, { sources: ["web"] }),
    tainted(3, { origin: "scripted" }),
    entryOf(4, { kind: "notice", text: "", sources: ["clean.md"] }),
  ]);
  expect(state.tainted).toEqual(["web", "mcp:x", "scripted"]);
  const many = foldOf(Array.from({ length: 99 }, (_, n) => tainted(n + 1, { origin: `web${n}` })));
  expect(many.state.tainted).toHaveLength(32);
  expect(many.state.tainted.at(-1)).toBe(otherSources);
});

test("title, model, state, pins, blocks, usage and the channel's summary are those of the last entries", () => {
  const { state } = foldOf([
    channel,
    entryOf(2, { kind: "meta", title: "One", model: "lab/m" }),
    entryOf(3, { kind: "meta", title: "Two" }),
    entryOf(4, { kind: "meta", state: "archived" }),
    entryOf(5, { kind: "meta", state: "nonsense" }),
    entryOf(6, { kind: "pin", entry: "e1", pinned: true }),
    entryOf(7, { kind: "pin", entry: "e2", pinned: true }),
    entryOf(8, { kind: "pin", entry: "e1", pinned: false }),
    entryOf(9, { kind: "block", name: "project", text: "a" }),
    entryOf(10, { kind: "block", name: "project", text: "b" }),
    entryOf(11, { kind: "usage", model: "lab/m", input_tokens: 2, output_tokens: 3 }),
    entryOf(12, { kind: "usage", model: "lab/m", input_tokens: 2, output_tokens: 3, usd: 0.5 }),
    entryOf(13, { kind: "summary", text: "s", covers: [1, 9], process: "c" }),
    entryOf(14, { kind: "summary", text: "of a worker", covers: [1, 2], process: "w" }),
  ]);
  expect(state).toMatchObject({
    title: "Two",
    model: "lab/m",
    state: "archived",
    pins: ["e2"],
    blocks: [{ name: "project", seq: 10 }],
    usage: { input_tokens: 4, output_tokens: 6, usd: 0.5 },
    summary: { seq: 13, covers: [1, 9] },
    seq: 14,
  });
});

test("of very many processes those that run and the last that ended are listed, and always the channel", () => {
  const entries = [
    entryOf(1, { kind: "process", value: process("c", { kind: "channel", state: "Failed" }) }),
    entryOf(2, { kind: "process", value: process("running") }),
    ...Array.from({ length: 500 }, (_, n) =>
      entryOf(n + 3, { kind: "process", value: process(`w${n}`, { state: "Done" }) }),
    ),
  ];
  const listed = foldOf(entries).state.processes.map(({ id }) => id);
  expect(listed.slice(0, 3)).toEqual(["c", "running", "w436"]);
  expect(listed).toHaveLength(66);
});

test("what stands in the place of earlier entries brings no ended process and no earlier block back", () => {
  const worker = (seq: number, value: Partial<Process>) =>
    entryOf(seq, { kind: "process", value: process("w", value), process: "w" });
  const block = (seq: number, text: string) => entryOf(seq, { kind: "block", name: "notes", text });
  const entries = [channel, worker(2, { status: "secret" }), block(3, "secret"), block(4, "plain")];
  const ended = worker(5, { state: "Cancelled", status: "other" });
  const redaction = (seq: number, ...of: readonly Entry[]) =>
    entryOf(seq, { kind: "redaction", entries: of.map((each) => ({ ...each })) });
  const after = redaction(6, worker(2, { status: "-" }), block(3, "-"));
  expect(foldOf([...entries, ended, after]).state).toMatchObject({
    processes: [{ id: "c" }, { id: "w", state: "Cancelled", status: "other" }],
    blocks: [{ name: "notes", seq: 4 }],
  });
  // As the next kernel folds a log in which the newest edit was removed.
  const next = foldOf([channel, block(3, "old"), redaction(6, block(4, "-"))]);
  expect(next.state.blocks).toEqual([{ name: "notes", seq: 4 }]);
  // A process of which nothing else is left.
  expect(foldOf([channel, redaction(6, worker(2, {}), ended)]).state.processes).toMatchObject([
    { id: "c" },
    { id: "w", state: "Cancelled" },
  ]);
});

test("continued from a saved state at any place, the fold of any history is the same", () => {
  fc.assert(
    fc.property(histories, fc.nat(), (entries, at) => {
      const whole = foldOf(entries);
      const cut = at % (entries.length + 1);
      const saved = JSON.parse(JSON.stringify(foldOf(entries.slice(0, cut)).save())) as never;
      const continued = ConversationFold.from(saved);
      if (continued === null) throw new Error("The state was not taken.");
      expect(foldOf(entries.slice(cut), continued).save()).toEqual(whole.save());
    }),
    { numRuns: 300 },
  );
});

test("in any history with entries missing, what is open was opened, and nothing is open twice", () => {
  fc.assert(
    fc.property(histories, fc.array(fc.nat()), (entries, gone) => {
      const left = entries.filter((_, index) => !gone.includes(index));
      const { calls, requests, references } = foldOf(left).state;
      for (const { seq, call } of calls) {
        expect(left.find((entry) => entry.seq === seq)).toMatchObject({ kind: "tool_call", call });
        expect(
          left.some((entry) => entry.seq > seq && entry.kind === "tool_result" && entry.call === call),
        ).toBe(false);
      }
      for (const open of [
        calls.map(({ call }) => call),
        requests.map((each) => each.process),
        references.map((each) => `${each.kind} ${each.ref}`),
      ])
        expect(new Set(open).size).toBe(open.length);
    }),
    { numRuns: 300 },
  );
});

test("a saved state of another version, or with a field of another kind, is not taken", () => {
  const saved = foldOf([channel]).save() as Record<string, never>;
  expect(ConversationFold.from(saved)).not.toBeNull();
  for (const broken of [
    null,
    [],
    1,
    {},
    { ...saved, version: 2 },
    { ...saved, calls: {} },
    { ...saved, seq: "1" },
  ])
    expect(ConversationFold.from(broken as never)).toBeNull();
});

test("compactions that end without a summary are counted once each, until a summary is written", () => {
  const compaction = (seq: number, id: string, state: Process["state"]): Entry =>
    entryOf(seq, {
      kind: "process",
      value: process(id, { kind: "compaction", state, ended: "2026-11-26T09:00:00.000Z" }),
    });
  const fold = foldOf([
    channel,
    compaction(2, "a", "Running"),
    compaction(3, "a", "Failed"),
    compaction(4, "a", "Failed"),
    compaction(5, "b", "Cancelled"),
    compaction(6, "d", "Done"),
    entryOf(7, { kind: "process", value: process("w", { state: "Failed" }) }),
  ]);
  expect(fold.state.failedCompactions).toEqual({ count: 2, last: "2026-11-26T09:00:00.000Z" });
  fold.take(entryOf(8, { kind: "summary", process: "c", text: "What was said." }));
  expect(fold.state.failedCompactions).toEqual({ count: 0, last: "" });
});

test("a process shows the model that it asked last, whatever is said of it later", () => {
  const models = (...entries: readonly Entry[]) =>
    foldOf([channel, ...entries]).state.processes.map(({ model }) => model);
  const later = entryOf(4, { kind: "process", value: process("w", { state: "Waiting" }) });
  const worker = entryOf(2, { kind: "process", value: process("w") });
  expect(models(worker)).toEqual([undefined, undefined]);
  expect(models(worker, request(3, "m1", 1, "w"), later)).toEqual([undefined, "lab/m"]);
});
