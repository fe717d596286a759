import type { ProviderSettings } from "../../../base/vocabulary/model-settings.ts";
import type { ModelEvent, ModelRequest } from "../../../base/vocabulary/model.ts";
export interface ModelCall {
  readonly provider: ProviderSettings;
  readonly key: string | null;
  readonly request: ModelRequest;
}
export async function* streamModel(
  _call: ModelCall,
  _fetch: typeof globalThis.fetch,
  _signal: AbortSignal,
): AsyncGenerator<ModelEvent, void> {
  yield { type: "failed", failure: { class: "NoModel", message: "stub" } };
}
