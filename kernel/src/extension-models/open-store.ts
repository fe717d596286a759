import type { Clock } from "../base/clock.ts";
import { placeName, targetOf } from "../policy/egress.ts";
import { join } from "../platform/files/paths.ts";
import { cacheHome, modelsFolder, type Environment } from "../platform/files/state-folder.ts";
import type { KernelModels } from "../outside/open-models.ts";
import { ModelStore } from "./model-store.ts";

/** A slow line continues after this with another request; a silent server ends a request sooner. */
const timeoutMs = 30 * 60_000;
const idleMs = 60_000;

/**
 * Opens the user's store of extensions' models. A fetch may reach the host of the model's address and those that the
 * declaration names for redirects, by the rules of every agent's requests; the agent itself may not reach them for that.
 */
export function openModelStore(
  environment: Environment,
  clock: Clock,
  { egress, issued, networkRules }: Pick<KernelModels, "egress" | "issued" | "networkRules">,
): ModelStore {
  const models = modelsFolder(environment);
  return new ModelStore({
    folders: [cacheHome(environment), models, join(models, "sha256")],
    clock,
    request: async ({ source: { url, redirectHosts }, who, fromByte, maxBytes, signal }) => {
      const target = targetOf(url);
      return await egress.request({
        who,
        method: "GET",
        url,
        headers: [
          ["accept", "*/*"],
          // Parts are counted in the file's own bytes.
          ["accept-encoding", "identity"],
          ...(fromByte === 0 ? [] : [["range", `bytes=${fromByte}-`] as const]),
        ],
        rules: {
          allowedHosts: ["reason" in target ? [] : [placeName(target)], redirectHosts].flat(),
          ...(await networkRules()),
        },
        limits: { timeoutMs, idleMs, maxBytes },
        known: issued.known,
        signal,
      });
    },
  });
}
