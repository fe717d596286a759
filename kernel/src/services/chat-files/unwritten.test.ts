import { expect, test } from "vitest";
import type { Conversation, Entry, Process } from "../../base/vocabulary/conversation.ts";
import { readUnwritten } from "./unwritten.ts";

const channel: Process = {
  id: "c",
  kind: "channel",
  state: "WaitingForInput",
  started: "2026-11-26T07:00:00.000Z",
};
const conversation = { id: "x", processes: [channel] } as unknown as Conversation;

/** Short forms of entries: what a person asked, a request, an answer or a piece of one, a state of the channel. */
type Short =
  | { readonly asked: string; readonly origin?: string }
  | { readonly request: string }
  | { readonly said: string; readonly id: string; readonly partial?: true; readonly process?: string }
  | { readonly undone: string }
  | { readonly state: Process["state"]; readonly error?: string }
  | { readonly action: string; readonly state: string; readonly process?: string; readonly origin?: string };

function entriesOf(shorts: readonly Short[]): Entry[] {
  return shorts.map((short, index) => {
    const common = { seq: index + 1, id: `e${index}`, process: "c", origin: "workspace" };
    const text = (value: string) => [{ type: "text", text: value }];
    const fields =
      "asked" in short
        ? { kind: "message", role: "user", origin: short.origin ?? "person", parts: text(short.asked) }
        : "request" in short
          ? { kind: "request", message: short.request }
          : "undone" in short
            ? { kind: "void", message: short.undone }
            : "action" in short
              ? {
                  kind: "action",
                  ref: short.action,
                  state: short.state,
                  process: short.process ?? "c",
                  origin: short.origin ?? "workspace",
                }
              : "said" in short
                ? {
                    kind: "message",
                    role: "assistant",
                    id: short.id,
                    process: short.process ?? "c",
                    parts: text(short.said),
                    ...(short.partial === undefined ? {} : { partial: true }),
                  }
                : {
                    kind: "process",
                    value: {
                      ...channel,
                      state: short.state,
                      ...(short.error === undefined ? {} : { error: { code: "x", message: short.error } }),
                    },
                  };
    return { ...common, ...fields } as unknown as Entry;
  });
}

async function read(shorts: readonly Short[], after = 0) {
  const all = entriesOf(shorts);
  const service = {
    entries: async ({ after: from = 0, limit = 0 }: { after?: number; limit?: number }) => {
      const found = all.filter(({ seq }) => seq > from);
      return { items: found.slice(0, limit), total: found.length };
    },
  };
  return await readUnwritten(service, conversation, after);
}

const asked: Short[] = [{ asked: "hello" }, { state: "Running" }, { request: "m" }];
const rests: Short = { state: "WaitingForInput" };

test("nothing is unwritten of a conversation in which nothing was said", async () => {
  expect(await read([rests])).toMatchObject({ isOver: true, isAnswer: false, text: "", failure: null });
});

test("an answer is over once the channel has read the message and rests", async () => {
  const answer: Short = { said: "Hi", id: "m" };
  const cases: [readonly Short[], boolean][] = [
    [[{ asked: "hello" }], false],
    [[{ asked: "hello" }, { state: "Running" }], false],
    [[...asked], false],
    [[...asked, answer], false],
    [[...asked, answer, rests], true],
    // A message that came while it answered is read next.
    [[...asked, { asked: "again" }, answer, rests], false],
    [[{ state: "Running" }, { asked: "hello" }, rests], false],
    [[{ asked: "hello" }, { state: "Failed", error: "No model." }], true],
    [[{ asked: "hello" }, { state: "Cancelled" }], true],
  ];
  for (const [entries, isOver] of cases) expect((await read(entries)).isOver).toBe(isOver);
});

test("the whole message replaces its pieces, a voided one does not count, and only the channel is heard", async () => {
  const entries: Short[] = [
    ...asked,
    { said: "Hi", id: "m", partial: true },
    { said: " th", id: "m", partial: true },
    { said: "Hi there", id: "m" },
    { said: "an attempt", id: "n", partial: true },
    { undone: "n" },
    { said: "a worker's", id: "w", process: "w" },
    { said: "", id: "o" },
    { said: "And more", id: "p" },
    rests,
  ];
  expect(await read(entries)).toMatchObject({ text: "Hi there\n\nAnd more", isAnswer: true, failure: null });
  expect(await read(entries.slice(0, 5))).toMatchObject({ text: "Hi th", isOver: false });
  expect(await read(entries, entries.length)).toMatchObject({ text: "", isAnswer: false });
});

test("why there is no answer is said", async () => {
  const failed = await read([...asked, { state: "Failed", error: "The budget is used up." }]);
  expect(failed).toMatchObject({ isOver: true, isAnswer: true, failure: "The budget is used up." });
  const stopped = await read([...asked, { said: "Hi", id: "m", partial: true }, { state: "Cancelled" }]);
  expect(stopped).toMatchObject({ isOver: true, text: "Hi", failure: "It was stopped." });
  expect(await read([...asked, rests])).toMatchObject({ isAnswer: true, failure: "It had nothing to say." });
});

test("of the actions of all processes, those wait that did not end", async () => {
  const entries: Short[] = [
    ...asked,
    { action: "a", state: "PendingApproval" },
    { action: "b", state: "PendingApproval", process: "w" },
    { action: "a", state: "Committed" },
    { action: "c", state: "Committed", process: "w", origin: "kernel" },
    rests,
  ];
  // Nothing waited for the last one.
  expect(await read(entries)).toMatchObject({ waiting: ["b"], made: ["c"] });
});

test("a long answer is read in pages", async () => {
  const many: Short[] = Array.from({ length: 2_500 }, (_, index) => ({ said: "x", id: `m${index}` }));
  const { text, through } = await read([...asked, ...many, rests]);
  expect([text.length, through]).toEqual([2_500 * 3 - 2, 2_504]);
});
