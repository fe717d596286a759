import type { LanguageModelV4Usage, SharedV4ProviderMetadata } from "@ai-sdk/provider";
import type { ModelEvent, ModelFinish } from "../../../base/vocabulary/model.ts";
import { AnswerBuilder, type CountedUsage, type OpenCall, type OpenText } from "./answer.ts";
import type { Exchange } from "./exchange.ts";
import { endedEarly, type FailureContext, failureOfEvent, failureOfSdk, ModelFault } from "./failures.ts";
import type { SdkApi } from "./sdk-apis.ts";
import { lendSdkModel } from "./sdk-models.ts";
import { sdkRequest } from "./sdk-request.ts";
import type { ModelCall } from "./model-call.ts";

/** One attempt through an SDK. Throws if the attempt fails. */
export async function* sdkAnswer(
  { provider, key, request }: ModelCall,
  api: SdkApi,
  exchange: Exchange,
  context: FailureContext,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, void> {
  const lease = await lendSdkModel(api, { provider, name: context.model, key }, exchange.fetch);
  const { stream } = await lease.model.doStream(sdkRequest(request, api, signal));
  const builder = new AnswerBuilder(request, context, api.mayPrintCalls);
  const open = new Map<string, OpenText | OpenCall>();
  const reasoning: OpenText[] = [];
  const metadataOf = new Map<OpenText | OpenCall, SharedV4ProviderMetadata>();

  const learn = (part: OpenText | OpenCall, metadata: SharedV4ProviderMetadata | undefined): void => {
    if (metadata === undefined || part.type === "text") return;
    const merged = mergeMetadata(metadataOf.get(part), metadata);
    metadataOf.set(part, merged);
  };
  const begin = (type: OpenText["type"]): OpenText => {
    const begun = builder.begin(type);
    if (type === "reasoning") reasoning.push(begun);
    return begun;
  };
  for await (const part of stream)
    switch (part.type) {
      case "text-start":
      case "reasoning-start": {
        const begun = begin(part.type === "text-start" ? "text" : "reasoning");
        open.set(`${begun.type} ${part.id}`, begun);
        learn(begun, part.providerMetadata);
        break;
      }
      case "text-delta":
      case "reasoning-delta": {
        const type = part.type === "text-delta" ? "text" : "reasoning";
        const name = `${type} ${part.id}`;
        const begun = open.get(name) ?? begin(type);
        open.set(name, begun);
        learn(begun, part.providerMetadata);
        const delta = builder.add(begun, part.delta);
        if (delta !== null) yield delta;
        break;
      }
      case "text-end":
      case "reasoning-end": {
        const name = `${part.type === "text-end" ? "text" : "reasoning"} ${part.id}`;
        const begun = open.get(name);
        if (begun === undefined) break;
        learn(begun, part.providerMetadata);
        open.delete(name);
        break;
      }
      case "tool-input-start":
        open.set(`call ${part.id}`, builder.beginCall(part.id, part.toolName));
        break;
      case "tool-input-delta": {
        const begun = open.get(`call ${part.id}`);
        const delta = begun === undefined ? null : builder.add(begun, part.delta);
        if (delta !== null) yield delta;
        break;
      }
      case "tool-call": {
        const known = open.get(`call ${part.toolCallId}`);
        const call = known?.type === "tool_call" ? known : builder.beginCall(part.toolCallId, part.toolName);
        learn(call, part.providerMetadata);
        if (call.json === "") {
          const delta = builder.add(call, part.input);
          if (delta !== null) yield delta;
        } else call.json = part.input;
        open.delete(`call ${part.toolCallId}`);
        const metadata = metadataOf.get(call);
        if (metadata !== undefined) builder.keep(call, metadata);
        break;
      }
      case "error":
        throw new ModelFault(exchange.failure ?? failureOfSdk(part.error, context));
      case "finish": {
        const { unified, raw } = part.finishReason;
        if (unified === "error" && raw !== undefined) throw new ModelFault(failureOfEvent(raw, context));
        if (unified === "interrupted" || unified === "error" || (unified === "other" && raw === undefined))
          throw new ModelFault(endedEarly(context));
        for (const begun of reasoning) {
          const opaque = api.opaqueOf(metadataOf.get(begun), [...metadataOf.values()]);
          if (opaque !== undefined) builder.keep(begun, opaque);
        }
        lease.keep();
        yield builder.end(finishes[unified], usageOf(part.usage));
        return;
      }
      // Sources, files and results of tools that the provider runs were not asked for.
      case "custom":
      case "file":
      case "ping":
      case "raw":
      case "reasoning-file":
      case "response-metadata":
      case "source":
      case "stream-start":
      case "tool-approval-request":
      case "tool-input-end":
      case "tool-result":
        break;
    }
  throw new ModelFault(endedEarly(context));
}

const finishes = {
  stop: "stop",
  length: "length",
  "content-filter": "filtered",
  "tool-calls": "tool_calls",
  other: "stop",
} as const satisfies Record<string, ModelFinish>;

function usageOf({ inputTokens, outputTokens }: LanguageModelV4Usage): CountedUsage {
  const { noCache, total, cacheRead, cacheWrite } = inputTokens;
  const cached = (cacheRead ?? 0) + (cacheWrite ?? 0);
  return {
    input_tokens: noCache ?? (total === undefined ? undefined : total - cached),
    output_tokens: outputTokens.total,
    reasoning_tokens: outputTokens.reasoning,
    cache_read_tokens: cacheRead,
    cache_write_tokens: cacheWrite,
  };
}

/** Merges what a provider adds to a part's metadata until its end. A null is a value that is not known yet. */
function mergeMetadata(
  known: SharedV4ProviderMetadata | undefined,
  added: SharedV4ProviderMetadata,
): SharedV4ProviderMetadata {
  const merged: SharedV4ProviderMetadata = { ...known };
  for (const [name, fields] of Object.entries(added))
    merged[name] = {
      ...merged[name],
      ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)),
    };
  return merged;
}
