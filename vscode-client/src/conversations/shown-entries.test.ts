import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { HOSTILE } from "../../../test/support/hostile-text.ts";
import type { Entry } from "../protocol.ts";
import { conversation, entry, said } from "../testing/conversations.ts";
import { action, ask } from "../testing/things.ts";
import { ShownDelta, ShownEntry } from "../webviews/conversations/entries.ts";
import { Head, Question, Row } from "../webviews/conversations/messages.ts";
import { conversationOf, headOf, questionOf, rowOf } from "./rows.ts";
import { mainOf, shownDeltas, shownEntries, shownEntry, wholeText } from "./shown-entries.ts";

const long = "\u200b".repeat(200_000);
const process = {
  id: "w",
  kind: "worker" as const,
  name: long,
  state: "Failed" as const,
  task: long,
  status: long,
  started: long,
  error: { code: long, message: long },
};
/** One of each kind, as large and strange as a log can hold. */
const large: Entry[] = [
  entry(1, {
    kind: "message",
    role: "user",
    origin: long,
    by: long,
    sources: Array.from({ length: 100 }, () => long),
    tainted: true,
    parts: Array.from({ length: 500 }, () => ({ type: "file" as const, path: long })),
  }),
  said(2, long),
  entry(3, { kind: "tool_call", call: "c", tool: long, arguments: { path: long } }),
  entry(4, { kind: "tool_result", call: "c", result: { status: "success", value: { text: long } } }),
  entry(5, {
    kind: "tool_result",
    call: "c",
    result: { status: "needs_approval", action: action(), reason: long },
  }),
  entry(6, { kind: "summary", text: long, covers: [1, 2] }),
  entry(7, { kind: "notice", text: HOSTILE }),
  entry(8, { kind: "process", value: process }),
  entry(9, { kind: "action", ref: "a", state: long }),
  entry(10, { kind: "block", name: long, text: long }),
  entry(11, { kind: "pin", entry: "e1", pinned: true }),
  entry(12, { kind: "meta", title: long, model: long, state: long }),
  entry(13, { kind: "void", message: "m" }),
];

describe("an entry for the page", () => {
  it.each(large.map((one) => [one.kind, one] as const))("is accepted, however large: %s", (_kind, one) => {
    const shown = shownEntry(one);
    expect(v.safeParse(ShownEntry, shown).issues).toBeUndefined();
    expect(JSON.stringify(shown).length).toBeLessThan(700_000);
  });

  it("shows a call that waits for the person's answer as waiting, not as failed", () => {
    const result = { status: "error" as const, message: "Not run", recoverable: true };
    const shown = (more: object) =>
      shownEntry(entry(1, { kind: "tool_result", call: "c", result: { ...result, ...more } }));
    expect(shown({ question: "q" })).toMatchObject({ status: "needs_approval", text: "Not run" });
    expect(shown({})).toMatchObject({ status: "error" });
  });

  it("says that it was cut, and all of it can be shown", () => {
    expect(shownEntry(said(1, "x".repeat(50_000)))).toMatchObject({ isCut: true });
    expect(shownEntry(said(1, "x"))).not.toHaveProperty("isCut");
    expect(wholeText(said(1, "x".repeat(50_000)))).toHaveLength(50_000);
  });

  it("has no request and no usage", () =>
    expect(
      shownEntries([
        entry(1, { kind: "usage", model: "m", input_tokens: 1, output_tokens: 1 }),
        entry(2, { kind: "request", attempt: 1, model: "m", message: "x", digest: action().digest }),
      ]),
    ).toEqual([]));

  it("names the proposal of a call that waits", () =>
    expect(shownEntry(large[4]!)).toMatchObject({ status: "needs_approval", action: "action-1" }));
});

it.each([
  [{ content: "new", path: "a.md" }, "a.md"],
  [{ task: "Count" }, "Count"],
  [{ limit: 3, pattern: "*.md" }, "*.md"],
  [{ content: "x".repeat(300) }, ""],
  ["only", "only"],
  [null, ""],
  [[1], ""],
])("what a call is about: %j", (given, expected) => expect(mainOf(given)).toBe(expected));

it("deltas are cut into pieces that the page accepts, and what a call is made with is not sent", () => {
  const delta = { process: "p", message: "m", part: 0, type: "text" as const, text: "y".repeat(100_000) };
  const pieces = shownDeltas(delta);
  for (const piece of pieces) expect(v.safeParse(ShownDelta, piece).issues).toBeUndefined();
  expect(pieces.map(({ text }) => text).join("")).toBe(delta.text);
  expect(shownDeltas({ ...delta, type: "tool_call" })).toMatchObject([{ text: "" }]);
});

describe("a conversation for the page", () => {
  const nobody = { actions: [], asks: [] };
  const led = action({
    on_behalf_of: [{ kind: "process", process: "channel", agent: "test.agent", conversation: "c1" }],
  });

  it("is accepted, however large", () => {
    const huge = conversation({
      title: long,
      model: long,
      tainted: Array.from({ length: 500 }, () => long),
      processes: Array.from({ length: 2_000 }, (_, at) => ({ ...process, id: `p${at}` })),
    });
    const head = headOf(huge, nobody);
    expect(v.safeParse(Head, head).issues).toBeUndefined();
    expect(head.processes[0]?.id).toBe("p0");
    expect(head.processes.at(-1)?.id).toBe("p1999");
    expect(v.safeParse(Row, rowOf(huge, nobody)).issues).toBeUndefined();
    const question = questionOf(ask({ title: long, reason: long, sources: [long] }));
    expect(v.safeParse(Question, question).issues).toBeUndefined();
    expect(question.reason).toMatch(/… [\d,]+ more characters are not shown\.$/);
    const evil = questionOf(ask({ facts: { arguments: "\u202e".repeat(100_000), arguments_left_out: 5 } }));
    expect(v.safeParse(Question, evil).issues).toBeUndefined();
    expect(evil.arguments?.left).toBeGreaterThan(0);
    expect(questionOf(ask()).arguments).toBeUndefined();
  });

  it("waits for the person before it works, and counts only what is its own", () => {
    const running = conversation({
      processes: [{ id: "channel", kind: "channel", state: "Running", started: "" }],
    });
    expect(rowOf(running, nobody).activity).toBe("working");
    expect(
      rowOf(running, { actions: [led, action()], asks: [ask({ conversation: "c1" }), ask()] }),
    ).toMatchObject({
      activity: "waiting",
      waiting: 2,
    });
    expect(conversationOf(action())).toBeUndefined();
  });

  it("has failed only if its channel has", () => {
    const failed = { id: "w", kind: "worker" as const, state: "Failed" as const, started: "" };
    expect(rowOf(conversation({ processes: [failed] }), nobody).activity).toBe("idle");
    expect(rowOf(conversation({ processes: [{ ...failed, kind: "channel" }] }), nobody).activity).toBe(
      "failed",
    );
  });
});
