import type { LanguageModelV4, SharedV4ProviderMetadata, SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { ModelRequest } from "../../../base/vocabulary/model.ts";
import type { ProviderApi } from "../../../base/vocabulary/model-settings.ts";

interface SdkSettings {
  /** Never omitted: the SDKs would read a missing value from the environment. */
  readonly baseURL: string;
  readonly apiKey: string;
  readonly fetch: typeof globalThis.fetch;
}

/** One API as an SDK speaks it. */
export interface SdkApi {
  /** Loads the SDK on first use. */
  load(settings: SdkSettings, model: string): Promise<LanguageModelV4>;
  readonly needsKey: boolean;
  /** Marks the end of what the provider may cache; absent if the provider finds it itself. */
  readonly cachePoint?: SharedV4ProviderOptions;
  readonly imageOptions?: SharedV4ProviderOptions;
  readonly toolsAreStrict?: boolean;
  /** Reasoning of earlier turns is not sent again. */
  readonly reasoningEndsWithTurn: boolean;
  /** The API can say that a tool failed; otherwise the text does. */
  readonly marksErrors: boolean;
  /** The models behind this API may print their tool calls as text. */
  readonly mayPrintCalls: boolean;
  optionsFor?(request: ModelRequest): SharedV4ProviderOptions;
  /**
   * Returns what is to be sent again with a piece of reasoning; undefined if the provider would refuse it. `all`: the
   * metadata of all parts of the answer.
   */
  opaqueOf(metadata: SharedV4ProviderMetadata | undefined, all: readonly SharedV4ProviderMetadata[]): unknown;
}

/** The name under which the SDK keeps metadata. */
const compatibleName = "compatible";

export const sdkApis: Partial<Readonly<Record<ProviderApi, SdkApi>>> = {
  anthropic: {
    async load(settings, model) {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      return createAnthropic(settings).languageModel(model);
    },
    needsKey: true,
    cachePoint: { anthropic: { cacheControl: { type: "ephemeral" } } },
    reasoningEndsWithTurn: false,
    marksErrors: true,
    mayPrintCalls: false,
    // The provider does not check that eagerly streamed arguments are JSON.
    optionsFor: () => ({ anthropic: { toolStreaming: false } }),
    opaqueOf: (metadata) =>
      metadata?.["anthropic"]?.["signature"] === undefined &&
      metadata?.["anthropic"]?.["redactedData"] === undefined
        ? undefined
        : metadata,
  },
  openai: {
    async load(settings, model) {
      const { createOpenAI } = await import("@ai-sdk/openai");
      return createOpenAI(settings).responses(model);
    },
    needsKey: true,
    // The default; the provider's schema requires it.
    imageOptions: { openai: { imageDetail: "auto" } },
    // The default is strict, which makes optional parameters required.
    toolsAreStrict: false,
    reasoningEndsWithTurn: false,
    marksErrors: true,
    mayPrintCalls: false,
    // OpenAI stores nothing, so the SDK requests encrypted reasoning.
    optionsFor: ({ schema }) => ({
      openai: { store: false, strictJsonSchema: schema !== undefined && isStrict(schema) },
    }),
    // An item of reasoning has several summaries, of which only the last carries its encrypted form.
    opaqueOf(metadata, all) {
      const item = metadata?.["openai"]?.["itemId"];
      const isEncrypted = all.some(
        ({ openai }) =>
          openai?.["itemId"] === item && typeof openai?.["reasoningEncryptedContent"] === "string",
      );
      return isEncrypted ? metadata : undefined;
    },
  },
  "openai-chat": {
    async load(settings, model) {
      const { createOpenAI } = await import("@ai-sdk/openai");
      return createOpenAI(settings).chat(model);
    },
    needsKey: true,
    reasoningEndsWithTurn: false,
    marksErrors: true,
    mayPrintCalls: false,
    optionsFor: ({ schema }) => ({
      openai: { store: false, strictJsonSchema: schema !== undefined && isStrict(schema) },
    }),
    opaqueOf: () => undefined,
  },
  google: {
    async load(settings, model) {
      const { createGoogle } = await import("@ai-sdk/google");
      return createGoogle(settings).languageModel(model);
    },
    needsKey: true,
    reasoningEndsWithTurn: false,
    marksErrors: true,
    mayPrintCalls: false,
    opaqueOf: (metadata) => (metadata?.["google"]?.["thoughtSignature"] === undefined ? undefined : metadata),
  },
  "openai-compatible": {
    async load(settings, model) {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      return createOpenAICompatible({
        ...settings,
        name: compatibleName,
        includeUsage: true,
        supportsStructuredOutputs: true,
      }).chatModel(model);
    },
    needsKey: false,
    // Some servers want their reasoning back while tools run, and refuse it in a later turn.
    reasoningEndsWithTurn: true,
    marksErrors: false,
    mayPrintCalls: true,
    optionsFor: ({ schema }) => ({
      [compatibleName]: { strictJsonSchema: schema !== undefined && isStrict(schema) },
    }),
    opaqueOf: (metadata) => metadata ?? null,
  },
};

/** Keywords that OpenAI's strict mode accepts, besides those that hold schemas. */
const strictKeywords = new Set([
  "type",
  "description",
  "title",
  "enum",
  "const",
  "properties",
  "required",
  "additionalProperties",
  "items",
  "anyOf",
]);

/** Whether OpenAI's strict mode accepts the schema; a request with any other schema would be refused there. */
function isStrict(schema: unknown, isRoot = true): boolean {
  if (typeof schema !== "object" || schema === null) return false;
  const fields = schema as Readonly<Record<string, unknown>>;
  if (Object.keys(fields).some((name) => !strictKeywords.has(name))) return false;
  if (isRoot && fields["type"] !== "object") return false;
  const { properties = {}, required = [], items, anyOf = [] } = fields;
  if (fields["type"] === "object") {
    if (fields["additionalProperties"] !== false || !Array.isArray(required)) return false;
    if (Object.keys(properties as object).some((name) => !required.includes(name))) return false;
  }
  const inner = [
    ...Object.values(properties as object),
    ...(items === undefined ? [] : [items]),
    ...(anyOf as readonly unknown[]),
  ];
  return inner.every((each) => isStrict(each, false));
}
