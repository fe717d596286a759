import { unlessAborted } from "../../../base/abort.ts";
import type { ModelEvent, ModelFailure } from "../../../base/vocabulary/model.ts";
import type { ProviderApi } from "../../../base/vocabulary/model-settings.ts";
import { providerAddressFault } from "../../../models/provider-address.ts";
import { parseModelReference } from "../../../models/reference.ts";
import { Exchange } from "./exchange.ts";
import { contextFor, type FailureContext, failureOfAbort, failureOfSdk, ModelFault } from "./failures.ts";
import type { ModelCall } from "./model-call.ts";
import { ollamaAnswer } from "./ollama.ts";
import { sdkAnswer } from "./sdk-answer.ts";
import { sdkApis } from "./sdk-apis.ts";

/** Loads what an answer by this API takes, so that the first request does not wait for it. */
export async function loadApi(api: ProviderApi): Promise<void> {
  const settings = {
    baseURL: "http://localhost",
    apiKey: "none",
    fetch: () => Promise.reject(new Error("No model was asked.")),
  };
  await sdkApis[api]?.load(settings, "none");
}

/**
 * Makes one attempt at an answer: `sent` once, before the request may leave, then deltas, then `done` or `failed` once.
 * Never throws. Ending the iteration, or aborting the signal, cancels the request.
 */
export async function* streamModel(
  call: ModelCall,
  fetch: typeof globalThis.fetch,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, void> {
  const context = contextOf(call);
  const refusal = refusalOf(call);
  if (refusal !== null) return yield { type: "failed", failure: refusal };
  if (signal.aborted) return yield { type: "failed", failure: failureOfAbort(signal, context) };
  const isOllama = call.provider.api === "ollama";
  const exchange = new Exchange(fetch, context, signal, isOllama ? "lines" : "events");
  try {
    yield* attempt(call, context, exchange, signal);
  } catch (error) {
    yield { type: "failed", failure: failureAfter(error, exchange, context, signal) };
  }
}

async function* attempt(
  call: ModelCall,
  context: FailureContext,
  exchange: Exchange,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, void> {
  const api = sdkApis[call.provider.api];
  const events =
    api === undefined
      ? ollamaAnswer(call, exchange, context, signal)
      : sdkAnswer(call, api, exchange, context, signal);
  let next = events.next();
  try {
    // The request waits until the caller has `sent`, so that it knows about every byte that may have left.
    const isWanted = await unlessAborted(
      Promise.race([exchange.wanted.then(() => true), next.then(() => false)]),
      signal,
    );
    if (isWanted) {
      yield { type: "sent" };
      signal.throwIfAborted();
      exchange.release();
    }
    for (;;) {
      const { done, value } = await unlessAborted(next, signal);
      if (done === true) return;
      yield value;
      if (value.type === "done" || value.type === "failed") return;
      signal.throwIfAborted();
      next = events.next();
    }
  } finally {
    // Ends the adapter if it is idle; otherwise the aborted signal does.
    next.catch(() => undefined);
    void events.return().catch(() => undefined);
  }
}

function failureAfter(
  error: unknown,
  exchange: Exchange,
  context: FailureContext,
  signal: AbortSignal,
): ModelFailure {
  if (signal.aborted) return failureOfAbort(signal, context);
  if (exchange.failure !== null) return exchange.failure;
  return error instanceof ModelFault ? error.failure : failureOfSdk(error, context);
}

function contextOf({ provider, key, request }: ModelCall): FailureContext {
  return contextFor(provider, parseModelReference(request.model)?.model ?? request.model, key);
}

/** Returns why the request cannot be sent at all; null if it can. */
function refusalOf({ provider, key, request }: ModelCall): ModelFailure | null {
  const { id, api, baseUrl } = provider;
  const sdk = sdkApis[api];
  if (sdk === undefined && api !== "ollama")
    return {
      class: "NoModel",
      message: `The provider "${id}" (api: ${api}) is not reached over the network.`,
    };
  const fault = providerAddressFault(baseUrl ?? "");
  if (baseUrl === undefined || fault !== null)
    return { class: "NoModel", message: `The provider "${id}" cannot be reached. ${fault}` };
  if (parseModelReference(request.model) === null)
    return {
      class: "UnknownModel",
      message: `"${request.model.slice(0, 200)}" names no model. Write it as provider/model.`,
    };
  if (sdk?.needsKey === true && (key === null || key === ""))
    return {
      class: "NoKey",
      message: `The provider "${id}" has no key. Run "lares secrets set ${id} --host ${new URL(baseUrl).hostname}"; a server that needs none has api: openai-compatible.`,
    };
  return null;
}
