import { Credit } from "../../platform/children/credit.ts";
import { messageOf } from "../../base/errors.ts";
import { unlessAborted } from "../../base/abort.ts";
import type { ModelEvent } from "../../base/vocabulary/model.ts";
import type { FromHost, GenerateCall, RunPhase } from "../messages.ts";
import { UnusableModel } from "../unusable.ts";
import type { LanguageModels } from "./language-models.ts";

/** Progress is reported at most this often, because a kernel that does not read would otherwise fill this process. */
const progressMs = 1000;

interface Run {
  readonly credit: Credit;
  readonly abort: AbortController;
}

/** The answers that the host writes now; each ends with one `done` or `failed`. */
export class Runs {
  readonly #models: LanguageModels;
  readonly #send: (words: FromHost) => void;
  readonly #now: () => number;
  readonly #open = new Map<number, Run>();

  constructor(models: LanguageModels, send: (words: FromHost) => void, now: () => number) {
    this.#models = models;
    this.#send = send;
    this.#now = now;
  }

  grant(id: number, events: number): void {
    this.#open.get(id)?.credit.add(events);
  }

  cancel(id: number): void {
    this.#open.get(id)?.abort.abort(new Error("The request was cancelled."));
  }

  async answer(id: number, call: GenerateCall): Promise<void> {
    const run: Run = { credit: new Credit(), abort: new AbortController() };
    this.#open.set(id, run);
    try {
      this.#tell(id, await this.#events(id, call, run));
    } finally {
      this.#open.delete(id);
    }
  }

  /** Sends all events but the last, which it returns: that one needs no credit, so that every run ends. */
  async #events(id: number, call: GenerateCall, { credit, abort }: Run): Promise<ModelEvent> {
    const { signal } = abort;
    let [reportedAt, reported]: [number, RunPhase | null] = [0, null];
    const progress = (phase: RunPhase): void => {
      const now = this.#now();
      if (phase === reported && now - reportedAt < progressMs) return;
      [reportedAt, reported] = [now, phase];
      this.#send({ kind: "progress", id, phase });
    };
    try {
      for await (const event of this.#models.generate(call, signal, progress)) {
        if (event.type === "done" || event.type === "failed") return event;
        await unlessAborted(credit.available(), signal);
        credit.take(1);
        this.#tell(id, event);
      }
      throw new Error("The answer did not end.");
    } catch (error) {
      if (signal.aborted) return failed("Cancelled", "The request was cancelled.");
      if (error instanceof UnusableModel) return failed("NoModel", error.message);
      return failed("Overloaded", `The model "${call.request.model}" failed: ${messageOf(error)}`);
    }
  }

  #tell(id: number, event: ModelEvent): void {
    this.#send({ kind: "event", id, event });
  }
}

function failed(failureClass: "Cancelled" | "NoModel" | "Overloaded", message: string): ModelEvent {
  return { type: "failed", failure: { class: failureClass, message } };
}
