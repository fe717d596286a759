import type { Authority } from "../base/vocabulary/permissions.ts";
import { coversEvent } from "./hearing.ts";

/** True if the agent may call a tool of the other one. */
export function callsToolsOf({ effective }: Authority, { extension }: Authority): boolean {
  return (effective.call_tools ?? []).some((pattern) => pattern.startsWith(`${extension}/`));
}

/**
 * True if what an agent is told can get to another one: by a call, by an event, or in what the one may write and the other
 * read. Files are not counted, because whoever writes them proposes an action.
 */
export function passesTo(from: Authority, to: Authority): boolean {
  const events = from.effective.emit_events ?? [];
  const keys = to.effective.shared_data?.read ?? [];
  return (
    callsToolsOf(from, to) ||
    events.some((name) => coversEvent(to.effective.hear_events ?? [], `${from.extension}/${name}`)) ||
    (from.effective.shared_data?.write ?? []).some((key) => keys.includes(key)) ||
    sharesType(typesOf(from, "write"), typesOf(to, "read")) ||
    Object.entries(from.namespaces).some(
      ([name, access]) => access === "read_write" && Object.hasOwn(to.namespaces, name),
    )
  );
}

/** Returns the authorities that can be reached from one by steps such as `isStep` names, that one included. */
export function reachedFrom(
  start: Authority,
  all: readonly Authority[],
  isStep: (from: Authority, to: Authority) => boolean,
): readonly Authority[] {
  const reached = [start];
  const left = new Set(all.filter(({ extension }) => extension !== start.extension));
  for (let at = 0; at < reached.length; at++)
    for (const other of left) {
      const from = reached[at];
      if (from === undefined || !isStep(from, other)) continue;
      reached.push(other);
      left.delete(other);
    }
  return reached;
}

/** An agent uses its own types without a permission. */
function typesOf({ extension, effective }: Authority, direction: "read" | "write"): readonly string[] {
  return [`${extension}/*`, ...(effective.shared_types?.[direction] ?? [])];
}

function sharesType(written: readonly string[], read: readonly string[]): boolean {
  const ownerOf = (type: string): string => type.slice(0, type.indexOf("/"));
  return written.some((one) =>
    read.some(
      (other) =>
        one === other || (ownerOf(one) === ownerOf(other) && (one.endsWith("/*") || other.endsWith("/*"))),
    ),
  );
}
