import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ShownDelta } from "./entries.ts";
import { Entries } from "./testing.ts";
import { maxKept, Transcript } from "./transcript.ts";
import { turnsOf } from "./turns.ts";

const delta = (message: string, text: string, type: ShownDelta["type"] = "text"): ShownDelta => ({
  process: "channel",
  message,
  part: 0,
  type,
  text,
});
const drawn = (transcript: Transcript) => turnsOf(transcript, "channel", "channel");
/** The text of the only answer. */
const answerOf = (transcript: Transcript): string | undefined => {
  const item = drawn(transcript)
    .flatMap(({ items }) => items)
    .find(({ kind }) => kind === "answer");
  return item?.kind === "answer"
    ? item.parts.map((part) => ("text" in part ? part.text : "")).join("")
    : undefined;
};

describe("a transcript", () => {
  it("shows what streams, and its entry instead once that is there", () => {
    const transcript = new Transcript();
    const entries = new Entries();
    transcript.take([entries.you("Hello")]);
    transcript.delta(delta("m1", "Good "));
    transcript.delta(delta("m1", "morning"));
    expect(answerOf(transcript)).toBe("Good morning");
    transcript.take([entries.answer("m1", "Good morning!")]);
    expect(answerOf(transcript)).toBe("Good morning!");
    transcript.delta(delta("m1", " late"));
    expect(answerOf(transcript)).toBe("Good morning!");
  });

  it("continues what is logged in part with what streams, each piece once", () => {
    const transcript = new Transcript();
    const entries = new Entries();
    transcript.delta(delta("m1", "one two "));
    transcript.delta(delta("m1", "three"));
    transcript.take([entries.partial("m1", "one two ")]);
    expect(answerOf(transcript)).toBe("one two three");
    transcript.take([entries.partial("m1", "three")]);
    expect(answerOf(transcript)).toBe("one two three");
  });

  it("joins what it heard from the middle of a message with what is logged", () => {
    const transcript = new Transcript();
    const entries = new Entries();
    transcript.take([entries.partial("m1", "one ")]);
    transcript.delta(delta("m1", "three "));
    transcript.take([entries.partial("m1", "two three ")]);
    transcript.delta(delta("m1", "four"));
    expect(answerOf(transcript)).toBe("one two three four");
  });

  it("forgets a message that is void, however much of it was shown", () => {
    const transcript = new Transcript();
    const entries = new Entries();
    transcript.delta(delta("m1", "no"));
    transcript.take([entries.partial("m1", "no"), entries.add("void", { message: "m1" })]);
    transcript.delta(delta("m1", " late"));
    expect(answerOf(transcript)).toBeUndefined();
  });

  it("keeps a bounded number of entries, and knows that there are earlier ones", () => {
    const transcript = new Transcript();
    const entries = new Entries();
    for (let at = 0; at < 10_000; at++) entries.you(`message ${at}`);
    transcript.take(entries.all);
    expect(transcript.entries.length).toBeLessThanOrEqual(maxKept);
    expect(transcript.hasEarlier).toBe(true);
    expect(transcript.entries.at(-1)?.seq).toBe(10_000);
  });
});

/** A message's life: pieces that stream, entries that have some of them, and an end. */
const life = fc.record({
  pieces: fc.array(
    fc.record({
      text: fc.string({ minLength: 1, maxLength: 6 }),
      type: fc.constantFrom("text" as const, "reasoning" as const),
    }),
    { minLength: 1, maxLength: 8 },
  ),
  /** After which pieces they are logged in part. */
  logged: fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
  end: fc.constantFrom("whole", "void", "stopped"),
  late: fc.boolean(),
});

it("any interleaving of deltas, entries and voids gives the same transcript as the entries alone", () => {
  fc.assert(
    fc.property(
      fc.array(life, { minLength: 1, maxLength: 4 }),
      fc.infiniteStream(fc.nat(3)),
      (lives, choices) => {
        const entries = new Entries();
        const transcript = new Transcript();
        const steps = lives.map((one, at) => stepsOf(one, `m${at}`, `p${at}`));
        const say = (kind: "delta" | "entry", act: () => void): void => {
          if (kind === "entry") act();
        };
        let left = steps.reduce((sum, all) => sum + all.length, 0);
        for (const choice of choices) {
          if (left === 0) break;
          const open = steps.filter((all) => all.length > 0);
          const step = open[choice % open.length]?.shift();
          left--;
          if (step?.kind === "delta") transcript.delta(step.delta);
          else if (step !== undefined) say("entry", () => transcript.take([step.write(entries)]));
        }
        const alone = new Transcript();
        alone.take(entries.all);
        for (const at of lives.keys())
          expect(turnsOf(transcript, `p${at}`, `p${at}`)).toEqual(turnsOf(alone, `p${at}`, `p${at}`));
        expect(transcript.streams.size).toBe(0);
      },
    ),
    { numRuns: 300 },
  );
});

type Step =
  | { readonly kind: "delta"; readonly delta: ShownDelta }
  | { readonly kind: "entry"; readonly write: (entries: Entries) => ReturnType<Entries["you"]> };

type Life = typeof life extends fc.Arbitrary<infer Of> ? Of : never;

function stepsOf({ pieces, logged, end, late }: Life, id: string, process: string): Step[] {
  const steps: Step[] = [];
  const message = (parts: Life["pieces"], partial: boolean): Step => ({
    kind: "entry",
    write: (entries) =>
      entries.add("message", {
        id,
        process,
        role: "assistant",
        origin: "model",
        parts: parts.map(({ type, text }) => ({ type, text })),
        ...(partial ? { partial: true as const } : {}),
      }),
  });
  let open: Life["pieces"] = [];
  for (const [at, piece] of pieces.entries()) {
    steps.push({ kind: "delta", delta: { process, message: id, part: at, ...piece } });
    open = [...open, piece];
    if (logged[at] !== true) continue;
    steps.push(message(open, true));
    open = [];
  }
  if (end === "void")
    steps.push({ kind: "entry", write: (entries) => entries.add("void", { process, message: id }) });
  else if (end === "whole") steps.push(message(pieces, false));
  else {
    // Streamed text is logged before a process stops.
    if (open.length > 0) steps.push(message(open, true));
    steps.push({
      kind: "entry",
      write: (entries) => entries.process({ id: process, kind: "worker", state: "Cancelled" }),
    });
  }
  if (late && end !== "stopped")
    steps.push({ kind: "delta", delta: { process, message: id, part: 0, type: "text", text: "late" } });
  return steps;
}
