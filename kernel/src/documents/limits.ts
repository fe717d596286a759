import type { AgentLimits } from "../base/vocabulary/permissions.ts";
import type { Configuration } from "./configuration.ts";
import type { ResolvedManifest } from "./resolved-manifest.ts";

/** Limits for an extension whose manifest requests none, before the configuration's caps. */
export const defaultAgentLimits: AgentLimits = {
  max_memory_mb: 256,
  max_storage_mb: 1024,
  max_vectors: 200_000,
  max_cpu_ms_per_event: 5000,
  max_wall_ms_per_event: 30_000,
  max_events_per_second: 100,
};

/** Returns an agent's limits: those its manifest requests, or the defaults, capped by the configuration. */
export function effectiveLimits(
  manifest: Pick<ResolvedManifest, "resources">,
  configuration: Pick<Configuration, "limits">,
): AgentLimits {
  const { resources } = manifest;
  const { limits } = configuration;
  const capped = (name: keyof AgentLimits, cap: number): number =>
    Math.min(resources[name] ?? defaultAgentLimits[name], cap);
  return {
    max_memory_mb: capped("max_memory_mb", limits.maxMemoryMb),
    max_storage_mb: capped("max_storage_mb", limits.maxStorageMb),
    max_vectors: capped("max_vectors", limits.maxVectors),
    max_cpu_ms_per_event: capped("max_cpu_ms_per_event", limits.maxCpuMsPerEvent),
    max_wall_ms_per_event: capped("max_wall_ms_per_event", limits.maxWallMsPerEvent),
    max_events_per_second: capped("max_events_per_second", limits.maxEventsPerSecond),
  };
}
