import { isoTime, type Clock } from "../base/clock.ts";
import { JoinedSignals } from "../base/abort.ts";
import { LaresError, requestCancelled } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import { waitUnlessAborted } from "../base/wait.ts";
import type { Asking } from "../base/vocabulary/ask.ts";
import type { BudgetSettings, ModelSettings, ProviderSettings } from "../base/vocabulary/model-settings.ts";
import type { ModelEvent, ModelFailure, ModelRequest, ModelUsage } from "../base/vocabulary/model.ts";
import type { Actor, ProcessKind } from "../base/vocabulary/principal.ts";
import { answer, type AnswerEvent, type Reservation } from "./answer.ts";
import type { ModelCatalog } from "./catalog.ts";
import { dialects } from "./dialect.ts";
import { type AnswerRedactor, redactedEvents } from "./redacted.ts";
import { parseModelReference } from "./reference.ts";
import { chainFor, isLocalModel, type Need } from "./routing.ts";

/** The caller that needs an answer: it is named in traces, and its usage is counted. Empty texts: no agent, no conversation. */
export interface Asker {
  readonly agent: string;
  readonly conversation: string;
  /** The conversation whose budget it counts for too, because a process of it led to the request by a call. */
  readonly countsFor?: string;
  /** The kind of process, if one asks. */
  readonly process: ProcessKind | null;
  /** A schedule led to it. */
  readonly isScheduled: boolean;
  /** Who led the agent to ask, the nearest first; a question to the person names them. */
  readonly onBehalfOf?: readonly Actor[];
  /** How the person is asked about the request, for one of a conversation. */
  readonly asking?: Asking;
}

/** Counts usage before a request is sent, and when its answer has ended; `user-state/usage.ts` implements it. */
interface UsagePort {
  /** Returns the budget that has not enough left, or null. */
  reserve(
    id: string,
    subject: {
      readonly day: string;
      readonly model: string;
      readonly agent: string;
      readonly conversation: string;
    },
    estimate: {
      readonly inputTokens: number;
      readonly outputTokens: number;
      readonly microUsd: number | null;
    },
    budgets: BudgetSettings,
  ): Promise<{ readonly budget: string; readonly spent: number; readonly limit: number } | null>;
  settle(
    id: string,
    report: {
      readonly inputTokens: number;
      readonly outputTokens: number;
      readonly reasoningTokens: number;
      readonly cacheReadTokens: number;
      readonly cacheWriteTokens: number;
      readonly microUsd: number | null;
    },
  ): Promise<void>;
  release(id: string): Promise<void>;
}

export interface ModelRuntimePorts {
  readonly clock: Clock;
  /** Returns the settings in force, with the found models if the document names no provider. */
  settings(): Promise<ModelSettings>;
  catalog(): Promise<ModelCatalog>;
  /** Returns whether a model is known to take pictures. */
  takesPictures(provider: ProviderSettings, model: string): boolean;
  /** Told before a model is asked, so that what answers is started while the request is prepared. Sends nothing. */
  prepare(provider: ProviderSettings): void;
  /** Makes one attempt. The iterable ends with `done` or `failed`. */
  stream(
    provider: ProviderSettings,
    request: ModelRequest,
    asker: Asker,
    signal: AbortSignal,
  ): AsyncIterable<ModelEvent>;
  readonly usage: UsagePort;
  /** Returns whether a person lets a model without a known price be used although a budget in dollars is set. */
  allowsUnpriced(model: string, asker: Asker, signal: AbortSignal): Promise<boolean>;
  /** Returns whether a person lets a provider be used that their document does not name. */
  allowsFound(provider: ProviderSettings, model: string, asker: Asker, signal: AbortSignal): Promise<boolean>;
  /** Returns what takes secrets out of an answer. */
  redact(): AnswerRedactor;
  /** Returns a number in [0, 1). */
  random(): number;
}

/** A question to a model, without the choice of the model. */
export type ModelQuestion = Omit<ModelRequest, "model">;

/** Answers questions by the models of the person's settings: routes, attempts, fallbacks, budgets. */
export class ModelRuntime {
  readonly #ports: ModelRuntimePorts;

  constructor(ports: ModelRuntimePorts) {
    this.#ports = ports;
  }

  /**
   * Streams the answer of the models that are routed for the need; the last event is `done` or `failed`. Throws
   * BudgetExceeded.
   */
  async *answer(
    need: Need,
    question: ModelQuestion,
    asker: Asker,
    signal: AbortSignal,
    knownTools: Iterable<readonly [string, string]> = [],
  ): AsyncGenerator<AnswerEvent, void> {
    const settings = await this.#ports.settings();
    const chain = chainFor(need, settings);
    if ("failure" in chain)
      return yield { type: "failed", model: "", failure: chain.failure, isPartial: false };
    const models = await this.#allowed(chain.models, settings, asker, signal);
    if ("failure" in models)
      return yield { type: "failed", model: chain.models[0], failure: models.failure, isPartial: false };
    yield* this.#answer(models, settings, question, asker, signal, knownTools);
  }

  /** Streams one model's answer, without fallbacks. */
  async *answerOf(
    model: string,
    question: ModelQuestion,
    asker: Asker,
    signal: AbortSignal,
  ): AsyncGenerator<AnswerEvent, void> {
    const settings = await this.#ports.settings();
    const chain = chainFor(
      { use: { kind: "talk", process: "channel", chosen: model }, localOnly: false },
      { ...settings, fallbacks: {} },
    );
    if ("failure" in chain) return yield { type: "failed", model, failure: chain.failure, isPartial: false };
    yield* this.#answer(chain.models, settings, question, asker, signal, []);
  }

  /**
   * Returns the models that may be asked: those of the person's document, or of those that were found the first one
   * that a person allows. One that was found is never asked because another one failed.
   */
  async #allowed(
    models: readonly [string, ...string[]],
    settings: ModelSettings,
    asker: Asker,
    signal: AbortSignal,
  ): Promise<readonly [string, ...string[]] | { readonly failure: ModelFailure }> {
    const isFound = (model: string): boolean => providerOf(model, settings).foundBy !== undefined;
    if (!models.some(isFound)) return models;
    for (const model of models) {
      if (
        isFound(model) &&
        !(await this.#ports.allowsFound(providerOf(model, settings), model, asker, signal))
      )
        continue;
      return [model];
    }
    return {
      failure: {
        class: "NoModel",
        message: `You did not allow ${models.join(" or ")}, and your lares.yaml names no provider. Name one under models.providers.`,
      },
    };
  }

  async *#answer(
    models: readonly [string, ...string[]],
    settings: ModelSettings,
    question: ModelQuestion,
    asker: Asker,
    signal: AbortSignal,
    knownTools: Iterable<readonly [string, string]>,
  ): AsyncGenerator<AnswerEvent, void> {
    // An answer with a schema is data for the program that asked: a mark in it would be a wrong value.
    if (question.schema !== undefined)
      return yield* this.#attempts(models, settings, question, asker, signal, knownTools);
    // A caller that leaves the loop early ends the attempt, even while it waits for the next piece.
    const left = new AbortController();
    using joined = new JoinedSignals(signal, left.signal);
    const events = this.#attempts(models, settings, question, asker, joined.signal, knownTools);
    yield* redactedEvents(events, this.#ports.redact(), this.#ports.clock, () =>
      left.abort(requestCancelled("The answer is not needed any more.")),
    );
  }

  #attempts(
    models: readonly [string, ...string[]],
    settings: ModelSettings,
    question: ModelQuestion,
    asker: Asker,
    signal: AbortSignal,
    knownTools: Iterable<readonly [string, string]>,
  ): AsyncGenerator<AnswerEvent, void> {
    const { clock, stream, random, allowsUnpriced, takesPictures } = this.#ports;
    this.#ports.prepare(providerOf(models[0], settings));
    // A person allows an answer, with all the attempts that it takes.
    const allowed = new Map<string, Promise<boolean>>();
    const mayBeUnpriced = (model: string): Promise<boolean> => {
      const known = allowed.get(model) ?? allowsUnpriced(model, asker, signal);
      allowed.set(model, known);
      return known;
    };
    return answer(
      question,
      { models },
      {
        stream: (request, aborted) => stream(providerOf(request.model, settings), request, asker, aborted),
        describe: (model) => {
          const provider = providerOf(model, settings);
          const images = takesPictures(provider, model);
          return {
            dialect: { ...dialects[provider.api], images },
            mayHideReasoning: !isLocalModel(model, provider),
          };
        },
        reserve: (model, most) => this.#reserve(model, most, settings, asker, mayBeUnpriced),
        settlesStopped: asker.process !== null,
        monotonic: () => clock.monotonic(),
        wait: (ms, aborted) => waitUnlessAborted(clock, ms, aborted),
        random,
      },
      signal,
      knownTools,
    );
  }

  async #reserve(
    model: string,
    most: { readonly inputTokens: number; readonly outputTokens: number },
    settings: ModelSettings,
    asker: Asker,
    mayBeUnpriced: (model: string) => Promise<boolean>,
  ): Promise<Reservation> {
    const { clock, usage } = this.#ports;
    const provider = providerOf(model, settings);
    const cost = await this.#costOf(provider, model, {
      input_tokens: most.inputTokens,
      output_tokens: most.outputTokens,
    });
    const { budgets } = settings;
    const isBudgeted = Object.keys(budgets).length > 0;
    if (cost === null && isBudgeted && budgets.perDayTokens === undefined)
      if (!(await mayBeUnpriced(model)))
        throw new LaresError(
          "BudgetExceeded",
          `The price of ${model} is not known, so it cannot be counted against the budget in dollars. Set models.budgets.per_day_tokens in your lares.yaml, or allow it when asked.`,
          { budget: "per_day_usd", spent: 0, limit: 0 },
        );
    const id = newId();
    const { agent, conversation: asking, countsFor: conversation = asking } = asker;
    const subject = { day: isoTime(clock.now()).slice(0, 10), model, agent, conversation };
    const reserving = usage.reserve(id, subject, { ...most, microUsd: cost }, budgets);
    const reserved = reserving.then((exceeded) => {
      if (exceeded !== null) throw budgetExceeded(exceeded);
    });
    // Without a budget nothing can refuse a free request, so it does not wait for its reservation. If that cannot be
    // written, settling or releasing it reports the error.
    if (cost === 0 && !isBudgeted) reserved.catch(() => undefined);
    else await reserved;
    return {
      settle: async (used) => {
        const microUsd = await this.#costOf(provider, model, used);
        const recorded = reserved.then(() =>
          usage.settle(id, {
            inputTokens: used.input_tokens,
            outputTokens: used.output_tokens,
            reasoningTokens: used.reasoning_tokens ?? 0,
            cacheReadTokens: used.cache_read_tokens ?? 0,
            cacheWriteTokens: used.cache_write_tokens ?? 0,
            microUsd,
          }),
        );
        return { microUsd, recorded };
      },
      release: () => reserved.then(() => usage.release(id)),
    };
  }

  /** Returns millionths of a dollar; 0 on this machine; null if no price is known. */
  async #costOf(provider: ProviderSettings, model: string, usage: ModelUsage): Promise<number | null> {
    if (isLocalModel(model, provider)) return 0;
    const catalog = await this.#ports.catalog();
    const name = parseModelReference(model)?.model ?? "";
    return catalog.costInMicroUsd(provider, name, usage, this.#ports.clock.now());
  }
}

/** Routing refuses models whose provider is not configured. */
function providerOf(model: string, { providers }: ModelSettings): ProviderSettings {
  const provider = providers[parseModelReference(model)?.provider ?? ""];
  if (provider === undefined) throw new Error(`${model} was not routed.`);
  return provider;
}

function budgetExceeded({
  budget,
  spent,
  limit,
}: {
  readonly budget: string;
  readonly spent: number;
  readonly limit: number;
}): LaresError {
  const isMoney = budget.endsWith("_usd");
  const amount = (value: number): number => (isMoney ? value / 1_000_000 : value);
  const words = (value: number): string =>
    isMoney ? `$${amount(value).toFixed(2)}` : `${value.toLocaleString("en")} tokens`;
  if (limit === 0)
    return new LaresError(
      "BudgetExceeded",
      `The budget ${budget} is 0, so nothing was sent. Raise models.budgets.${budget} in your lares.yaml, or remove it.`,
      { budget, spent: amount(spent), limit },
    );
  return new LaresError(
    "BudgetExceeded",
    `The request could exceed the budget ${budget}: ${words(spent)} of ${words(limit)} are used or reserved. Nothing was sent. Raise models.budgets.${budget} in your lares.yaml, or wait.`,
    { budget, spent: amount(spent), limit: amount(limit) },
  );
}

/** Collects an answer; returns its last event. */
export async function lastEventOf(
  events: AsyncIterable<AnswerEvent>,
): Promise<Extract<AnswerEvent, { type: "done" | "failed" }>> {
  for await (const event of events) if (event.type === "done" || event.type === "failed") return event;
  const failure: ModelFailure = { class: "Network", message: "The answer did not end." };
  return { type: "failed", model: "", failure, isPartial: false };
}
