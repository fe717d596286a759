import type { ProviderApi } from "../base/vocabulary/model-settings.ts";

/** What a provider demands of a history beyond its schema. */
export interface Dialect {
  /** User and assistant take turns, the user first; the last turn is the user's or a tool's result. */
  readonly alternates: boolean;
  /** System messages may stand after others. */
  readonly lateSystem: boolean;
  readonly images: boolean;
  /** A history with tool calls is refused if no tool is declared. */
  readonly declaresCalledTools: boolean;
}

const strict: Dialect = { alternates: true, lateSystem: false, images: true, declaresCalledTools: false };
const lenient: Dialect = { alternates: false, lateSystem: true, images: true, declaresCalledTools: false };

/** Local models are strict because their chat templates are: many raise an error for two user messages in a row. */
export const dialects: Readonly<Record<ProviderApi, Dialect>> = {
  anthropic: { ...strict, declaresCalledTools: true },
  openai: lenient,
  "openai-chat": lenient,
  google: strict,
  "openai-compatible": strict,
  ollama: strict,
  llama: { ...strict, images: false },
  editor: { ...strict, declaresCalledTools: true },
  scripted: lenient,
};
