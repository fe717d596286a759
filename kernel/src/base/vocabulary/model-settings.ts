/** The interfaces that a provider of language models can have. */
export const providerApis = [
  "anthropic",
  "openai",
  "openai-chat",
  "google",
  "openai-compatible",
  "ollama",
  "llama",
  "editor",
  "scripted",
] as const;

export type ProviderApi = (typeof providerApis)[number];

/** A provider as the user's document names it, defaults filled in. */
export interface ProviderSettings {
  readonly id: string;
  readonly api: ProviderApi;
  /** Without a slash at its end; absent where nothing is sent. */
  readonly baseUrl?: string;
  /** The name of the secret that is the key. */
  readonly secret?: string;
  /** The window of its models where no catalogue knows it. */
  readonly contextTokens?: number;
  /** Whether its models take pictures, where the person says it. */
  readonly images?: boolean;
  /** For `llama`: how freely words are drawn where a request does not say. */
  readonly temperature?: number;
  /** For `llama`: a model's file, absolute, by the model's name. */
  readonly files?: Readonly<Record<string, string>>;
  /** For `scripted`: the file with the answers, absolute. */
  readonly script?: string;
  /**
   * Absent for a provider of the person's document. Otherwise by what it was found, in words that follow "found by"; a
   * person is asked before it is used.
   */
  readonly foundBy?: string;
}

interface ModelRoute {
  /** `provider/model`. */
  readonly model: string;
  /** What was meant for a local model may go to a remote one when the local one fails. */
  readonly mayLeave: boolean;
}

/** Limits on what models may cost; absent: no limit. Amounts of money are in millionths of a dollar. */
export interface BudgetSettings {
  readonly perDayMicroUsd?: number;
  readonly perDayTokens?: number;
  readonly perConversationMicroUsd?: number;
  readonly perAgentPerDayMicroUsd?: number;
}

export interface ModelSettings {
  readonly providers: Readonly<Record<string, ProviderSettings>>;
  readonly routes: Readonly<Record<string, ModelRoute>>;
  /** By `provider/model`, the models that are asked in its place when it fails, in order. */
  readonly fallbacks: Readonly<Record<string, readonly string[]>>;
  readonly budgets: BudgetSettings;
}
