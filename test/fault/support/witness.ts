import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { parse } from "yaml";
import { sha256Hex } from "../../../kernel/src/platform/files/hash.ts";
import type { Action, Entry } from "../../support/types.ts";

/** What an action does to its own folder, and its possible states. */
export interface WitnessedAction {
  readonly title: string;
  readonly folder: string;
  /** Absent until the ledger was read, or the proposal was answered. */
  id?: string;
  allowed: readonly string[];
}

export interface Plan {
  readonly notes: readonly number[];
  readonly handled: Readonly<Record<string, number>>;
}

/** Records stored one by one in a memory: acknowledged, or sent and never answered. */
class Told {
  readonly what: string;
  readonly acknowledged = new Set<number>();
  readonly #uncertain = new Set<number>();

  constructor(what: string) {
    this.what = what;
  }

  async tell(note: number, send: () => Promise<unknown>): Promise<void> {
    this.#uncertain.add(note);
    await send();
    this.#uncertain.delete(note);
    this.acknowledged.add(note);
  }

  /** Checks that every acknowledged one is found, none twice, and none that was not sent. */
  check(found: readonly number[]): void {
    const there = new Set(found);
    expect(there.size, `${this.what} that are there twice`).toBe(found.length);
    const lost = [...this.acknowledged].filter((note) => !there.has(note));
    expect(lost, `acknowledged ${this.what} that are lost`).toEqual([]);
    const unknown = found.filter((note) => !this.acknowledged.has(note) && !this.#uncertain.has(note));
    expect(unknown, `${this.what} that nobody sent`).toEqual([]);
    for (const note of this.#uncertain) if (there.has(note)) this.acknowledged.add(note);
    this.#uncertain.clear();
  }
}

/** Deleted, in the terms of `Plan.handled`. */
export const DELETED = 1e9;

/** Everything that a client sent or got; each new kernel is compared with it. */
export class Witness {
  readonly events = new Told("events");
  readonly items = new Told("items of knowledge");
  /** Acknowledged by the guest, and by the kernel to the client. */
  readonly notes = new Set<number>();
  /** Sent and never answered: may exist, once. */
  readonly uncertainNotes = new Set<number>();
  /** Sizes of the client's own files; `DELETED` if it removed them. */
  readonly files = new Map<string, number>();
  readonly actions: WitnessedAction[] = [];
  /** Globs of the rules that were remembered with "always". */
  readonly rules = new Set<string>();

  /** Checks that every acknowledged note exists, none twice, and none that was not sent. */
  checkNotes({ notes }: Plan): void {
    expect(new Set(notes).size, "a note was taken twice").toBe(notes.length);
    const found = new Set(notes);
    expect(
      [...this.notes].filter((note) => !found.has(note)),
      "acknowledged notes that are lost",
    ).toEqual([]);
    expect(notes.filter((note) => !this.notes.has(note) && !this.uncertainNotes.has(note))).toEqual([]);
    for (const note of this.uncertainNotes) if (found.has(note)) this.notes.add(note);
    this.uncertainNotes.clear();
  }

  /**
   * Returns what the agent was not notified of yet. A file that was created and removed while no kernel ran counts as
   * never existing.
   */
  unhandled({ handled }: Plan): string[] {
    return [...this.files]
      .filter(([path, size]) => (handled[path] ?? (size === DELETED ? DELETED : 0)) < size)
      .map(([path]) => path);
  }

  /** Checks that ledger and workspace agree on every action, in a possible state. */
  async checkActions(root: string, listed: readonly Action[], entries: readonly Entry[]): Promise<void> {
    for (const action of this.actions) {
      const found = listed.find(({ id, title }) => (action.id ?? id) === id && title === action.title);
      const state = found?.state ?? "absent";
      expect(action.allowed, `the state of ${action.title}`).toContain(state);
      if (found !== undefined) action.id = found.id;
      action.allowed = [state];
      const isApplied = state === "Committed";
      if (isApplied) expect(found?.receipt?.applied, action.title).toEqual([0, 1, 2, 3, 4, 5, 6]);
      expect(await treeOf(join(root, action.folder)), `${action.title} is ${state}`).toEqual(
        isApplied ? treeAfter : treeBefore,
      );
      const edited = entries.find(({ path }) => path === `${action.folder}/edited.txt`);
      expect(edited?.tags, `tags of ${action.title}, ${state}`).toEqual(isApplied ? ["#edited"] : []);
      expect(edited?.fields, action.title).toEqual(isApplied ? { worker: { at: action.title } } : {});
      expect(edited?.sidecars, action.title).toEqual(isApplied ? ["faces"] : []);
    }
  }

  /** Removes what will not be checked again. */
  retire(states: readonly string[]): void {
    const kept = this.actions.filter(({ allowed }) => !allowed.every((state) => states.includes(state)));
    this.actions.splice(0, this.actions.length, ...kept);
  }

  /** Checks that files of the state folder are completely before or after a write, and nothing is left over. */
  async checkState(stateFolder: string): Promise<void> {
    const text = await readFile(join(stateFolder, "decisions.yaml"), "utf8");
    const decisions = parse(text) as { version: number; current: string; rules: { path?: string }[] };
    expect(decisions).toMatchObject({ version: 1, current: expect.stringMatching(/^sha256:/) });
    const remembered = new Set(decisions.rules.map(({ path }) => path));
    expect([...this.rules].filter((path) => !remembered.has(path))).toEqual([]);
    const objects = join(stateFolder, "objects");
    for (const shelf of await readdir(objects)) {
      // A put in progress uses other names; what a death left of one is removed at the next start.
      if (!/^[0-9a-f]{2}$/.test(shelf)) throw new Error(`objects/${shelf} is left over`);
      for (const rest of await readdir(join(objects, shelf)))
        expect(sha256Hex(await readFile(join(objects, shelf, rest)))).toBe(shelf + rest);
    }
    const names = await readdir(stateFolder, { recursive: true });
    expect(names.filter((name) => name.endsWith(".tmp"))).toEqual([]);
  }

  /** Checks that staging and keeping left no file in the workspace. */
  async checkWorkspace(root: string): Promise<void> {
    const names = await readdir(root, { recursive: true });
    expect(names.filter((name) => /(^|\/)\.lares-/.test(name))).toEqual([]);
  }
}

export const treeBefore = {
  "edited.txt": "old text\n",
  "moved.txt": "moved\n",
  "removed.txt": "removed\n",
};
const treeAfter = {
  "edited.txt": "new text\n",
  "made/large.txt": "made ".repeat(4000),
  "made/moved.txt": "moved\n",
};

/** Returns seven effects of every kind on the action's own folder, which turn `treeBefore` into `treeAfter`. */
export function effectsIn(folder: string, title: string): object[] {
  return [
    { kind: "file.write", path: `${folder}/made/large.txt`, content: treeAfter["made/large.txt"] },
    { kind: "file.edit", path: `${folder}/edited.txt`, edits: [{ find: "old", replace: "new" }] },
    { kind: "file.delete", path: `${folder}/removed.txt` },
    { kind: "file.move", from: `${folder}/moved.txt`, to: `${folder}/made/moved.txt` },
    { kind: "tag.add", path: `${folder}/edited.txt`, tag: "#edited" },
    { kind: "field.set", path: `${folder}/edited.txt`, namespace: "worker", key: "at", value: title },
    {
      kind: "sidecar.write",
      path: `${folder}/edited.txt`,
      sidecar: "faces",
      data: { large: "face ".repeat(2000) },
    },
  ];
}

async function treeOf(folder: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const item of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!item.isFile()) continue;
    const path = join(item.parentPath, item.name);
    found[path.slice(folder.length + 1)] = await readFile(path, "utf8");
  }
  return found;
}
