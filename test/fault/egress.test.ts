/** Streams of language models whose egress host dies, or that are cancelled. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { silentLog } from "../../kernel/src/base/log.ts";
import { openModels } from "../../kernel/src/outside/open-models.ts";
import { EditorModels } from "../../kernel/src/services/editor-models.ts";
import type { AnswerEvent } from "../../kernel/src/models/answer.ts";
import { systemClock } from "../../kernel/src/platform/clock.ts";
import { seeded } from "../support/seed.ts";
import { temporaryFolder } from "../../kernel/src/platform/testing/temporary-folder.ts";
import { until } from "../support/until.ts";

const delta = (content: string): string =>
  `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", model: "m", choices: [{ index: 0, delta: { content } }] })}\n\n`;
const ending = `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", model: "m", choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } })}\n\ndata: [DONE]\n\n`;

/** A provider whose answers the test writes, and the runtime of a kernel that uses it. */
async function bed(budgets: { readonly per_day_tokens?: number } = {}) {
  const asked: { readonly text: string; readonly response: ServerResponse }[] = [];
  const open = new Set<ServerResponse>();
  let answer = (_text: string, _response: ServerResponse): void => undefined;
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (piece: string) => (body += piece));
    request.on("end", () => {
      const { messages } = JSON.parse(body) as { messages: { content: string }[] };
      const text = messages.at(-1)?.content ?? "";
      asked.push({ text, response });
      open.add(response);
      response.once("close", () => open.delete(response));
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.flushHeaders();
      answer(text, response);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const folder = await temporaryFolder();
  const opened = new AsyncDisposableStack();
  const traces: unknown[] = [];
  const models = openModels({
    environment: {},
    userFolder: join(folder, "config"),
    stateHome: join(folder, "state"),
    home: folder,
    clock: systemClock,
    log: silentLog,
    opened,
    document: () => ({
      models: {
        providers: { lab: { api: "openai-compatible", base_url: baseUrl } },
        routes: { default: "lab/m" },
        budgets,
      },
      egress: {},
    }),
    trace: (trace) => traces.push(trace),
    turns: { isSpent: () => false, spend: () => Promise.resolve() },
    editor: new EditorModels(systemClock),
    consent: { allowsUnpriced: async () => true, allowsFound: async () => true },
  });
  onTestFinished(async () => {
    await opened.disposeAsync();
    server.closeAllConnections();
    server.close();
  });
  const ask = (text: string, signal = new AbortController().signal): AsyncGenerator<AnswerEvent, void> =>
    models.runtime.answer(
      { use: { kind: "category", category: "chat" }, localOnly: false },
      { messages: [{ role: "user", parts: [{ type: "text", text }] }], max_output_tokens: 1000 },
      { agent: "test.agent", conversation: "", process: null, isScheduled: false },
      signal,
    );
  return {
    ...models,
    traces,
    asked,
    open,
    ask,
    answerBy: (how: typeof answer) => (answer = how),
  };
}

async function eventsOf(events: AsyncIterable<AnswerEvent>): Promise<readonly AnswerEvent[]> {
  const all: AnswerEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

const attemptsOf = (events: readonly AnswerEvent[]): number =>
  events.filter(({ type }) => type === "attempt").length;

test("fifty answers under a killed egress host end with an error class or are retried, and every sent request is counted", async () => {
  const { ask, asked, answerBy, egress, usage, traces } = await bed();
  const isBefore = new Set<string>();
  answerBy((text, response) => {
    // The second attempt for answers that had shown nothing.
    if (text.startsWith("early") && isBefore.has(text)) return void response.end(delta("again") + ending);
    isBefore.add(text);
    if (text.startsWith("late")) response.write(delta("begun"));
  });
  let begun = 0;
  const answers = Array.from({ length: 50 }, async (_, index) => {
    const events: AnswerEvent[] = [];
    // A text is shown in parts, the last of them once it cannot be the beginning of a secret.
    let shown = "";
    for await (const event of ask(`${index % 2 === 0 ? "early" : "late"} ${index}`)) {
      if (event.type === "text") {
        shown += event.text;
        if (shown === "begun") begun++;
      }
      events.push(event);
    }
    return events;
  });
  await until("fifty requests to be at the provider", () => asked.length === 50 && begun === 25);
  const { pid } = egress;
  process.kill(pid ?? 0, "SIGKILL");
  const ends = await Promise.all(answers);
  for (const [index, events] of ends.entries()) {
    if (index % 2 === 0) {
      expect(events.at(-1)).toMatchObject({ type: "done", parts: [{ type: "text", text: "again" }] });
      expect(events.find(({ type }) => type === "attempt_failed")).toMatchObject({
        attempt: 1,
        failure: { class: "Network" },
      });
      expect(attemptsOf(events)).toBe(2);
    } else {
      expect(events.at(-1)).toMatchObject({ type: "failed", failure: { class: "Network" }, isPartial: true });
      expect(attemptsOf(events)).toBe(1);
    }
  }
  expect(egress.pid).not.toBe(pid);
  expect(egress.pid).not.toBeNull();
  expect([asked.length, traces.length]).toEqual([75, 75]);
  // What was lost with the host counts with its maximum cost, each attempt separately.
  const [sum] = await usage.sums("agent");
  expect(sum?.requests).toBe(75);
  expect(sum?.output_tokens).toBe(50 * 1000 + 25);
});

test("a reservation that was lost with the host is not spent twice", async () => {
  const { ask, asked, answerBy, egress } = await bed({ per_day_tokens: 1500 });
  answerBy((_text, response) => void response.write(delta("begun")));
  const answer = ask("hello");
  await until("the answer to begin", async () => (await answer.next()).value?.type === "text");
  process.kill(egress.pid ?? 0, "SIGKILL");
  expect((await eventsOf(answer)).at(-1)).toMatchObject({ type: "failed", isPartial: true });
  await expect(eventsOf(ask("again"))).rejects.toMatchObject({ code: "BudgetExceeded" });
  expect(asked).toHaveLength(1);
});

test("a thousand answers that are cancelled at random moments end as cancelled, and count if they were sent", async () => {
  const random = seeded();
  const { ask, asked, open, answerBy, usage, traces } = await bed();
  answerBy((_text, response) => void response.write(delta("x")));
  const cancelled = async (_: unknown, index: number): Promise<unknown> => {
    const aborter = new AbortController();
    // On a slow machine a whole round may end before anything was sent, so every second one ends after its first text.
    if (index % 2 === 0) void pause(random() * 60).then(() => aborter.abort());
    let end: AnswerEvent | undefined;
    for await (const event of ask(`number ${index}`, aborter.signal)) {
      if (event.type === "text") aborter.abort();
      end = event;
    }
    return end?.type === "failed" ? end.failure.class : end;
  };
  for (let round = 0; round < 20; round++)
    expect(new Set(await Promise.all(Array.from({ length: 50 }, cancelled)))).toEqual(new Set(["Cancelled"]));
  await until("every connection to be closed", () => open.size === 0);
  const [sum] = await usage.sums("agent");
  // A request that was cancelled on its way may have been sent without arriving.
  expect(sum?.requests).toBeGreaterThanOrEqual(asked.length);
  expect(sum?.requests).toBeLessThanOrEqual(traces.length);
  expect(asked.length).toBeGreaterThan(100);
});
