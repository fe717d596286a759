import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { silentLog } from "../../../kernel/src/base/log.ts";
import type { ModelRequest } from "../../../kernel/src/base/vocabulary/model.ts";
import { EgressClient } from "../../../kernel/src/egress/client/egress-client.ts";
import { streamFromProvider } from "../../../kernel/src/egress/client/task.ts";
import { systemClock } from "../../../kernel/src/platform/clock.ts";
import type { Figure } from "../figure.ts";
import { pause } from "../figure.ts";
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
    let sent = 0;
    while (sent < seconds * deltasPerSecond) {
      const due = Math.floor(((performance.now() - began) / 1000) * deltasPerSecond);
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

const requestOf = (text: string): ModelRequest => ({
  model: "lab/m",
  messages: [{ role: "user", parts: [{ type: "text", text }] }],
});

export const models: Figure = {
  name: "models",
  title:
    "a language model's answer through the egress host: what it adds to a bare fetch, and what a delta costs",
  async run({ isShort, say }) {
    const samples = isShort ? 20 : 200;
    const seconds = isShort ? 1 : 5;
    const { server, closedAt } = provider(seconds);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const baseUrl = `http://${host}/v1`;
    const settings = { id: "lab", api: "openai-compatible", baseUrl } as const;
    const openClient = (): EgressClient =>
      new EgressClient({
        clock: systemClock,
        log: silentLog,
        environment: () => ({}),
        trace: () => undefined,
      });
    const answer = (client: EgressClient, text: string, signal?: AbortSignal) =>
      streamFromProvider(client, {
        who: "bench",
        method: "POST",
        url: baseUrl,
        headers: [],
        rules: {
          allowedHosts: [host],
          privateHosts: [],
          providerHosts: [{ provider: "lab", host }],
          provider: "lab",
        },
        limits: { timeoutMs: 60_000, idleMs: 60_000, maxBytes: 64 * 1024 * 1024 },
        task: { kind: "generate", provider: settings, key: null, request: requestOf(text) },
        ...(signal === undefined ? {} : { signal }),
      });
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

    const cold: number[] = [];
    for (let round = 0; round < (isShort ? 2 : 5); round++) {
      await using client = openClient();
      cold.push(await firstToken(client));
    }
    say("cold: done");
    await using client = openClient();
    const [warm, bare]: [number[], number[]] = [[], []];
    for (let round = 0; round < samples + 10; round++) {
      const [ours, theirs] = [await firstToken(client), await bareFirst()];
      // The first ones compile.
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
    const [hostBefore, kernelBefore] = [cpuMsOf(client.pid), process.cpuUsage()];
    let deltas = 0;
    for await (const { type } of answer(client, "stream please")) if (type === "text") deltas++;
    const hostMs = cpuMsOf(client.pid) - hostBefore;
    // This process is the provider too, so its time is an upper bound.
    const { user, system } = process.cpuUsage(kernelBefore);
    server.closeAllConnections();
    server.close();
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
        what: "first token, cold: egress host and provider not loaded",
        value: median(cold),
        unit: "ms",
        target: { atMost: 400 },
        samples: cold.length,
      },
      {
        what: "cancel → the server sees the connection closed, p95",
        value: percentile(cancels, 0.95),
        unit: "ms",
        target: { atMost: 100 },
        samples: cancels.length,
      },
      ...(Number.isNaN(hostMs)
        ? []
        : [
            {
              what: `a delta at ${deltasPerSecond.toLocaleString("en")}/s: processor time of the egress host`,
              value: (hostMs * 1000) / deltas,
              unit: "µs",
              target: { atMost: 50 },
              samples: deltas,
              note: `the measuring process, which is kernel and provider: ${((user + system) / deltas).toFixed(1)} µs`,
            } as const,
          ]),
    ];
  },
};

/** Processor time of a process in milliseconds, where the system tells it. */
function cpuMsOf(pid: number | null): number {
  const path = `/proc/${pid}/stat`;
  if (pid === null || !existsSync(path)) return Number.NaN;
  const fields = readFileSync(path, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  // Ticks of a hundredth of a second.
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
