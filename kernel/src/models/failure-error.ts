import { LaresError } from "../base/errors.ts";
import type { ModelFailure } from "../base/vocabulary/model.ts";
import { isRetryable } from "./failures.ts";
import { parseModelReference } from "./reference.ts";

/** Returns the error for clients and guests. `model`: `provider/model`, or "" if none was chosen. */
export function modelError(failure: ModelFailure, model: string): LaresError {
  return new LaresError("ModelError", failure.message, {
    class: failure.class,
    provider: parseModelReference(model)?.provider ?? "",
    model,
    retryable: isRetryable(failure),
  });
}
