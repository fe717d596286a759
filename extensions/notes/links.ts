import type { Link } from "./scan.ts";

export interface Note {
  readonly path: string;
  readonly text: string;
  readonly links: readonly Link[];
}

export interface Move {
  readonly from: string;
  readonly to: string;
}

/** Finds what links mean, among the notes that there are. */
export class Targets {
  readonly #paths: ReadonlySet<string>;
  /** By name in lower case and without ".md": the shortest path, as editors of notes choose it. */
  readonly #byName = new Map<string, string>();

  constructor(paths: Iterable<string>) {
    this.#paths = new Set(paths);
    for (const path of this.#paths) {
      const name = nameOf(path);
      const known = this.#byName.get(name);
      if (known === undefined || isBefore(path, known)) this.#byName.set(name, path);
    }
  }

  /** Returns the path of the note that a link in the note `from` points to, or null if no note has it. */
  of(link: Link, from: string): string | null {
    const { kind, target } = link;
    if (kind === "inline") return this.#existing(joined(folderOf(from), target));
    if (!target.includes("/")) return this.#byName.get(nameOf(target)) ?? null;
    return this.#existing(joined("", target)) ?? this.#existing(joined(folderOf(from), target));
  }

  #existing(path: string | null): string | null {
    if (path === null) return null;
    for (const each of [path, `${path}.md`]) if (this.#paths.has(each)) return each;
    return null;
  }
}

/**
 * Returns the texts that have to change so that links lead where they led before the moves, by path. `notes` are as they
 * are after the moves.
 */
export function repaired(notes: readonly Note[], moves: readonly Move[]): ReadonlyMap<string, string> {
  // A new note at the old place has links of its own.
  const paths = new Set(notes.map(({ path }) => path));
  const last = moves.filter(({ from }) => !paths.has(from) || moves.some(({ to }) => to === from));
  const moved = new Map(last.map(({ from, to }) => [from, to]));
  const origins = new Map(last.map(({ from, to }) => [to, from]));
  const now = new Targets(notes.map(({ path }) => path));
  const before = new Targets(notes.map(({ path }) => origins.get(path) ?? path));
  const changed = new Map<string, string>();
  for (const { path, text, links } of notes) {
    const old = origins.get(path) ?? path;
    let result = "";
    let end = 0;
    for (const link of links) {
      const wanted = wantedPath(link, old, before, moved);
      if (wanted === null || now.of(link, path) === wanted) continue;
      const target = written(link, path, wanted, now);
      if (target === null) continue;
      result += text.slice(end, link.start) + target;
      end = link.end;
    }
    if (end > 0) changed.set(path, result + text.slice(end));
  }
  return changed;
}

/** Returns the current path of the note that the link pointed to before the moves, or null if it pointed to no note. */
function wantedPath(
  link: Link,
  old: string,
  before: Targets,
  moved: ReadonlyMap<string, string>,
): string | null {
  const note = before.of(link, old);
  // Pictures and other files are not visible to this agent, so nobody knows whether they moved too.
  return note === null ? null : (moved.get(note) ?? note);
}

/** Returns the new target in the link's own style, with or without folder and ending, or null if that style cannot hold the path. */
function written(link: Link, from: string, wanted: string, now: Targets): string | null {
  if (link.kind === "wiki") {
    const path = link.target.endsWith(".md") ? wanted : wanted.replace(/\.md$/, "");
    const name = path.slice(path.lastIndexOf("/") + 1);
    // Another note of this name may be nearer.
    const isKnown = now.of({ ...link, target: name }, from) === wanted;
    const target = link.target.includes("/") || !isKnown ? path : name;
    return /[[\]|#]/.test(target) ? null : target;
  }
  const isShort = !link.target.endsWith(".md") && wanted.endsWith(".md");
  const path = relative(folderOf(from), isShort ? wanted.slice(0, -3) : wanted);
  return link.isBracketed
    ? path.replace(/[<>#%]/g, encodeURIComponent)
    : path.replace(/[^\p{L}\p{N}\-._~/!$&'*+,;=:@]/gu, (character) =>
        character === "(" || character === ")"
          ? `%${character.charCodeAt(0).toString(16)}`
          : encodeURIComponent(character),
      );
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

function nameOf(path: string): string {
  return path
    .slice(path.lastIndexOf("/") + 1)
    .replace(/\.md$/i, "")
    .toLowerCase();
}

function isBefore(path: string, other: string): boolean {
  const depth = path.split("/").length - other.split("/").length;
  return depth < 0 || (depth === 0 && path < other);
}

/** Null if the target leaves the workspace. */
function joined(folder: string, target: string): string | null {
  const parts = folder === "" ? [] : folder.split("/");
  for (const part of target.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.pop() === undefined) return null;
  }
  return parts.join("/");
}

function relative(folder: string, path: string): string {
  const from = folder === "" ? [] : folder.split("/");
  const to = path.split("/");
  let shared = 0;
  while (shared < from.length && shared < to.length - 1 && from[shared] === to[shared]) shared += 1;
  return [...from.slice(shared).map(() => ".."), ...to.slice(shared)].join("/");
}
