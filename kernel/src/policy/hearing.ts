import { isJsonObject } from "../base/json.ts";
import type { Entry } from "../base/vocabulary/entry.ts";
import type { LaresEvent } from "../base/vocabulary/event.ts";
import type { Authority } from "../base/vocabulary/permissions.ts";
import { canonicalPath } from "./paths.ts";
import { inGrantedScope, isVisible } from "./scope.ts";

/** Whether an agent receives an event: as it may see it, or why it does not. */
export type Hearing =
  | { readonly heard: true; readonly event: LaresEvent }
  /** `reason` completes "the event … was withheld: " in the hearer's trace, which only people read. */
  | { readonly heard: false; readonly reason: string };

/**
 * Decides whether an agent hears an event, and with which content. Every event on its way to an agent passes here: when
 * it is queued, and again when it is handed over, because the authority may have shrunk in between.
 *
 * - A built-in event about an entry is heard where the entry is visible.
 * - The end of an agent's own action is heard where all its paths are still granted.
 * - An agent's own custom event is heard as it was emitted: it tells the agent nothing that it did not know.
 * - Another extension's custom event needs `hear_events`, and every entry that it names has to be visible to the
 *   hearer. The event is withheld as a whole: what stands beside an entry's name speaks of that entry.
 * - A built-in event without a rule here is heard by nobody.
 *
 * `isEntry` answers whether the index has an entry at a canonical path.
 */
export function decideHearing(
  authority: Authority,
  event: LaresEvent,
  isEntry: (path: string) => boolean,
): Hearing {
  if (event.name.includes("/")) return decideCustom(authority, event, isEntry);
  const rule = Object.hasOwn(builtIn, event.name) ? builtIn[event.name] : undefined;
  const seen = rule?.(authority, event) ?? null;
  return seen === null
    ? { heard: false, reason: "it is about an entry that the agent cannot see" }
    : { heard: true, event: seen };
}

/** True if `hear_events` covers the custom event `publisher.id/Name`, or the event is the agent's own. */
export function mayHear(authority: Authority, name: string): boolean {
  const publisher = name.slice(0, name.indexOf("/"));
  if (publisher === authority.extension) return true;
  return coversEvent(authority.effective.hear_events ?? [], name);
}

/** True if a list of `publisher.id/EventName` and `publisher.id/*` covers this event. */
export function coversEvent(patterns: readonly string[], name: string): boolean {
  return patterns.includes(name) || patterns.includes(`${name.slice(0, name.indexOf("/"))}/*`);
}

function decideCustom(authority: Authority, event: LaresEvent, isEntry: (path: string) => boolean): Hearing {
  if (!mayHear(authority, event.name)) {
    return { heard: false, reason: `${authority.extension} has no hear_events for it` };
  }
  if (event.name.startsWith(`${authority.extension}/`)) return { heard: true, event };
  const hidden = namedOutOfSight(authority, event, isEntry);
  return hidden === null
    ? { heard: true, event }
    : { heard: false, reason: `it names ${JSON.stringify(hidden)}, which the agent cannot see` };
}

/** `path`, `paths`, `file_path`, `newPath`: by its name, the value is a path. */
const pathKey = /(?:^|_)paths?$|Paths?$/;

/** The first text in a custom event that names an entry which the agent cannot see; null where there is none. */
function namedOutOfSight(
  authority: Authority,
  event: LaresEvent,
  isEntry: (path: string) => boolean,
): string | null {
  const { id: _id, name: _name, timestamp: _timestamp, ...fields } = event;
  // A stack of its own, not the call stack: the data is as deep as its publisher made it.
  const open: { readonly value: unknown; readonly isPath: boolean }[] = [{ value: fields, isPath: false }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, isPath } = next;
    if (typeof value === "string") {
      if (isOutOfSight(authority, value, isPath, isEntry)) return value;
    } else if (Array.isArray(value)) {
      for (const item of value) open.push({ value: item, isPath });
    } else if (isJsonObject(value)) {
      for (const [key, item] of Object.entries(value)) {
        // Paths as keys: { "notes/a.md": 3 }.
        if (isOutOfSight(authority, key, false, isEntry)) return key;
        open.push({ value: item, isPath: pathKey.test(key) });
      }
    }
  }
  return null;
}

/**
 * True for text that names an entry, and none that the agent can see. A value that is a path by its key has to be a
 * visible one; any other text counts where it is, to the letter, the path of an entry. One name without a dot or a
 * slash is a word like any other.
 */
function isOutOfSight(
  authority: Authority,
  text: string,
  isPath: boolean,
  isEntry: (path: string) => boolean,
): boolean {
  if (text.startsWith("file:")) return true;
  if (!isPath && !/[./]/.test(text)) return false;
  const canonical = canonicalPath(text);
  if (!canonical.ok) return isPath;
  if (!isPath && !isEntry(canonical.path)) return false;
  return !isVisible(authority, canonical.path, "file");
}

type Rule = (authority: Authority, event: LaresEvent) => LaresEvent | null;

const aboutEntry: Rule = (authority, event) => {
  const entry = event["entry"] as Entry | undefined;
  if (entry === undefined || !isVisible(authority, entry.path, entry.kind)) return null;
  return { ...event, entry: entrySeenBy(authority, entry) };
};
/**
 * Returns the event for the agent that proposed the action, based on what `endToldTo` told at that time. Since then the
 * agent may have lost folders, or the right to see files in them. The event is withheld if one of its paths is no
 * longer granted. If the agent cannot see one of the files, it only learns that the action could not be made.
 */
const aboutOwnAction: Rule = (authority, event) => {
  const paths = event["paths"] as readonly string[];
  if (!paths.every((path) => inGrantedScope(authority, path))) return null;
  const isDrift = event["state"] === "Stale" && event["superseded_by"] === undefined;
  return isDrift && !paths.every((path) => isVisible(authority, path, "file"))
    ? { ...event, state: "Failed" }
    : event;
};
/** Addressed to one agent, and made of what that agent may know. */
const addressed: Rule = (_authority, event) => event;

const builtIn: Readonly<Record<string, Rule>> = {
  EntryCreated: (authority, event) => {
    const seen = aboutEntry(authority, event);
    return seen && { ...seen, location: (seen["entry"] as Entry).location };
  },
  EntryModified: aboutEntry,
  EntryMoved: (authority, event) => {
    const seen = aboutEntry(authority, event);
    if (seen === null) return null;
    const { kind } = seen["entry"] as Entry;
    const from = String(event["from"]);
    // Where it came from is not for an agent that could not see it there.
    return { ...seen, from: from !== "" && isVisible(authority, from, kind) ? from : "" };
  },
  EntryDeleted: (authority, event) => (isVisible(authority, String(event["path"]), "file") ? event : null),
  TagAdded: aboutEntry,
  TagRemoved: aboutEntry,
  ActionEnded: aboutOwnAction,
  IndexComplete: addressed,
  PermissionChanged: addressed,
  ScheduleFired: addressed,
};

/**
 * Returns the entry as this agent may see it. A folder's time of modification is that of the last name that came or went
 * in it, hidden names included, so agents are told the time of its creation instead.
 */
export function entrySeenBy(authority: Authority, entry: Entry): Entry {
  const location = locationOf(authority, entry.path);
  return { ...entry, location, ...(entry.kind === "folder" ? { modified: entry.created } : {}) };
}

/** The granted folder through which a path is seen: the innermost. */
export function locationOf(authority: Authority, path: string): string {
  let best = ".";
  for (const location of authority.locations) {
    if (path !== location && !path.startsWith(`${location}/`)) continue;
    if (best === "." || location.length > best.length) best = location;
  }
  return best;
}
