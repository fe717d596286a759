import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Entry } from "../../../base/vocabulary/conversation.ts";
import { anEntry, aProcess, asks, channel, says, type EntryFields } from "../testing/chat-walk.ts";
import { itemsOf } from "./items.ts";
import { addNews, emptyTranscript, hasWork, isAtRest, type News, type Transcript } from "./transcript.ts";
import { shownOf } from "./messages.ts";

const entry = (seq: number, fields: EntryFields): News => ({ kind: "entry", entry: anEntry(seq, fields) });
const delta = (message: string, text: string, type: "text" | "reasoning" = "text"): News => ({
  kind: "delta",
  delta: { process: "channel", message, part: type === "text" ? 1 : 0, type, text },
});
const of = (...news: readonly News[]): Transcript => addNews(emptyTranscript, news);
const textOf = (transcript: Transcript, id: string): string => {
  const message = transcript.messages.get(id);
  return message === undefined
    ? ""
    : shownOf(message)
        .parts.map((part) => ("text" in part ? part.text : ""))
        .join("");
};

/** A message as it comes: pieces, partial entries, and its end. */
const written = fc
  .record({
    pieces: fc.array(fc.string({ minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 8 }),
    partialAt: fc.nat(7),
    end: fc.constantFrom("whole", "void" as const),
  })
  .map(({ pieces, partialAt, end }) => (id: string, seq: number): { entries: Entry[]; deltas: News[] } => {
    const text = pieces.join("");
    const half = pieces.slice(0, partialAt).join("");
    const partial = half === "" ? [] : [anEntry(seq, says(half, { id, partial: true }))];
    const last =
      end === "whole"
        ? anEntry(seq + 1, says(text, { id }))
        : anEntry(seq + 1, { kind: "void", message: id });
    return { entries: [...partial, last], deltas: pieces.map((piece) => delta(id, piece)) };
  });

describe("a transcript", () => {
  test("is that of the entries alone, in whatever order entries and pieces arrive", () => {
    fc.assert(
      fc.property(
        fc.array(written, { minLength: 1, maxLength: 4 }),
        fc.infiniteStream(fc.nat()),
        (messages, order) => {
          const all = messages.map((make, index) => make(`m${index}`, 10 + index * 2));
          const others: Entry[] = [
            anEntry(1, channel("WaitingForInput")),
            anEntry(2, asks("hello")),
            anEntry(3, channel("Running")),
            anEntry(4, { kind: "tool_call", call: "c", tool: "files/read", arguments: {} }),
            anEntry(5, { kind: "tool_result", call: "c", result: { status: "success", value: 1 } }),
            anEntry(6, { kind: "action", ref: "a", state: "PendingApproval" }),
            anEntry(7, { kind: "action", ref: "a", state: "Committed" }),
            anEntry(8, { kind: "notice", text: "hm" }),
            anEntry(9, { ...asks("hello, changed"), id: "e2", origin: "web", by: "local.guard" }),
          ];
          const entries = [...others, ...all.flatMap((each) => each.entries)];
          const news: News[] = [
            ...entries.map((one): News => ({ kind: "entry", entry: one })),
            ...all.flatMap(({ deltas }) => deltas),
          ];
          const ranks = new Map(news.map((one) => [one, order.next().value] as const));
          const shuffled = news.toSorted((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0));
          const alone = addNews(
            emptyTranscript,
            entries.map((one) => ({ kind: "entry", entry: one })),
          );
          // One at a time, as well as all together.
          const single = shuffled.reduce((state, one) => addNews(state, [one]), emptyTranscript);
          expect(itemsOf(single)).toEqual(itemsOf(alone));
          expect(itemsOf(addNews(emptyTranscript, shuffled))).toEqual(itemsOf(alone));
        },
      ),
    );
  });

  test("shows each piece of an answer once while it comes, with partial entries in between", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 12 }),
        fc.array(fc.nat(12), { maxLength: 4 }),
        (pieces, cuts) => {
          let transcript = of(entry(1, channel("Running")));
          let logged = 0;
          let seq = 1;
          pieces.forEach((piece, index) => {
            transcript = addNews(transcript, [delta("m", piece)]);
            if (!cuts.includes(index)) return;
            // Written a moment later than what is shown.
            const part = pieces.slice(logged, index + 1).join("");
            logged = index + 1;
            transcript = addNews(transcript, [entry(++seq, says(part, { id: "m", partial: true }))]);
          });
          expect(textOf(transcript, "m")).toBe(pieces.join(""));
        },
      ),
    );
  });

  test("of a client that came in the middle of an answer repeats nothing", () => {
    const transcript = of(
      entry(1, says("The first half, ", { id: "m", partial: true })),
      delta("m", "and the "),
      entry(2, says("which was not sent, and the ", { id: "m", partial: true })),
      delta("m", "end"),
    );
    expect(textOf(transcript, "m")).toBe("The first half, which was not sent, and the end");
  });

  test("keeps what was thought apart from what is said", () => {
    const transcript = of(delta("m", "hm", "reasoning"), delta("m", "yes"));
    const message = transcript.messages.get("m");
    expect(message && shownOf(message).parts).toEqual([
      { type: "reasoning", text: "hm" },
      { type: "text", text: "yes" },
    ]);
  });

  test("shows the messages of the channel, and one line for each other process", () => {
    const transcript = of(
      entry(1, channel("WaitingForInput")),
      entry(2, asks("count")),
      entry(3, aProcess("w", { task: "count" })),
      entry(4, says("of the worker", { process: "w" })),
      entry(5, { kind: "conclusion", text: "three", process: "w" }),
      entry(6, says("Three.")),
    );
    expect(itemsOf(transcript).map(({ kind, key }) => [kind, key])).toEqual([
      ["message", "e2"],
      ["process", "w"],
      ["message", "e6"],
    ]);
    expect(itemsOf(transcript, "w").map(({ key }) => key)).toEqual(["e4"]);
  });
});

describe("where a turn ended without its answer", () => {
  const request = (seq: number): News =>
    entry(seq, {
      kind: "request",
      attempt: 1,
      model: "m/m",
      message: "m",
      digest: `sha256:${"a".repeat(64)}`,
    });
  const stopped = [
    entry(1, asks("write")),
    entry(2, channel("Running")),
    request(3),
    entry(4, says("Once ", { id: "m", partial: true })),
    entry(5, asks("one")),
    entry(6, says("upon", { id: "m", partial: true })),
    entry(7, asks("two")),
  ];
  const shown = (transcript: Transcript): unknown[] =>
    itemsOf(transcript).map((item) =>
      item.kind === "end"
        ? [item.process.state, item.unread]
        : item.kind === "message"
          ? [item.key, item.ending]
          : item.kind,
    );

  test("it stays shown, with the messages that no request had, whatever follows", () => {
    const after = [
      entry(8, channel("Cancelled")),
      entry(9, asks("go on")),
      entry(10, channel("Running")),
      request(11),
      entry(12, channel("Failed")),
      entry(13, asks("again")),
      entry(14, channel("Failed")),
      entry(15, asks("and again")),
      entry(16, channel("Running")),
      request(17),
      entry(18, says("Yes.")),
      entry(19, channel("WaitingForInput")),
    ];
    const wanted = [
      ["e1", "more"],
      ["m", "unfinished"],
      ["e5", "more"],
      ["e7", "more"],
      ["Cancelled", 2],
      ["e9", "more"],
      ["Failed", 0],
      ["e13", "more"],
      ["Failed", 1],
      ["e15", "more"],
      ["e18", "more"],
    ];
    const all = [...stopped, ...after];
    expect(shown(of(...all))).toEqual(wanted);
    expect(shown(of(...all.toReversed()))).toEqual(wanted);
  });

  test("an answer is cut off once its process has ended or asked again, and not before", () => {
    const message = (...more: readonly News[]): unknown =>
      shown(of(...stopped, ...more)).find((item) => Array.isArray(item) && item[0] === "m");
    expect(message()).toEqual(["m", "more"]);
    expect(message(entry(8, channel("Cancelled")))).toEqual(["m", "unfinished"]);
    expect(message(entry(8, channel("Failed")))).toEqual(["m", "unfinished"]);
    expect(message(request(8))).toEqual(["m", "unfinished"]);
    expect(message(entry(8, says("Once upon a time.", { id: "m" })), request(9))).toEqual(["m", "more"]);
  });
});

describe("a conversation is at rest", () => {
  const asked = [entry(1, channel("WaitingForInput")), entry(2, asks("hello"))];
  const request = (seq: number): News =>
    entry(seq, {
      kind: "request",
      attempt: 1,
      model: "m/m",
      message: "m",
      digest: `sha256:${"a".repeat(64)}`,
    });

  test("when the channel has answered, and not before it has begun", () => {
    expect(isAtRest(of(...asked))).toBe(false);
    const working = of(...asked, entry(3, channel("Running")), request(4));
    expect([hasWork(working), isAtRest(working)]).toEqual([true, false]);
    expect(isAtRest(addNews(working, [entry(5, says("Hi")), entry(6, channel("WaitingForInput"))]))).toBe(
      true,
    );
  });

  test("when it has failed, until the next message", () => {
    const failed = of(...asked, entry(3, channel("Running")), entry(4, channel("Failed")));
    expect(isAtRest(failed)).toBe(true);
    expect(isAtRest(addNews(failed, [entry(5, asks("again"))]))).toBe(false);
  });

  test("only after the channel has read what a worker found", () => {
    const found = of(
      ...asked,
      entry(3, channel("Running")),
      request(4),
      entry(5, aProcess("w")),
      entry(6, channel("WaitingForInput")),
      entry(7, aProcess("w", { state: "Done" })),
    );
    expect([hasWork(found), isAtRest(found)]).toEqual([false, false]);
    expect(
      isAtRest(
        addNews(found, [entry(8, channel("Running")), request(9), entry(10, channel("WaitingForInput"))]),
      ),
    ).toBe(true);
  });

  test("while a worker waits for a person, because nothing happens without them", () => {
    const waiting = of(
      ...asked,
      entry(3, channel("Running")),
      request(4),
      entry(5, channel("WaitingForInput")),
      entry(6, aProcess("w", { state: "WaitingForApproval" })),
    );
    expect(isAtRest(waiting)).toBe(true);
  });
});
