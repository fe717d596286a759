import { isJsonObject } from "../base/json.ts";
import type { Entry } from "../base/vocabulary/entry.ts";
import type { LaresEvent } from "../base/vocabulary/event.ts";
import type { Authority } from "../base/vocabulary/permissions.ts";
import { maxPathLength } from "../base/vocabulary/bounds.ts";
import { canonicalPath } from "./paths.ts";
import { inGrantedScope, isVisible } from "./scope.ts";

/** Whether an agent receives an event: the event as it may see it, or the reason why not. */
type Hearing =
  | { readonly heard: true; readonly event: LaresEvent }
  /** `reason` completes "the event … was withheld: " in the agent's trace, which only people read. */
  | { readonly heard: false; readonly reason: string };

/** What the index says about a canonical path. */
export interface HearingIndex {
  /** True if there is an entry at the path. */
  isEntry(path: string): boolean;
  /** True if the index excludes, or would exclude, this path; false if there is an entry at it. */
  hides(path: string): boolean;
}

/**
 * Decides whether an agent receives an event, and with which content. Every event for an agent passes here: when it is
 * queued, and again when it is delivered, because the authority may have shrunk and the entry may be hidden by now.
 *
 * - A built-in event about an entry is received if the entry is visible.
 * - The end of an agent's own action is received if all its paths are still granted.
 * - An agent's own custom event is received as emitted: it contains nothing that the agent did not know.
 * - Another extension's custom event needs `hear_events`, and every entry that it names has to be visible to the
 *   receiver. The event is withheld as a whole, because the text beside an entry's name is about that entry.
 * - An event of a conversation needs `intercept` for the agent whose mind it is. Those that can be changed are asked about
 *   and never queued, so they have no rule.
 * - A built-in event without a rule here is received by no agent.
 */
export function decideHearing(authority: Authority, event: LaresEvent, index: HearingIndex): Hearing {
  if (event.name.includes("/")) return decideCustom(authority, event, index);
  const rule = Object.hasOwn(builtIn, event.name) ? builtIn[event.name] : undefined;
  const seen = rule?.(authority, event, index) ?? null;
  if (seen === null && rule === aboutMind)
    return { heard: false, reason: `${authority.extension} has no intercept for ${String(event["agent"])}` };
  return seen === null
    ? { heard: false, reason: "it is about an entry that the agent cannot see" }
    : { heard: true, event: seen };
}

/** True if the agent may read and change what happens in another one's mind. */
export function mayIntercept({ effective }: Authority, mind: string): boolean {
  return effective.intercept?.includes(mind) === true;
}

/** True if `hear_events` covers the custom event `publisher.id/Name`, or the event is the agent's own. */
function mayHear(authority: Authority, name: string): boolean {
  const publisher = name.slice(0, name.indexOf("/"));
  if (publisher === authority.extension) return true;
  return coversEvent(authority.effective.hear_events ?? [], name);
}

/** True if a list of `publisher.id/EventName` and `publisher.id/*` covers this event. */
export function coversEvent(patterns: readonly string[], name: string): boolean {
  return patterns.includes(name) || patterns.includes(`${name.slice(0, name.indexOf("/"))}/*`);
}

function decideCustom(authority: Authority, event: LaresEvent, index: HearingIndex): Hearing {
  if (!mayHear(authority, event.name)) {
    return { heard: false, reason: `${authority.extension} has no hear_events for it` };
  }
  if (event.name.startsWith(`${authority.extension}/`)) return { heard: true, event };
  const hidden = namedOutOfSight(authority, event, index);
  return hidden === null
    ? { heard: true, event }
    : { heard: false, reason: `it names ${JSON.stringify(hidden)}, which the agent cannot see` };
}

/** `path`, `paths`, `file_path`, `newPath`: the key says that the value is a path. */
const pathKey = /(?:^|_)paths?$|Paths?$/;

/** What the kernel adds to an event; the publisher chose the rest. */
const ownFields: ReadonlySet<string> = new Set(["id", "name", "timestamp"]);
const none: ReadonlySet<string> = new Set();

/** Returns the first text in a custom event that names an entry which the agent cannot see; null if there is none. */
function namedOutOfSight(authority: Authority, event: LaresEvent, index: HearingIndex): string | null {
  return hiddenNameIn(authority, event, index, ownFields);
}

/**
 * Returns the first text in a value that names an entry which the agent cannot see; null if there is none. The fields of
 * `whole` that `except` names are skipped.
 */
export function hiddenNameIn(
  authority: Authority,
  whole: unknown,
  index: HearingIndex,
  except = none,
): string | null {
  // An explicit stack instead of recursion, because the publisher chose the depth of the data.
  const open: { readonly value: unknown; readonly isPath: boolean }[] = [{ value: whole, isPath: false }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, isPath } = next;
    if (typeof value === "string") {
      if (isOutOfSight(authority, value, isPath, index)) return value;
    } else if (Array.isArray(value)) {
      for (const item of value) if (mayHoldText(item)) open.push({ value: item, isPath });
    } else if (isJsonObject(value)) {
      for (const key of Object.keys(value)) {
        if (value === whole && except.has(key)) continue;
        // Paths as keys: { "notes/a.md": 3 }.
        if (isOutOfSight(authority, key, false, index)) return key;
        if (mayHoldText(value[key])) open.push({ value: value[key], isPath: pathKey.test(key) });
      }
    }
  }
  return null;
}

function mayHoldText(value: unknown): boolean {
  return typeof value === "string" || (typeof value === "object" && value !== null);
}

/**
 * True for text that names an entry, unless the agent can see that entry. A value whose key says that it is a path has
 * to be a visible path. Any other text counts if it is the path of an entry, in one of the forms in which programs
 * write paths. A single name without a dot or a slash counts as an ordinary word.
 */
function isOutOfSight(authority: Authority, text: string, isPath: boolean, index: HearingIndex): boolean {
  // Most texts of events are such words.
  if (!isPath && !pathCharacter.test(text)) return false;
  if (/^file:/i.test(text)) return true;
  if (isPath) {
    const canonical = canonicalPath(text);
    return !canonical.ok || !seesNow(authority, canonical.path, index);
  }
  return pathsIn(text).some((spelling) => {
    const canonical = canonicalPath(spelling);
    return canonical.ok && index.isEntry(canonical.path) && !isVisible(authority, canonical.path, "file");
  });
}

/** A text without any of these is an ordinary word. */
const pathCharacter = /[./\\%:]/;

/**
 * The number of innermost names of an absolute path that are compared with the index, because the path does not show
 * where the workspace begins.
 */
const maxNamesOfAbsolute = 16;

/**
 * Returns the paths that a text may stand for: as it is, without a position in the file, decoded, and by its end if it
 * is absolute.
 */
function pathsIn(text: string): string[] {
  if (text.length > 2 * maxPathLength || !/[./\\%]/.test(text)) return [];
  // Events contain thousands of texts, and nearly all of them are plain.
  if (!/^\/|[\\#?%:\s]/.test(text)) return [text];
  // Times have colons, and are in many events.
  if (!/[\\/#?%\s]/.test(text)) {
    const bare = withoutPosition(text);
    return bare === text ? [text] : [text, bare];
  }
  const plain = text.trim().replaceAll("\\", "/");
  const bare = withoutPosition(plain.replace(/[#?].*/s, ""));
  const found = new Set([text, plain, bare, decoded(bare)]);
  for (const path of found) {
    if (!/^(?:[A-Za-z]:)?\//.test(path)) continue;
    const names = path.split("/").slice(1).slice(-maxNamesOfAbsolute);
    for (let from = 0; from < names.length; from++) {
      const end = names.slice(from).join("/");
      if (/[./]/.test(end)) found.add(end);
    }
  }
  return [...found];
}

function withoutPosition(text: string): string {
  return text.replace(/(?::\d+){1,2}$/, "");
}

function decoded(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    // The text is not percent-encoded.
    return text;
  }
}

/** Uses the current sight: the entry may have been hidden after the event was queued, or never have been listed. */
function seesNow(authority: Authority, path: string, index: HearingIndex): boolean {
  return isVisible(authority, path, "file") && !index.hides(path);
}

type Rule = (authority: Authority, event: LaresEvent, index: HearingIndex) => LaresEvent | null;

const aboutEntry: Rule = (authority, event, index) => {
  const entry = event["entry"] as Entry | undefined;
  if (entry === undefined || !seesNow(authority, entry.path, index)) return null;
  return { ...event, entry: entrySeenBy(authority, entry) };
};
/**
 * Returns the event for the agent that proposed the action, based on what `endSeenBy` returned at that time. Since then
 * the agent may have lost folders, or the right to see files in them. The event is withheld if one of its paths is no
 * longer granted. If the agent cannot see one of the files, it only learns that the action could not be carried out.
 */
const aboutOwnAction: Rule = (authority, event, index) => {
  const paths = event["paths"] as readonly string[];
  if (!paths.every((path) => inGrantedScope(authority, path))) return null;
  const isDrift = event["state"] === "Stale" && event["superseded_by"] === undefined;
  return isDrift && !paths.every((path) => seesNow(authority, path, index))
    ? { ...event, state: "Failed" }
    : event;
};
/** Says what happens in a mind. */
const aboutMind: Rule = (authority, event) =>
  mayIntercept(authority, String(event["agent"])) ? event : null;
/** Addressed to one agent, and contains only what that agent may know. */
const addressed: Rule = (_authority, event) => event;

const builtIn: Readonly<Record<string, Rule>> = {
  EntryCreated: (authority, event, index) => {
    const seen = aboutEntry(authority, event, index);
    return seen && { ...seen, location: (seen["entry"] as Entry).location };
  },
  EntryModified: aboutEntry,
  EntryMoved: (authority, event, index) => {
    const seen = aboutEntry(authority, event, index);
    if (seen === null) return null;
    const from = String(event["from"]);
    // The old path is removed if the agent could not see the entry there.
    return { ...seen, from: from !== "" && seesNow(authority, from, index) ? from : "" };
  },
  // Also for entries that become hidden: for an agent that knew the entry, it no longer exists.
  EntryDeleted: (authority, event) => (isVisible(authority, String(event["path"]), "file") ? event : null),
  TagAdded: aboutEntry,
  TagRemoved: aboutEntry,
  ActionEnded: aboutOwnAction,
  IndexComplete: addressed,
  PermissionChanged: addressed,
  ScheduleFired: addressed,
  SessionStart: aboutMind,
  SessionEnd: aboutMind,
  SessionShutdown: aboutMind,
  BeforeAgentStart: aboutMind,
  AgentStart: aboutMind,
  AgentEnd: aboutMind,
  TurnStart: aboutMind,
  TurnEnd: aboutMind,
  ModelSelect: aboutMind,
  MessageStart: aboutMind,
  MessageUpdate: aboutMind,
  MessageEnd: aboutMind,
  Compact: aboutMind,
};

/**
 * Returns the entry as this agent may see it. A folder's modification time changes with every name in it, hidden names
 * included, so agents get its creation time instead.
 */
export function entrySeenBy(authority: Authority, entry: Entry): Entry {
  const location = locationOf(authority, entry.path);
  return { ...entry, location, ...(entry.kind === "folder" ? { modified: entry.created } : {}) };
}

/** Returns the innermost granted folder that contains the path. */
export function locationOf(authority: Authority, path: string): string {
  let best = ".";
  for (const location of authority.locations) {
    if (path !== location && !path.startsWith(`${location}/`)) continue;
    if (best === "." || location.length > best.length) best = location;
  }
  return best;
}
