import { describe, expect, test } from "vitest";
import type { ModelEvent, ModelRequest } from "../base/vocabulary/model.ts";
import { scriptedAnswer, type ScriptedTurn } from "./scripted.ts";

const asks = (text: string): ModelRequest => ({
  model: "rehearsal/script",
  messages: [{ role: "user", parts: [{ type: "text", text }] }],
});

class Rehearsal {
  readonly spent = new Set<number>();
  readonly waits: number[] = [];
  readonly #turns: readonly ScriptedTurn[];
  constructor(...turns: readonly ScriptedTurn[]) {
    this.#turns = turns;
  }
  async ask(text: string, process: string | null = null, signal = new AbortController().signal) {
    const events: ModelEvent[] = [];
    const ports = {
      isSpent: (turn: number) => this.spent.has(turn),
      spend: async (turn: number) => void this.spent.add(turn),
      wait: async (ms: number) => void this.waits.push(ms),
    };
    for await (const event of scriptedAnswer(this.#turns, asks(text), process, ports, signal))
      events.push(event);
    return events;
  }
  async said(text: string, process?: string): Promise<unknown> {
    const last = (await this.ask(text, process)).at(-1);
    return last?.type === "done" ? last.parts : last?.type === "failed" ? last.failure.class : last;
  }
}

const text = (said: string) => [{ type: "text", text: said }];

test("a turn is matched with the last message, never with the late system message behind it", async () => {
  const request: ModelRequest = {
    ...asks("hello"),
    messages: [...asks("hello").messages, { role: "system", text: "weather" }],
  };
  const turns: ScriptedTurn[] = [
    { when: "weather", say: "rain" },
    { when: "hello", say: "hi" },
  ];
  const ports = { isSpent: () => false, spend: async () => {}, wait: async () => {} };
  const events: ModelEvent[] = [];
  for await (const event of scriptedAnswer(turns, request, null, ports, new AbortController().signal))
    events.push(event);
  expect(events.at(-1)).toMatchObject({ type: "done", parts: [{ type: "text", text: "hi" }] });
});

test("an answer comes in words, its calls after it, and ends with parts that say the same", async () => {
  const turn: ScriptedTurn = {
    think: "Let me see.",
    say: "Hi  there,\nyou ",
    call: [{ tool: "files/read", arguments: { path: "a.md" } }, { tool: "list" }],
    usage: { input_tokens: 10, output_tokens: 2 },
    delay_ms: 5,
  };
  const rehearsal = new Rehearsal(turn);
  const events = await rehearsal.ask("hello");
  expect(rehearsal.waits).toEqual([5]);
  expect(events[0]).toEqual({ type: "sent" });
  const shown = (type: "text" | "reasoning"): string =>
    events.map((event) => (event.type === type ? event.text : "")).join("");
  expect([shown("reasoning"), shown("text")]).toEqual(["Let me see.", "Hi  there,\nyou "]);
  expect(events.filter(({ type }) => type === "text").length).toBe(3);
  expect(events.at(-1)).toEqual({
    type: "done",
    finish: "tool_calls",
    usage: { input_tokens: 10, output_tokens: 2 },
    parts: [
      { type: "reasoning", text: "Let me see." },
      { type: "text", text: "Hi  there,\nyou " },
      { type: "tool_call", call: "script_0_0", tool: "files/read", arguments: { path: "a.md" } },
      { type: "tool_call", call: "script_0_1", tool: "list", arguments: {} },
    ],
  });
});

describe("which turn is given", () => {
  test("the first unspent one that fits process and last message; none left is a failure", async () => {
    const rehearsal = new Rehearsal(
      { process: "worker", say: "work" },
      { when: "weather", say: "rain" },
      { say: "first" },
      { say: "second" },
    );
    expect(await rehearsal.said("hello", "channel")).toEqual(text("first"));
    expect(await rehearsal.said("the weather?", "channel")).toEqual(text("rain"));
    expect(await rehearsal.said("go", "worker")).toEqual(text("work"));
    expect(await rehearsal.said("the weather?")).toEqual(text("second"));
    expect(await rehearsal.said("more")).toBe("InvalidRequest");
  });

  test("one that repeats is never spent", async () => {
    const rehearsal = new Rehearsal({ say: "again", repeat: true });
    expect([await rehearsal.said("a"), await rehearsal.said("b")]).toEqual([text("again"), text("again")]);
    expect(rehearsal.spent.size).toBe(0);
  });

  test("an error is spent as an answer is, and says how long to wait", async () => {
    const rehearsal = new Rehearsal({ error: { class: "RateLimited", retry_after_ms: 100 } }, { say: "now" });
    expect((await rehearsal.ask("hi")).at(-1)).toMatchObject({
      type: "failed",
      failure: { class: "RateLimited", retry_after_ms: 100 },
    });
    expect(await rehearsal.said("hi")).toEqual(text("now"));
  });

  test("a request that was cancelled before the answer spends nothing", async () => {
    const rehearsal = new Rehearsal({ say: "late" });
    const events = await rehearsal.ask("hi", null, AbortSignal.abort());
    expect(events.at(-1)).toMatchObject({ type: "failed", failure: { class: "Cancelled" } });
    expect(await rehearsal.said("hi")).toEqual(text("late"));
  });
});
