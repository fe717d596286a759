import type { ModelRequest } from "../../../base/vocabulary/model.ts";
import type { ProviderSettings } from "../../../base/vocabulary/model-settings.ts";

/** One attempt at an answer. */
export interface ModelCall {
  readonly provider: ProviderSettings;
  /** Null: none is configured. */
  readonly key: string | null;
  /** Already normalized for the provider. */
  readonly request: ModelRequest;
}
