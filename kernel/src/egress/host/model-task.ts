import { finishedInTurns } from "../../base/next-turn.ts";
import type { ModelEvent } from "../../base/vocabulary/model.ts";
import { targetOf } from "../../policy/egress.ts";
import type { SecretScanner } from "../../secret-scan/scanner.ts";
import { egressBounds as bounds } from "../bounds.ts";
import type { HostRequest, ModelTask } from "../messages.ts";
import type { AnswerPort } from "./answer.ts";
import type { Connections } from "./connections.ts";
import { exchange } from "./exchange.ts";
import { Denied } from "../failures.ts";
import { maskingRequest } from "../mask.ts";
import { ModelFault } from "./providers/failures.ts";
import { webBody } from "./web-body.ts";

/**
 * Carries out a task at a provider: the provider's adapter writes the requests, and all of them go through the same
 * decisions as an agent's. Resolves when the task has ended; throws what ended its connection.
 */
export async function answerTask(
  { rules, limits, known = [] }: HostRequest,
  task: ModelTask,
  connections: Connections,
  scanner: SecretScanner,
  port: AnswerPort,
): Promise<{ readonly isTruncated: boolean }> {
  const lines = new Lines(port);
  let refusal: Denied | null = null;
  const guardedFetch: typeof globalThis.fetch = async (input, init) => {
    const text = init?.body ?? "";
    if (input instanceof Request || typeof text !== "string")
      throw new TypeError("An adapter sends an address and a text.");
    const body = Buffer.from(text);
    const headers = [...new Headers(init?.headers)];
    const hop = { method: init?.method ?? "GET", url: String(input), headers, body };
    try {
      const { head, body: answered } = await exchange(hop, rules, connections, {
        ...port,
        sending() {
          port.sending();
          // Only now: a request whose connection failed has cost nothing.
          if (task.kind === "generate") void lines.write({ type: "sent" });
        },
      });
      const target = targetOf(hop.url);
      const path = "path" in target ? target.path : "";
      lines.begin({ ...head, headers: [], sent: { path, bytes: body.length } });
      // The web's responses have no others.
      if (head.status < 200 || head.status > 599 || withoutBody.has(head.status)) {
        answered.destroy();
        throw new Error(`The server answered with the status ${head.status}, which holds no answer.`);
      }
      return new Response(webBody(answered, limits.maxBytes, port.heard), {
        status: head.status,
        headers: head.headers.map(([name, value]): [string, string] => [name, value]),
      });
    } catch (error) {
      if (error instanceof Denied) refusal = error;
      throw error;
    }
  };
  if (task.kind === "list") {
    const { listModels } = await import("./providers/list-models.ts");
    try {
      await lines.write(await listModels(task.provider, task.key, guardedFetch, port.signal));
    } catch (error) {
      if (refusal !== null) throw refusal;
      if (!(error instanceof ModelFault)) throw error;
      port.signal.throwIfAborted();
      await lines.write({ type: "failed", failure: error.failure } satisfies ModelEvent);
    }
  } else {
    const { streamModel } = await import("./providers/stream-model.ts");
    const call = {
      provider: task.provider,
      key: task.key,
      request: await finishedInTurns(maskingRequest(task.request, known, scanner)),
    };
    for await (const event of streamModel(call, guardedFetch, port.signal)) {
      if (event.type === "sent") continue;
      if (event.type === "failed") {
        // The adapter sees only that its request failed.
        port.signal.throwIfAborted();
        if (refusal !== null) throw refusal;
      }
      await lines.write(event);
    }
  }
  await lines.end();
  return { isTruncated: false };
}

/** Statuses whose answers have no body. */
const withoutBody: ReadonlySet<number> = new Set([204, 205, 304]);

/** Values as lines of JSON, of which those of one turn of the loop travel together. */
class Lines {
  readonly #port: AnswerPort;
  #hasBegun = false;
  #pending: string[] = [];
  #pendingLength = 0;
  #flushing: Promise<void> | null = null;

  constructor(port: AnswerPort) {
    this.#port = port;
  }

  begin(head: Parameters<AnswerPort["head"]>[0]): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#port.head(head);
    void this.#flushSoon();
  }

  /** Resolves when more may be written. */
  async write(value: ModelEvent | object): Promise<void> {
    const line = `${JSON.stringify(value)}\n`;
    this.#pending.push(line);
    this.#pendingLength += line.length;
    // Without a head the kernel knows nothing of the answer yet.
    if (!this.#hasBegun) return;
    const flushed = this.#flushSoon();
    if (this.#pendingLength > bounds.windowBytes) await flushed;
  }

  async end(): Promise<void> {
    if (!this.#hasBegun) this.begin({ status: 0, headers: [], redirects: [], viaProxy: false });
    while (this.#pending.length > 0 || this.#flushing !== null) await this.#flushSoon();
  }

  #flushSoon(): Promise<void> {
    this.#flushing ??= new Promise<void>((resolve) => void setImmediate(resolve)).then(async () => {
      const text = this.#pending.join("");
      this.#pending = [];
      this.#pendingLength = 0;
      try {
        const bytes = Buffer.from(text);
        // An answer's last line holds it whole, and a frame has a limit.
        for (let at = 0; at < bytes.length; at += bounds.windowBytes)
          await this.#port.chunk(bytes.subarray(at, at + bounds.windowBytes));
      } finally {
        this.#flushing = null;
      }
    });
    // The request ends with the error; a writer that waits for room gets it too.
    this.#flushing.catch(() => undefined);
    return this.#flushing;
  }
}
