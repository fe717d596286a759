import type { GuestCallResult } from "../../../../kernel/src/protocol/guest/v1/calls.ts";
import type { AgentContext } from "../types/context.ts";
import type { OwnModel } from "../types/infer.ts";
import type { AiRequest, AiUsage, FetchAnswer } from "../types/outside.ts";
import { blobOf, bytesOfBlob } from "./blobs.ts";
import { embedded } from "./embed.ts";
import { inferred } from "./infer.ts";
import { type Kernel, withSignal } from "./kernel.ts";

type WireAnswer = GuestCallResult<"ai/generate">;

/** Models, requests to the outside, and the secrets that they need. */
export function makeOutside(
  kernel: Kernel,
  models: () => readonly OwnModel[],
): Pick<AgentContext, "ai" | "fetch" | "credentials"> {
  const ask = (
    { category, prompt, messages, system, maxOutputTokens, temperature, signal }: AiRequest,
    schema?: Readonly<Record<string, unknown>>,
  ): Promise<WireAnswer> =>
    kernel.call(
      "ai/generate",
      { category, prompt, messages, system, schema, max_output_tokens: maxOutputTokens, temperature },
      withSignal(signal),
    );
  return {
    ai: {
      generate: async (request) => {
        const { text, usage, model, finish } = await ask(
          typeof request === "string" ? { prompt: request } : request,
        );
        return { text, usage: usageOf(usage), model, finish };
      },
      object: async <Value>({
        schema,
        ...request
      }: AiRequest & { readonly schema: Record<string, unknown> }) =>
        (await ask(request, schema)).object as Value,
      embed: (texts, options) => embedded(kernel, texts, options),
      infer: (request) => inferred(kernel, request),
      get models() {
        return models();
      },
      hasModel: async (category) => {
        const { items } = await kernel.call("ai/models", {
          category: category ?? "chat",
        });
        return items.some(({ ready }) => ready);
      },
    },
    fetch: async (url, { method, headers, body, timeoutMs, maxBytes, signal } = {}) => {
      const sent = body instanceof Uint8Array ? { body_blob: await blobOf(kernel, body) } : { body };
      const answer = await kernel.call(
        "http/fetch",
        { url: String(url), method, headers, ...sent, timeout_ms: timeoutMs, max_bytes: maxBytes },
        withSignal(signal),
      );
      const text = (): string => {
        if (answer.body === null) throw new TypeError("The answer's body is not text, or is too long.");
        return answer.body;
      };
      const { status, size, truncated } = answer;
      return {
        status,
        ok: status >= 200 && status < 300,
        headers: answer.headers,
        size,
        truncated,
        text,
        json: (): unknown => JSON.parse(text()),
        bytes: () =>
          answer.blob === undefined
            ? Promise.resolve(new TextEncoder().encode(text()))
            : bytesOfBlob(kernel, answer.blob),
      } satisfies FetchAnswer;
    },
    credentials: {
      get: async (name) => (await kernel.call("credentials/get", { name })).token,
    },
  };
}

function usageOf(usage: WireAnswer["usage"]): AiUsage {
  const { reasoning_tokens: reasoning, cache_read_tokens: read, cache_write_tokens: written } = usage;
  return {
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    ...(reasoning === undefined ? {} : { reasoningTokens: reasoning }),
    ...(read === undefined ? {} : { cacheReadTokens: read }),
    ...(written === undefined ? {} : { cacheWriteTokens: written }),
  };
}
