import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { EgressClient } from "../../../kernel/src/egress/client/egress-client.ts";
import { dialects } from "../../../kernel/src/models/dialect.ts";
import { normalize } from "../../../kernel/src/models/normalize.ts";
import { installBuilt } from "../../support/installed.ts";
import { sharedNow, startTokenProvider, tokensPerSecond } from "../../support/token-provider.ts";
import { askProvider, openEgress, readTokens } from "../../support/token-streams.ts";
import type { Figure } from "../figure.ts";
import { pause } from "../figure.ts";
import { longHistory } from "../long-history.ts";
import { type FirstTokens, ModelSession } from "../model-session.ts";
import type { Row } from "../report.ts";
import { median, percentile } from "../statistics.ts";

/** OpenAI's Chat Completions: one event of the answer. */
const event = (content: string): string =>
  `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", model: "m", choices: [{ index: 0, delta: { content } }] })}\n\n`;
const ending = `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", model: "m", choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } })}\n\ndata: [DONE]\n\n`;
const deltasPerSecond = 10_000;

/** A provider in this process: "first" answers at once, "stream" at 10,000 deltas a second, "hold" never ends. */
function provider(seconds: number) {
  const closed: ((at: number) => void)[] = [];
  const stream = async (response: ServerResponse): Promise<void> => {
    const began = performance.now();
    const count = seconds * deltasPerSecond;
    let sent = 0;
    while (sent < count) {
      const due = Math.min(count, Math.floor(((performance.now() - began) / 1000) * deltasPerSecond));
      let text = "";
      for (; sent < due; sent++) text += event("word ");
      if (text !== "") response.write(text);
      await pause(1);
    }
    response.end(ending);
  };
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (piece: string) => (body += piece));
    request.on("end", () => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.on("close", () => closed.splice(0).forEach((tell) => tell(performance.now())));
      if (body.includes("stream please")) void stream(response);
      else if (body.includes("hold please")) response.write(event("x"));
      else response.end(event("x") + ending);
    });
  });
  return { server, closedAt: () => new Promise<number>((resolve) => closed.push(resolve)) };
}

/** Concurrent streams, and their length. */
const manyStreams = 100;

interface ManyStreams {
  /** Milliseconds of every token of one stream alone, and of that stream read by a bare fetch. */
  readonly alone: readonly number[];
  readonly bare: readonly number[];
  readonly together: readonly number[];
  readonly loopP99Ms: number;
}

/** Reads answers of a provider in a thread of its own; throws if a token is lost, duplicated or of another stream. */
async function measureStreams(client: EgressClient, seconds: number): Promise<ManyStreams> {
  await using provider = await startTokenProvider();
  const count = seconds * tokensPerSecond;
  await readTokens(client, provider.host, "first", tokensPerSecond);
  const alone = await readTokens(client, provider.host, "alone", count);
  const bare = await bareTokens(provider.host, count);
  const loop = monitorEventLoopDelay({ resolution: 1 });
  loop.enable();
  const all = await Promise.all(
    Array.from({ length: manyStreams }, (_, index) => readTokens(client, provider.host, `s${index}`, count)),
  );
  loop.disable();
  // The measuring timer has a period of a millisecond.
  return { alone, bare, together: all.flat(), loopP99Ms: loop.percentile(99) / 1e6 - 1 };
}

async function bareTokens(host: string, count: number): Promise<readonly number[]> {
  const response = await fetch(`http://${host}/v1/chat/completions`, {
    method: "POST",
    body: `stream bare of ${count}`,
  });
  const latencies: number[] = [];
  const decoder = new TextDecoder();
  for await (const bytes of response.body as ReadableStream<Uint8Array>) {
    const now = sharedNow();
    for (const [, at] of decoder.decode(bytes, { stream: true }).matchAll(/"bare:\d+:([\d.]+) "/g))
      latencies.push(now - Number(at));
  }
  return latencies;
}

export const models: Figure = {
  name: "models",
  title:
    "a language model's answer through the egress host: what it adds to a bare fetch, and what a delta costs",
  async run({ isShort, say }) {
    const samples = isShort ? 20 : 200;
    const seconds = isShort ? 1 : 5;
    const { server, closedAt } = provider(seconds);
    // A server that is left open keeps the whole run from ending.
    using _closed = { [Symbol.dispose]: () => (server.closeAllConnections(), server.close()) };
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const baseUrl = `http://${host}/v1`;
    const answer = (client: EgressClient, text: string, signal?: AbortSignal) =>
      askProvider(client, host, text, signal);
    const firstToken = async (client: EgressClient): Promise<number> => {
      const began = performance.now();
      let ms = Number.NaN;
      for await (const { type } of answer(client, "hello"))
        if (type === "text") ms = performance.now() - began;
      return ms;
    };
    const bareFirst = async (): Promise<number> => {
      const began = performance.now();
      const response = await fetch(`${baseUrl}/chat/completions`, { method: "POST", body: "{}" });
      const reader = (response.body as ReadableStream<Uint8Array>).getReader();
      await reader.read();
      const ms = performance.now() - began;
      while ((await reader.read()).done === false);
      return ms;
    };

    const cold = await coldTimes(host, isShort ? 2 : 5, say);
    await using session = await ModelSession.open(host);
    const inKernel = (await session.firstTokensOfNewKernel(samples + 10)).times.slice(10);
    await using client = openEgress();
    const [warm, bare]: [number[], number[]] = [[], []];
    for (let round = 0; round < samples + 10; round++) {
      const [ours, theirs] = [await firstToken(client), await bareFirst()];
      // The first rounds compile.
      if (round < 10) continue;
      warm.push(ours);
      bare.push(theirs);
    }
    say("warm: done");
    const cancels: number[] = [];
    for (let round = 0; round < samples / 2; round++) {
      const aborter = new AbortController();
      const closed = closedAt();
      let began = Number.NaN;
      for await (const { type } of answer(client, "hold please", aborter.signal))
        if (type === "text") {
          began = performance.now();
          aborter.abort();
        }
      cancels.push((await closed) - began);
    }
    say("cancels: done");
    const deltas = seconds * deltasPerSecond;
    const costs = [
      { what: "a provider", cost: await session.costOfProvider("stream please", deltas * "word ".length) },
      { what: "an editor's model", cost: await session.costOfEditor(deltas, deltasPerSecond) },
    ];
    say("deltas: done");
    const streams = await measureStreams(client, isShort ? 2 : 10);
    return [
      {
        what: "first token, warm, added to a bare fetch, p95",
        value: percentile(warm, 0.95) - percentile(bare, 0.95),
        unit: "ms",
        target: { atMost: 5 },
        samples: warm.length,
        note: `p50 ${median(warm).toFixed(1)} ms, bare ${median(bare).toFixed(1)} ms`,
      },
      {
        what: "the same in a kernel, whose budgets are written to the disk",
        value: percentile(inKernel, 0.95) - percentile(bare, 0.95),
        unit: "ms",
        target: { atMost: 5 },
        samples,
        note: `p50 ${median(inKernel).toFixed(1)} ms`,
      },
      ...cold,
      {
        what: "cancel → the server sees the connection closed, p95",
        value: percentile(cancels, 0.95),
        unit: "ms",
        target: { atMost: 100 },
        samples: cancels.length,
      },
      ...costs.map(({ what, cost }): Row => {
        const { egressMs, kernelMs, frontMs, seconds: passed } = cost;
        const micros = (ms: number): string => ((ms * 1000) / deltas).toFixed(1);
        return {
          what: `a delta of ${what} at ${deltasPerSecond.toLocaleString("en")}/s: processor time of egress host, kernel and front together`,
          value: ((egressMs + kernelMs + frontMs) * 1000) / deltas,
          unit: "µs",
          target: { atMost: 50 },
          samples: deltas,
          note: `egress host ${micros(egressMs)} µs, kernel ${micros(kernelMs)}, front ${micros(frontMs)}; ${Math.round(deltas / passed).toLocaleString("en")} came a second`,
        };
      }),
      {
        what: "a token of one stream, added to a bare fetch, p95",
        value: percentile(streams.alone, 0.95) - percentile(streams.bare, 0.95),
        unit: "ms",
        target: { atMost: 5 },
        samples: streams.alone.length,
        note: `bare ${percentile(streams.bare, 0.95).toFixed(1)} ms`,
      },
      {
        what: `${manyStreams} streams of ${tokensPerSecond} tokens a second, none lost or mixed: the kernel's loop, p99`,
        value: streams.loopP99Ms,
        unit: "ms",
        target: { atMost: 20 },
        samples: streams.together.length,
        note: `a token is ${percentile(streams.together, 0.95).toFixed(1)} ms on its way, p95`,
      },
      normalizing(isShort),
    ];
  },
};

/** How long a kernel that was just started takes for its first token: nothing of it is loaded, and no egress host runs. */
async function coldTimes(host: string, rounds: number, say: (line: string) => void): Promise<readonly Row[]> {
  const rows: Row[] = [];
  const folder = mkdtempSync(join(tmpdir(), "lares-models-"));
  try {
    for (const [what, executable] of [
      ["the installed package", installBuilt(folder)],
      ["sources", undefined],
    ] as const) {
      await using session = await ModelSession.open(host, executable);
      // The first one fills the cache of compiled code.
      const first = await session.firstTokensOfNewKernel();
      const others: FirstTokens[] = [];
      for (let round = 0; round < rounds; round++) others.push(await session.firstTokensOfNewKernel());
      const of = (figure: (tokens: FirstTokens) => number): number => median(others.map(figure));
      say(`cold, ${what}: done`);
      rows.push({
        what: `first token, cold, of ${what}: egress host and provider not loaded`,
        value: of(({ times }) => times[0] ?? Number.NaN),
        unit: "ms",
        ...(executable === undefined ? {} : { target: { atMost: 400 } }),
        samples: rounds,
        note: `processor time: egress host from its start on ${of(({ egressMs }) => egressMs).toFixed(0)} ms, kernel ${of(({ kernelMs }) => kernelMs).toFixed(0)}; the very first, with no compiled code kept, took ${first.times[0]?.toFixed(0)} ms`,
      });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return rows;
}

/** A history of 200,000 tokens, written for a provider whose turns alternate. */
function normalizing(isShort: boolean): Row {
  const messages = longHistory(200_000);
  const times: number[] = [];
  for (let round = 0; round < (isShort ? 30 : 200); round++) {
    const began = performance.now();
    normalize({ model: "lab/m", messages }, dialects.anthropic);
    times.push(performance.now() - began);
  }
  const began = performance.now();
  const { length } = JSON.stringify(messages);
  const written = performance.now() - began;
  return {
    what: "normalize on 200,000 tokens, p95",
    value: percentile(times, 0.95),
    unit: "ms",
    target: { atMost: 20 },
    samples: times.length,
    floor: { what: "writing it as JSON", value: written },
    note: `${messages.length} messages, ${(length / 1e6).toFixed(1)} MB; the first time, not yet compiled: ${times[0]?.toFixed(1)} ms`,
  };
}
