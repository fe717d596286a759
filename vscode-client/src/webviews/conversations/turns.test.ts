import { describe, expect, it } from "vitest";
import { Entries } from "./testing.ts";
import { Transcript } from "./transcript.ts";
import { pinnedIn, turnsOf, type Item } from "./turns.ts";

function itemsOf(entries: Entries, process = "channel"): Item[] {
  const transcript = new Transcript();
  transcript.take(entries.all);
  return turnsOf(transcript, process, "channel").flatMap(({ items }) => [...items]);
}
const kinds = (items: readonly Item[]): string[] => items.map(({ kind }) => kind);

/** An answer that is being written, with so much of it in entries. */
function writing(kilobytes: number, more = "on "): Transcript {
  const entries = new Entries();
  entries.process({ state: "Running" });
  for (let count = 0; count < kilobytes; count++) entries.partial("m", "word ".repeat(200));
  const transcript = new Transcript();
  transcript.take(entries.all);
  transcript.delta({ process: "channel", message: "m", part: 0, type: "text", text: more });
  return transcript;
}

describe("an answer that is being written", () => {
  const sizeOf = (transcript: Transcript): number =>
    turnsOf(transcript, "channel", "channel")
      .flatMap(({ items }) => items.flatMap((item) => (item.kind === "answer" ? item.parts : [])))
      .reduce((sum, part) => sum + ("text" in part ? part.text.length : 0), 0);

  it("is drawn to the same length with each piece, however long it is", () => {
    expect(sizeOf(writing(4))).toBe(4_003);
    expect(sizeOf(writing(400))).toBe(60_000);
    expect(sizeOf(writing(3_000))).toBe(60_000);
    expect(sizeOf(writing(1, "x".repeat(500_000)))).toBe(60_000);
  });

  it("is drawn again with each piece, and all of it once it is stopped", () => {
    const transcript = writing(400);
    const [before] = turnsOf(transcript, "channel", "channel");
    transcript.delta({ process: "channel", message: "m", part: 0, type: "text", text: "and on" });
    const [after] = turnsOf(transcript, "channel", "channel");
    expect(after?.stamp).not.toBe(before?.stamp);
    expect(after?.items).toMatchObject([{ kind: "answer", isStreaming: true, leftOut: 340_009 }]);
    const stopped = new Entries();
    for (let count = 0; count < 401; count++) stopped.partial("m", "");
    stopped.process({ state: "Cancelled" });
    transcript.take(stopped.all.slice(-1).map((entry) => ({ ...entry, seq: 1_000 })));
    expect(sizeOf(transcript)).toBe(400_000);
  });

  it("continues while all that came is in the log", () => {
    const transcript = writing(1);
    const entries = new Entries();
    const partial = { ...entries.partial("m", "on "), seq: 1_000 };
    transcript.take([partial]);
    expect(turnsOf(transcript, "channel", "channel")[0]?.items).toMatchObject([
      { isStreaming: true, parts: [{ text: `${"word ".repeat(200)}on ` }] },
    ]);
  });
});

describe("the items of a transcript", () => {
  it("join a call with its result", () => {
    const entries = new Entries();
    entries.add("tool_call", { call: "c1", tool: "files/read", main: "a.md", arguments: "{}" });
    entries.add("tool_call", { call: "c2", tool: "files/read", main: "b.md", arguments: "{}" });
    entries.add("tool_result", { call: "c1", status: "error", text: "No such file." });
    expect(itemsOf(entries)).toMatchObject([
      { kind: "call", main: "a.md", state: "failed", result: "No such file." },
      { kind: "call", main: "b.md", state: "working", result: undefined },
    ]);
  });

  it("leave out an answer that only calls tools, and a result whose call the page does not have", () => {
    const entries = new Entries();
    entries.add("tool_result", { call: "earlier", status: "success", text: "x" });
    entries.answer("m1");
    expect(itemsOf(entries)).toEqual([]);
  });

  it("say where an answer ends early, even if nothing of it is there", () => {
    const entries = new Entries();
    entries.add("message", { id: "m1", role: "assistant", parts: [], cut: "length" });
    expect(itemsOf(entries)).toMatchObject([{ kind: "answer", parts: [], ending: "length" }]);
  });

  it("show what waits in any process to the person who reads the conversation", () => {
    const entries = new Entries();
    entries.you("Go");
    entries.process({ id: "w1", kind: "worker", parent: "channel", state: "Running", task: "Count" });
    entries.add("tool_call", {
      process: "w1",
      call: "c1",
      tool: "files/write",
      main: "a.md",
      arguments: "{}",
    });
    entries.add("action", { process: "w1", ref: "a1", state: "PendingApproval" });
    entries.add("action", { process: "w1", ref: "a1", state: "Committed" });
    entries.process({ id: "w1", kind: "worker", parent: "channel", state: "Done", task: "Count" });
    entries.add("conclusion", { process: "w1", text: "One." });
    expect(itemsOf(entries)).toMatchObject([
      { kind: "you" },
      { kind: "task", process: "w1" },
      { kind: "action", ref: "a1", state: "Committed" },
      { kind: "conclusion", process: "w1" },
    ]);
    expect(kinds(itemsOf(entries, "w1"))).toEqual(["call", "action", "conclusion"]);
  });

  it("say how a process ended that failed or was stopped, and nothing of one that rests", () => {
    const entries = new Entries();
    entries.process({ state: "WaitingForInput" });
    entries.process({ state: "Failed", error: { code: "ModelError", class: "NoKey", message: "No key." } });
    entries.process({ state: "Running" });
    entries.process({ state: "Cancelled" });
    expect(kinds(itemsOf(entries))).toEqual(["end", "end"]);
  });

  it("keep where a turn was stopped or failed, and say how many messages no answer was begun to", () => {
    const error = { code: "ModelError", class: "Network", message: "Refused." };
    const entries = new Entries();
    entries.you("Write");
    entries.process({ state: "Running" });
    entries.partial("m", "Once ");
    entries.you("one");
    entries.partial("m", "upon");
    entries.you("two");
    entries.process({ state: "Cancelled" });
    entries.you("Go on");
    entries.process({ state: "Running" });
    entries.process({ state: "Failed", error });
    entries.you("Again");
    entries.process({ state: "Running" });
    entries.answer("n", "Yes");
    const shown = itemsOf(entries);
    expect(kinds(shown)).toEqual(["you", "answer", "you", "you", "end", "you", "end", "you", "answer"]);
    expect(shown.filter(({ kind }) => kind === "end")).toMatchObject([
      { process: { state: "Cancelled" }, unread: 2 },
      { process: { error }, unread: 0 },
    ]);
  });

  it("name foreign sources once, where they came first", () => {
    const entries = new Entries();
    entries.add("message", { role: "assistant", parts: [{ type: "text", text: "a" }], sources: ["web"] });
    entries.add("message", {
      role: "assistant",
      parts: [{ type: "text", text: "b" }],
      sources: ["web", "mcp:x"],
    });
    expect(itemsOf(entries).map(({ newSources }) => newSources)).toEqual([["web"], ["mcp:x"]]);
  });
});

it("a turn is what a person said and all that followed; messages in a row are one turn", () => {
  const entries = new Entries();
  entries.you("One");
  entries.you("and two");
  entries.answer("m1", "Yes");
  entries.add("action", { ref: "a1", state: "PendingApproval" });
  entries.you("Three");
  const transcript = new Transcript();
  transcript.take(entries.all);
  const turns = turnsOf(transcript, "channel", "channel");
  expect(turns.map(({ items }) => kinds(items))).toEqual([["you", "you", "answer", "action"], ["you"]]);
  expect(turns[0]?.actions).toEqual(["a1"]);
});

it("a turn's stamp changes with what is drawn, and the stamps of others do not", () => {
  const entries = new Entries();
  entries.you("One");
  entries.answer("m1", "Yes");
  entries.you("Two");
  const transcript = new Transcript();
  transcript.take(entries.all);
  const before = turnsOf(transcript, "channel", "channel").map(({ stamp }) => stamp);
  transcript.delta({ process: "channel", message: "m2", part: 0, type: "text", text: "Hm" });
  const after = turnsOf(transcript, "channel", "channel").map(({ stamp }) => stamp);
  expect(after[0]).toBe(before[0]);
  expect(after[1]).not.toBe(before[1]);
});

it("pins are those before the page and those on it, without what was let go", () => {
  const entries = new Entries();
  entries.add("pin", { entry: "b", pinned: true });
  entries.add("pin", { entry: "a", pinned: false });
  expect([...pinnedIn(entries.all, ["a", "c"])]).toEqual(["c", "b"]);
});
