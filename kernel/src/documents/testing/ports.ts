import { compileSchedule } from "../../events/cron.ts";
import { declaredFields } from "../../events/declared-fields.ts";
import { compileFilter } from "../../events/filter.ts";
import { eventNames, isCustomEvent } from "../../events/types.ts";
import type { ManifestPorts } from "../ports.ts";

/** A manifest's surroundings: the real event language, and these files below its folder. */
export function manifestPorts(
  files: readonly string[] = ["agent.ts"],
  more: Partial<ManifestPorts> = {},
): ManifestPorts {
  return {
    events: {
      eventNames,
      isCustomEvent,
      compileFilter: (source, name, schema) =>
        compileFilter(source, name, schema === undefined ? null : declaredFields(schema)),
      compileSchedule,
      nowMs: Date.parse("2026-11-20T00:00:00Z"),
    },
    fileExists: (path) => files.includes(path),
    kernelVersion: "0.1.0",
    ...more,
  };
}
