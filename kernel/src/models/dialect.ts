import type { ProviderApi } from "../base/vocabulary/model-settings.ts";

/** The requirements of a provider for a history, beyond its schema. */
export interface Dialect {
  /** User and assistant must alternate, beginning with the user; the last turn is the user's or a tool's result. */
  readonly alternates: boolean;
  /** System messages may follow other messages. */
  readonly lateSystem: boolean;
  /**
   * A late system message stands before the user's last words, because small models answer whatever stands last.
   */
  readonly wordsLast: boolean;
  /** Its models may take pictures; see `takesPictures`. */
  readonly images: boolean;
  /** The provider refuses a history with tool calls if no tool is declared. */
  readonly declaresCalledTools: boolean;
}

const strict: Dialect = {
  alternates: true,
  lateSystem: false,
  wordsLast: false,
  images: true,
  declaresCalledTools: false,
};
const lenient: Dialect = { ...strict, alternates: false, lateSystem: true };

/** Local models are strict because their chat templates are: many fail on two user messages in a row. */
export const dialects: Readonly<Record<ProviderApi, Dialect>> = {
  anthropic: { ...strict, declaresCalledTools: true },
  openai: lenient,
  "openai-chat": lenient,
  google: strict,
  "openai-compatible": strict,
  ollama: { ...strict, wordsLast: true },
  llama: { ...strict, wordsLast: true, images: false },
  // Editors have no form for pictures.
  editor: { ...strict, images: false, declaresCalledTools: true },
  scripted: lenient,
};
