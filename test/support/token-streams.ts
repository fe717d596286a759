import { silentLog } from "../../kernel/src/base/log.ts";
import type { ModelRequest } from "../../kernel/src/base/vocabulary/model.ts";
import { EgressClient } from "../../kernel/src/egress/client/egress-client.ts";
import { streamFromProvider } from "../../kernel/src/egress/client/task.ts";
import { systemClock } from "../../kernel/src/platform/clock.ts";
import { sharedNow, tokenOf } from "./token-provider.ts";

export const openEgress = (): EgressClient =>
  new EgressClient({
    clock: systemClock,
    log: silentLog,
    environment: () => ({}),
    trace: () => undefined,
  });

/** Asks an OpenAI-compatible provider on this machine, as the kernel does. */
export function askProvider(client: EgressClient, host: string, text: string, signal?: AbortSignal) {
  const baseUrl = `http://${host}/v1`;
  const request: ModelRequest = {
    model: "lab/m",
    messages: [{ role: "user", parts: [{ type: "text", text }] }],
  };
  return streamFromProvider(client, {
    who: "test",
    method: "POST",
    url: baseUrl,
    headers: [],
    rules: {
      allowedHosts: [host],
      privateHosts: [],
      providerHosts: [{ provider: "lab", host }],
      provider: "lab",
    },
    limits: { timeoutMs: 30 * 60_000, idleMs: 60_000, maxBytes: 64 * 1024 * 1024 },
    task: {
      kind: "generate",
      provider: { id: "lab", api: "openai-compatible", baseUrl },
      key: null,
      request,
    },
    ...(signal === undefined ? {} : { signal }),
  });
}

/**
 * Reads one stream of the token provider to its end. Throws if a token is missing, duplicated, out of order or of
 * another stream. Returns the transit time of each, in milliseconds.
 */
export async function readTokens(
  client: EgressClient,
  host: string,
  name: string,
  count: number,
): Promise<readonly number[]> {
  const latencies: number[] = [];
  for await (const event of askProvider(client, host, `stream ${name} of ${count}`)) {
    if (event.type === "failed") throw new Error(`${name}: ${event.failure.message}`);
    if (event.type !== "text") continue;
    const now = sharedNow();
    for (const word of event.text.trim().split(" ")) {
      const { stream, number, at } = tokenOf(word);
      if (stream !== name || number !== latencies.length)
        throw new Error(
          `${name}: ${JSON.stringify(word)} came where number ${latencies.length} was expected.`,
        );
      latencies.push(now - at);
    }
  }
  if (latencies.length !== count) throw new Error(`${name}: ${latencies.length} of ${count} tokens came.`);
  return latencies;
}
