import type { ProviderSettings } from "../../../base/vocabulary/model-settings.ts";
export async function listModels(
  _provider: ProviderSettings,
  _key: string | null,
  _fetch: typeof globalThis.fetch,
  _signal: AbortSignal,
): Promise<{ id: string; context_tokens?: number }[]> {
  return [];
}
