import { closest } from "../base/suggest.ts";
import { parseDocument } from "./text/parse.ts";
import { Lares } from "./schema/lares.ts";
import { validate } from "./validate.ts";

/** The environment variables that set something, and the values they set. */
export const environmentSettings = {
  LARES_APPROVALS_AUTO_APPROVE_BELOW: "/approvals/auto_approve_below",
  LARES_APPROVALS_EXPIRE_AFTER: "/approvals/expire_after",
  LARES_LIMITS_ACTIVE_AGENTS: "/limits/active_agents",
  LARES_LIMITS_IDLE_UNLOAD: "/limits/idle_unload",
  LARES_LIMITS_MAX_MEMORY_MB: "/limits/max_memory_mb",
  LARES_LIMITS_MAX_STORAGE_MB: "/limits/max_storage_mb",
  LARES_LIMITS_MAX_VECTORS: "/limits/max_vectors",
  LARES_LIMITS_MAX_CPU_MS_PER_EVENT: "/limits/max_cpu_ms_per_event",
  LARES_LIMITS_MAX_WALL_MS_PER_EVENT: "/limits/max_wall_ms_per_event",
  LARES_LIMITS_MAX_EVENTS_PER_SECOND: "/limits/max_events_per_second",
  LARES_KERNEL_LINGER: "/kernel/linger",
  LARES_MEMORY_VECTORS: "/memory/vectors",
  LARES_TRACE_LEVEL: "/trace/level",
  LARES_TRACE_KEEP: "/trace/keep",
  LARES_INDEX_HIDDEN: "/index/hidden",
  LARES_CONVERSATIONS_AT_ONCE: "/conversations/at_once",
  LARES_CONVERSATIONS_PROCESSES: "/conversations/processes",
  LARES_CONVERSATIONS_UNATTENDED: "/conversations/unattended",
} as const satisfies Record<string, string>;

interface EnvironmentSetting {
  readonly variable: string;
  readonly pointer: string;
  readonly value: unknown;
}

/** An ignored variable and the reason. */
export interface EnvironmentFault {
  readonly variable: string;
  readonly code: "invalid-value" | "unknown-variable";
  readonly message: string;
}

/**
 * Reads settings from environment variables named `LARES_` plus the setting's path in capitals. A value that the
 * schema refuses is reported and ignored. Other variables that begin with LARES_ (such as LARES_HOME) are not
 * settings, but a variable that begins with a section's name and matches no setting is reported as a misspelling.
 */
export async function readEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<{ settings: EnvironmentSetting[]; faults: EnvironmentFault[] }> {
  const settings: EnvironmentSetting[] = [];
  const faults: EnvironmentFault[] = [];
  const pointers: Readonly<Record<string, string>> = environmentSettings;
  for (const [variable, text] of Object.entries(environment)) {
    if (
      text === undefined ||
      !/^LARES_(?:APPROVALS|LIMITS|KERNEL|MEMORY|TRACE|INDEX|CONVERSATIONS)_/.test(variable)
    )
      continue;
    const pointer = pointers[variable];
    if (pointer === undefined) {
      const meant = closest(variable, Object.keys(environmentSettings));
      const hint = meant === undefined ? "." : `; did you mean ${meant}?`;
      faults.push({ variable, code: "unknown-variable", message: `${variable} is not a setting${hint}` });
      continue;
    }
    const [section = "", key = ""] = pointer.slice(1).split("/");
    const scalar = scalarOf(text);
    const {
      faults: [fault],
    } = await validate(Lares, parseDocument(JSON.stringify({ [section]: { [key]: scalar } }), "yaml"));
    if (fault === undefined) settings.push({ variable, pointer, value: scalar });
    else faults.push({ variable, code: "invalid-value", message: `${variable}: ${fault.message}` });
  }
  return { settings, faults };
}

/** Parses numbers and booleans; every other value stays a string. */
function scalarOf(text: string): string | number | boolean {
  if (text === "true" || text === "false") return text === "true";
  return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
}
