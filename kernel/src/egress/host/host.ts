import { unlessAborted } from "../../base/abort.ts";
import { Credit } from "../../platform/children/credit.ts";
import type { FromHost, HostRequest, ToHost } from "../messages.ts";
import { scannerWith } from "../../secret-scan/redact.ts";
import { answer, type AnswerPort } from "./answer.ts";
import type { Connections } from "./connections.ts";
import { type Guard, guardOf } from "./guard.ts";
import { answerTask } from "./model-task.ts";
import { failureOf, Stopped } from "../failures.ts";

/** What a provider's adapter sends: the kernel writes the key, and what goes to a model was masked. */
const unguarded: Guard = { guard: (hop) => hop, redirecting: () => undefined, unfilled: () => [] };

interface OpenRequest {
  readonly aborter: AbortController;
  readonly credit: Credit;
}

interface EgressHostOptions {
  readonly connections: Connections;
  send(words: FromHost): void;
  sendChunk(id: number, bytes: Uint8Array): void;
}

/** Carries out the kernel's requests, all at once. Each ends with `end` or `failed`. */
export class EgressHost {
  readonly #options: EgressHostOptions;
  readonly #open = new Map<number, OpenRequest>();

  constructor(options: EgressHostOptions) {
    this.#options = options;
  }

  async obey(words: ToHost, body: Uint8Array): Promise<void> {
    switch (words.kind) {
      case "request":
        return await this.#answer(words.id, words.request, body);
      case "cancel":
        this.#open.get(words.id)?.aborter.abort(new Stopped("Cancelled", "The request was cancelled."));
        return;
      case "prepare": {
        scannerWith([]);
        const { loadApi } = await import("./providers/stream-model.ts");
        await loadApi(words.api);
      }
    }
  }

  /** The kernel takes this many bytes more of an answer. */
  grant(id: number, bytes: number): void {
    this.#open.get(id)?.credit.add(bytes);
  }

  async #answer(id: number, request: HostRequest, body: Uint8Array): Promise<void> {
    const { send, sendChunk, connections } = this.#options;
    const { timeoutMs, idleMs } = request.limits;
    const aborter = new AbortController();
    const credit = new Credit();
    const { signal } = aborter;
    this.#open.set(id, { aborter, credit });
    let host = "";
    let mayHaveLeft = false;
    const timeOut = (afterMs: number, what: string): void =>
      aborter.abort(new Stopped("Timeout", `${host} ${what} within ${afterMs} ms.`));
    const total = setTimeout(() => timeOut(timeoutMs, "did not finish its answer"), timeoutMs);
    const startIdle = (): NodeJS.Timeout => setTimeout(() => timeOut(idleMs, "sent nothing"), idleMs);
    // Connecting has a limit of its own.
    let idle: NodeJS.Timeout | undefined;
    try {
      const scanner = scannerWith(request.patterns ?? []);
      const { task } = request;
      const guard = task === undefined ? guardOf(request, scanner) : unguarded;
      const port: AnswerPort = {
        signal,
        heading: (target) => (host = target.host),
        ...guard,
        sending() {
          mayHaveLeft = true;
          clearTimeout(idle);
          idle = startIdle();
        },
        head(head) {
          const unfilled = guard.unfilled();
          send({ kind: "head", id, head: unfilled.length === 0 ? head : { ...head, unfilled } });
        },
        heard: () => void idle?.refresh(),
        async chunk(bytes) {
          sendChunk(id, bytes);
          credit.take(bytes.length);
          if (credit.left > 0) return;
          // While the kernel reads slowly, the server is not silent.
          clearTimeout(idle);
          await unlessAborted(credit.available(), signal);
          idle = startIdle();
        },
      };
      const { isTruncated } =
        task === undefined
          ? await answer(request, body, connections, port)
          : await answerTask(request, task, connections, scanner, port);
      send({ kind: "end", id, isTruncated });
    } catch (error) {
      send({
        kind: "failed",
        id,
        failure: failureOf(signal.aborted ? signal.reason : error, host, mayHaveLeft),
      });
    } finally {
      clearTimeout(total);
      clearTimeout(idle);
      this.#open.delete(id);
      // The rest of an answer that was not read to its end would keep its connection open for ever.
      aborter.abort(new Stopped("Cancelled", "The request has ended."));
    }
  }
}
