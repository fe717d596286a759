import type {
  ModelAnswerPart,
  ModelEvent,
  ModelFailure,
  ModelFinish,
  ModelRequest,
  ModelUsage,
} from "../base/vocabulary/model.ts";
import { maxInputTokens, maxTextTokens } from "./cost.ts";
import type { Dialect } from "./dialect.ts";
import { backoffMs, isRefusal, isRetryable, maxAttemptsPerModel } from "./failures.ts";
import { normalize, type Repair } from "./normalize.ts";
import type { Chain } from "./routing.ts";

/** The maximum cost of an attempt, reserved in the budgets until its actual cost is known. */
export interface Reservation {
  /**
   * Returns the cost in millionths of a dollar; null if no price is known. `recorded` resolves once the usage is stored in
   * place of the reservation.
   */
  settle(usage: ModelUsage): Promise<{ readonly microUsd: number | null; readonly recorded: Promise<void> }>;
  /**
   * Releases the whole reservation, because nothing was sent. A reservation that is neither settled nor released
   * counts in full, as that of an answer that broke off by itself.
   */
  release(): Promise<void>;
}

export interface AnswerPorts {
  /**
   * Whether an answer that was stopped counts what it had streamed. Not for a program: a model may compute more than it
   * shows, and a program could stop each answer to spend beyond its budget.
   */
  readonly settlesStopped: boolean;
  /** Milliseconds from an arbitrary start; never goes backwards. */
  monotonic(): number;
  /** Makes one attempt; the iterable ends with `done` or `failed`, even if the signal is aborted. */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
  /** Returns the properties of a model. */
  describe(model: string): {
    readonly dialect: Dialect;
    readonly maxOutputTokens?: number;
    /** It may reason without showing it, and bill that. */
    readonly mayHideReasoning: boolean;
  };
  /** Throws BudgetExceeded. */
  reserve(
    model: string,
    most: { readonly inputTokens: number; readonly outputTokens: number },
  ): Promise<Reservation>;
  /** Resolves after the time, or as soon as the signal is aborted. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  /** Returns a number in [0, 1). */
  random(): number;
}

export type AnswerEvent =
  | {
      readonly type: "attempt";
      /** Counts from 1, over all models of the chain. */
      readonly attempt: number;
      readonly model: string;
      readonly repairs: readonly Repair[];
    }
  | { readonly type: "text" | "reasoning"; readonly text: string }
  | { readonly type: "tool_call"; readonly call: string; readonly tool: string; readonly text: string }
  | { readonly type: "attempt_failed"; readonly attempt: number; readonly failure: ModelFailure }
  | {
      readonly type: "done";
      readonly model: string;
      readonly parts: readonly ModelAnswerPart[];
      readonly finish: ModelFinish;
      readonly usage: ModelUsage;
      /** In millionths of a dollar; null if no price is known. */
      readonly microUsd: number | null;
    }
  | {
      readonly type: "failed";
      readonly model: string;
      readonly failure: ModelFailure;
      /** True if deltas were passed on: they remain as a partial answer. */
      readonly isPartial: boolean;
    };

/** The maximum length of an answer in tokens if neither the request nor a catalogue limits it. */
const defaultMaxOutputTokens = 8_192;

/** The share of a window that one answer may take. */
const outputShare = 0.25;

/**
 * Returns how long an answer in a conversation may be, in tokens, for a model that reads this many. In a small window an
 * answer without an end would leave no room for what was said before.
 */
export function outputTokensIn(contextTokens: number): number {
  return Math.max(1, Math.min(defaultMaxOutputTokens, Math.floor(contextTokens * outputShare)));
}

const cancelled: ModelFailure = { class: "Cancelled", message: "The request was cancelled." };

/**
 * Asks the models of the chain, in order, until one answers. Each model gets up to three attempts. After the first
 * delta there is no further attempt, because it would repeat the text. The last event is `done` or `failed`.
 */
export async function* answer(
  request: Omit<ModelRequest, "model">,
  { models }: Chain,
  ports: AnswerPorts,
  signal: AbortSignal,
  knownTools: Iterable<readonly [string, string]> = [],
): AsyncGenerator<AnswerEvent, void> {
  const names = [...knownTools];
  let attempt = 0;
  let last: ModelFailure = cancelled;
  for (const model of models)
    for (let ofModel = 1; ofModel <= maxAttemptsPerModel; ofModel++) {
      if (signal.aborted) return yield { type: "failed", model, failure: cancelled, isPartial: false };
      attempt++;
      let outcome = yield* attemptOf(request, model, attempt, ports, signal, names);
      if (outcome !== null && mayBePictures(outcome, request) && ports.describe(model).dialect.images) {
        // Otherwise a picture that a provider refuses would make every later request of its conversation fail too.
        yield { type: "attempt_failed", attempt, failure: outcome.failure };
        attempt++;
        outcome = yield* attemptOf(request, model, attempt, withoutPictures(ports), signal, names);
      }
      if (outcome === null) return;
      const { failure, isPartial } = outcome;
      last = failure;
      const isFinal = isPartial || !isRetryable(failure);
      if (isFinal) return yield { type: "failed", model, failure, isPartial };
      yield { type: "attempt_failed", attempt, failure };
      const pause = backoffMs(failure, ofModel, ports.random());
      if (pause === null || ofModel === maxAttemptsPerModel) break;
      await ports.wait(pause, signal);
    }
  const model = models.at(-1) ?? models[0];
  yield { type: "failed", model, failure: last, isPartial: false };
}

/** Returns whether a provider may have refused a request because of its pictures. */
function mayBePictures(
  { failure, isPartial }: { readonly failure: ModelFailure; readonly isPartial: boolean },
  { messages }: Pick<ModelRequest, "messages">,
): boolean {
  return (
    !isPartial &&
    failure.class === "InvalidRequest" &&
    messages.some((message) => message.role === "user" && message.parts.some(({ type }) => type === "image"))
  );
}

function withoutPictures(ports: AnswerPorts): AnswerPorts {
  const describe: AnswerPorts["describe"] = (model) => {
    const known = ports.describe(model);
    return { ...known, dialect: { ...known.dialect, images: false } };
  };
  return { ...ports, describe };
}

/** Makes one attempt. Returns null after `done`, otherwise the failure. */
async function* attemptOf(
  request: Omit<ModelRequest, "model">,
  model: string,
  attempt: number,
  ports: AnswerPorts,
  signal: AbortSignal,
  knownTools: readonly (readonly [string, string])[],
): AsyncGenerator<AnswerEvent, { readonly failure: ModelFailure; readonly isPartial: boolean } | null> {
  const { dialect, maxOutputTokens, mayHideReasoning } = ports.describe(model);
  const wanted = request.max_output_tokens ?? maxOutputTokens ?? defaultMaxOutputTokens;
  const outputTokens = Math.min(wanted, maxOutputTokens ?? wanted);
  const {
    request: ready,
    repairs,
    tools,
  } = normalize({ ...request, model, max_output_tokens: outputTokens }, dialect, knownTools);
  const inputTokens = maxInputTokens(ready);
  const reservation = await ports.reserve(model, { inputTokens, outputTokens });
  yield { type: "attempt", attempt, model, repairs };
  let isSent = false;
  let isPartial = false;
  let streamedTokens = 0;
  const silence = new Silence(ports);
  let recorded: Promise<void> | null = null;
  try {
    for await (const event of ports.stream(ready, signal))
      switch (event.type) {
        case "sent":
          isSent = true;
          silence.began();
          break;
        case "text":
        case "reasoning":
          isPartial = true;
          silence.broken();
          streamedTokens += maxTextTokens(event.text);
          yield event;
          break;
        case "tool_call":
          isPartial = true;
          silence.broken();
          streamedTokens += maxTextTokens(event.tool) + maxTextTokens(event.text);
          yield { ...event, tool: tools.nameOf(event.tool) ?? event.tool };
          break;
        case "failed":
          // A refused request is counted, and costs nothing.
          if (isSent && !isPartial && isRefusal(event.failure))
            recorded = (await reservation.settle({ input_tokens: 0, output_tokens: 0 })).recorded;
          return { failure: event.failure, isPartial };
        case "done": {
          const usage = countable(event.usage);
          const settled = await reservation.settle(usage);
          ({ recorded } = settled);
          // Awaited in the finally block, so that the consumer gets the answer without waiting for the commit.
          recorded.catch(() => undefined);
          const parts = event.parts.map((part) =>
            part.type === "tool_call" ? { ...part, tool: tools.nameOf(part.tool) ?? part.tool } : part,
          );
          yield {
            type: "done",
            model,
            parts,
            finish: event.finish,
            usage,
            microUsd: settled.microUsd,
          };
          return null;
        }
      }
    return {
      failure: { class: "Network", message: "The connection ended before the answer did." },
      isPartial,
    };
  } finally {
    // A provider bills what it wrote until the caller left. Before the first piece nobody knows what it is computing.
    if (ports.settlesStopped && isPartial && recorded === null && signal.aborted) {
      silence.broken();
      const hidden = mayHideReasoning ? silence.mostTokens : 0;
      const written = Math.min(outputTokens, Math.ceil(streamedTokens + hidden));
      recorded = (await reservation.settle({ input_tokens: inputTokens, output_tokens: written })).recorded;
    }
    await recorded;
    // Anything that may have left the machine may have cost money, even if the attempt failed.
    if (!isSent) await reservation.release();
  }
}

/** An upper bound for models that reason without showing it. */
const mostTokensPerMs = 1;
/** Pieces of an answer that is streamed come faster after one another. */
const leastSilenceMs = 250;

/** Measures how long a model has shown nothing: it may have reasoned meanwhile. */
class Silence {
  readonly #clock: Pick<AnswerPorts, "monotonic">;
  #since = 0;
  #totalMs = 0;

  constructor(clock: Pick<AnswerPorts, "monotonic">) {
    this.#clock = clock;
  }

  began(): void {
    this.#since = this.#clock.monotonic();
  }

  broken(): void {
    const now = this.#clock.monotonic();
    if (now - this.#since >= leastSilenceMs) this.#totalMs += now - this.#since;
    this.#since = now;
  }

  /** The most tokens that it can have written meanwhile. */
  get mostTokens(): number {
    return this.#totalMs * mostTokensPerMs;
  }
}

/** Tokens that are counted of one answer at most. None costs as much, and sums of them stay numbers. */
const mostCounted = 1_000_000_000;

/** Returns what a model says that it used, as far as it can be true. */
function countable({ input_tokens: input, output_tokens: output, ...parts }: ModelUsage): ModelUsage {
  const count = (said: number): number => (said >= 0 ? Math.round(Math.min(said, mostCounted)) : 0);
  const counted = Object.entries(parts).map(([name, said]) => [name, count(said)] as const);
  return { input_tokens: count(input), output_tokens: count(output), ...Object.fromEntries(counted) };
}
