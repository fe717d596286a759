import { expect, test } from "vitest";
import { ManualClock } from "../base/testing/manual-clock.ts";
import type { AnswerEvent } from "./answer.ts";
import { type AnswerRedactor, maxHeldMs, redactedEvents } from "./redacted.ts";

/** Holds back from "<" to ">", and marks what is between. */
const redactor: AnswerRedactor = {
  stream() {
    let held = "";
    const pass = (): string => {
      const open = held.replaceAll(/<[^>]*>/g, "[secret]").lastIndexOf("<");
      const marked = held.replaceAll(/<[^>]*>/g, "[secret]");
      const passed = open === -1 ? marked : marked.slice(0, open);
      held = open === -1 ? "" : marked.slice(open);
      return passed;
    };
    const all = (): string => {
      const rest = held;
      held = "";
      return rest;
    };
    return {
      get held() {
        return held.length;
      },
      push(text) {
        held += text;
        return pass();
      },
      flush: all,
      end: all,
    };
  },
  replace: (text) => text.replaceAll(/<[^>]*>/g, "[secret]"),
};

const text = (of: string): AnswerEvent => ({ type: "text", text: of });
const thought = (of: string): AnswerEvent => ({ type: "reasoning", text: of });
const call: AnswerEvent = { type: "tool_call", call: "1", tool: "send", text: '{"to":"<a>"}' };
const noUse = (): void => undefined;

async function* of(events: readonly AnswerEvent[]): AsyncGenerator<AnswerEvent, void> {
  yield* events;
}

test("texts and reasoning are redacted each for itself, calls of tools and their order stay", async () => {
  const end: AnswerEvent = {
    type: "done",
    model: "a/b",
    finish: "stop",
    microUsd: null,
    usage: { input_tokens: 0, output_tokens: 0 },
    parts: [
      { type: "reasoning", text: "<t>" },
      { type: "reasoning", text: "<t>", opaque: { model: "a/b", value: "signed <t>" } },
      { type: "text", text: "it is <x>" },
      { type: "tool_call", call: "1", tool: "send", arguments: { to: "<a>" } },
    ],
  };
  const events = [thought("so <t"), thought(">!"), text("it is <"), text("x>, or <y"), call, end];
  expect(await Array.fromAsync(redactedEvents(of(events), redactor, new ManualClock(), noUse))).toEqual([
    thought("so "),
    thought("[secret]!"),
    text("it is "),
    text("[secret], or "),
    text("<y"),
    call,
    {
      ...end,
      parts: [
        { type: "reasoning", text: "[secret]" },
        { type: "reasoning", text: "<t>", opaque: { model: "a/b", value: "signed <t>" } },
        { type: "text", text: "it is [secret]" },
        { type: "tool_call", call: "1", tool: "send", arguments: { to: "<a>" } },
      ],
    },
  ]);
});

test("what is held back is passed on after a quarter of a second, and before a failure", async () => {
  const clock = new ManualClock();
  const more = Promise.withResolvers<AnswerEvent>();
  async function* slow(): AsyncGenerator<AnswerEvent, void> {
    yield text("it is <");
    yield await more.promise;
    yield { type: "failed", model: "a/b", failure: { class: "Network", message: "cut" }, isPartial: true };
  }
  const events = redactedEvents(slow(), redactor, clock, noUse);
  expect((await events.next()).value).toEqual(text("it is "));
  const next = events.next();
  await clock.advanceAsync(maxHeldMs);
  expect((await next).value).toEqual(text("<"));
  more.resolve(text("rest <a"));
  expect(await Array.fromAsync(events)).toMatchObject([text("rest "), text("<a"), { type: "failed" }]);
});

test("a secret that is written slowly is held until it is whole, however long that takes", async () => {
  const clock = new ManualClock();
  async function* slow(): AsyncGenerator<AnswerEvent, void> {
    for (const piece of ["see <", "a key", " of", " many", " letters", "> there"]) {
      yield text(piece);
      clock.advance(maxHeldMs - 1);
    }
  }
  const shown = await Array.fromAsync(redactedEvents(slow(), redactor, clock, noUse));
  expect(shown).toEqual([text("see "), text("[secret] there")]);
  expect(clock.pendingTimers).toBe(0);
});

test("whoever leaves while a piece is awaited ends the answer", async () => {
  const clock = new ManualClock();
  const left = Promise.withResolvers<void>();
  let isClosed = false;
  async function* stalled(): AsyncGenerator<AnswerEvent, void> {
    try {
      yield text("a <");
      await left.promise;
    } finally {
      isClosed = true;
    }
  }
  const events = redactedEvents(stalled(), redactor, clock, () => left.resolve());
  await events.next();
  const flushed = events.next();
  await clock.advanceAsync(maxHeldMs);
  await flushed;
  await events.return();
  expect(isClosed).toBe(true);
});

test("a long text is read in many turns of the loop, as a delta and at the end, and comes whole", async () => {
  const long = `<a>${"b".repeat(300_000)}<c>`;
  const parts = [{ type: "text" as const, text: long }];
  async function* events(): AsyncGenerator<AnswerEvent> {
    yield text(long);
    yield {
      type: "done",
      model: "lab/m",
      parts,
      finish: "stop",
      microUsd: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    };
  }
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  let shown = "";
  let last: AnswerEvent | null = null;
  for await (const event of redactedEvents(events(), redactor, new ManualClock(), noUse)) {
    if (event.type === "text") shown += event.text;
    last = event;
  }
  isOver = true;
  const marked = `[secret]${"b".repeat(300_000)}[secret]`;
  expect(shown).toBe(marked);
  expect(last).toMatchObject({ type: "done", parts: [{ type: "text", text: marked }] });
  expect(turns).toBeGreaterThan(30);
});
