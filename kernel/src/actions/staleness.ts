import { unlimitedCpu } from "../base/cpu-budget.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { EntryChange } from "../base/vocabulary/event.ts";
import type { FileStat } from "../platform/rooted-fs.ts";
import { foldersAbove, foldPath } from "../policy/paths.ts";
import { createSight } from "../policy/sight.ts";
import { BaseIndex, type BaseOf } from "./base-index.ts";
import { basesOf } from "./bases.ts";
import { fingerprint } from "./fingerprint.ts";
import type { ActionRecord } from "./ledger.ts";
import { actionLimits } from "./limits.ts";
import { currentValue } from "./metadata.ts";
import type { ActionPorts } from "./ports.ts";

export type StalenessPorts = Pick<
  ActionPorts,
  "files" | "contents" | "metadata" | "index" | "authorityOf"
> & {
  readonly log: Log;
  /** Reports that the workspace is no longer what the action begins from. */
  outdated(action: string, path: string): Promise<void>;
};

/** Returns the paths at which something may have changed. A tag is not a base: see `Base`. */
function pathsOf(change: EntryChange): string[] {
  switch (change.kind) {
    case "created":
    case "modified":
      return [change.entry.path];
    case "moved":
      return [change.from, change.entry.path];
    case "deleted":
      return [change.path];
    case "tag_added":
    case "tag_removed":
      return [];
  }
}

/**
 * True where the listing of a folder above is another now. A folder's own time is that of the last name that came or went
 * in it, hidden names included, so it is not looked at.
 */
function changesFolder(change: EntryChange): boolean {
  if (change.kind !== "modified") return change.kind !== "tag_added" && change.kind !== "tag_removed";
  const { entry, changed_fields } = change;
  return entry.kind === "file" && changed_fields.some((field) => field === "size" || field === "modified");
}

/** The changes that the kernel heard of while an action was planned and stored. */
export interface Heard extends Disposable {
  readonly paths: ReadonlySet<string>;
  readonly isTooMuch: boolean;
}

/**
 * Finds the waiting actions that a change of the workspace makes stale. A change is looked up in an index of paths. The
 * affected paths are checked in the background, one at a time, and each path once however often it changes before that.
 * An action is stale if the content differs, so writing a file again with the same bytes makes no action stale.
 */
export class Staleness implements AsyncDisposable {
  readonly #ports: StalenessPorts;
  readonly #index = new BaseIndex();
  /** Folded paths to be looked at. */
  readonly #due = new Set<string>();
  /** Actions whose folder has changed, with a path in it. */
  readonly #outdated = new Map<string, string>();
  readonly #listening = new Set<Listening>();
  #looking: Promise<void> | null = null;
  #isClosed = false;

  constructor(ports: StalenessPorts) {
    this.#ports = ports;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#looking;
  }

  /** Remembers what changes from now on, for an action that is not followed yet. */
  listen(): Heard {
    const listening = new Listening(() => this.#listening.delete(listening));
    this.#listening.add(listening);
    return listening;
  }

  /** Follows an action that is stored as waiting, and checks the paths that changed since it was planned. */
  follow(
    action: string,
    agent: string,
    record: Pick<ActionRecord, "operations" | "told">,
    heard?: Heard,
  ): void {
    this.#index.add(action, agent, basesOf(record));
    if (heard === undefined || (heard.paths.size === 0 && !heard.isTooMuch)) return;
    for (const path of this.#index.pathsOf(action)) {
      const folded = foldPath(path);
      const isHeard = [folded, ...foldersAbove(folded)].some((one) => heard.paths.has(one));
      if (heard.isTooMuch || isHeard) this.#due.add(folded);
    }
    this.#look();
  }

  forget(action: string): void {
    this.#index.remove(action);
    this.#outdated.delete(action);
  }

  /** Handles changes of the workspace. */
  changed(changes: readonly EntryChange[]): void {
    for (const listening of this.#listening) listening.add(changes.flatMap(pathsOf));
    if (this.#index.isEmpty) return;
    for (const change of changes) {
      const isGone = change.kind === "moved" || change.kind === "deleted";
      for (const path of pathsOf(change)) {
        for (const folded of this.#index.affectedBy(path, isGone)) this.#due.add(folded);
        if (changesFolder(change)) this.#memberChanged(path);
      }
    }
    this.#look();
  }

  /** Decided by the member that the agent sees: what a listing says depends on hidden members, too. */
  #memberChanged(path: string): void {
    for (const { agent, actions } of this.#index.movedAbove(path)) {
      if (!this.#sees(agent, path)) continue;
      for (const action of actions) {
        this.#outdated.set(action, path);
        this.#index.remove(action);
      }
    }
  }

  /** Looks at the bases of every action: at start, when changes may have been missed. */
  recheck(): void {
    for (const folded of this.#index.all()) this.#due.add(folded);
    this.#look();
  }

  /** Resolves when everything that was heard has been looked at. */
  async idle(): Promise<void> {
    while (this.#looking !== null) await this.#looking;
  }

  #look(): void {
    if (this.#isClosed || this.#looking !== null || this.#due.size + this.#outdated.size === 0) return;
    this.#looking = this.#lookAtAll().finally(() => {
      this.#looking = null;
      this.#look();
    });
  }

  async #lookAtAll(): Promise<void> {
    for (const [action, path] of this.#outdated) {
      this.#outdated.delete(action);
      await this.#report(action, path);
    }
    for (const folded of this.#due) {
      if (this.#isClosed) return;
      this.#due.delete(folded);
      try {
        await this.#lookAt(folded);
      } catch (error) {
        // The commit compares the path again in any case.
        this.#ports.log.warn("Waiting actions could not be compared with a changed file.", {
          path: folded,
          error: messageOf(error),
        });
      }
    }
  }

  async #lookAt(folded: string): Promise<void> {
    const looks = new Map<string, Look>();
    const different: Promise<void>[] = [];
    for (const of of this.#index.at(folded)) {
      const { path } = of.base;
      if (!this.#sees(of.agent, path)) continue;
      let look = looks.get(path);
      if (look === undefined) {
        look = await Look.at(this.#ports, path);
        looks.set(path, look);
      }
      const answer = await look.compare(of);
      // While the file is still being written, its next change brings it back here.
      if (answer === "unknown") continue;
      if (answer === "different") different.push(this.#report(of.action, path));
    }
    // Together they share one transaction.
    await Promise.all(different);
  }

  async #report(action: string, path: string): Promise<void> {
    try {
      await this.#ports.outdated(action, path);
    } catch (error) {
      this.#ports.log.error("A stale action could not be recorded as such.", {
        action,
        error: messageOf(error),
      });
    }
  }

  /** An agent that is disabled hears nothing, and the person's list is true all the same. */
  #sees(agent: string, path: string): boolean {
    const authority = this.#ports.authorityOf(agent);
    return authority === null || createSight(authority, this.#ports.index).sees(path);
  }
}

type Comparison = "same" | "different" | "unknown";

/** The current state of a path. Its content is read only when a comparison needs it. */
class Look {
  readonly #ports: StalenessPorts;
  readonly #path: string;
  readonly #stat: FileStat | null;
  #hash: Promise<Hash | null> | null = null;

  private constructor(ports: StalenessPorts, path: string, stat: FileStat | null) {
    this.#ports = ports;
    this.#path = path;
    this.#stat = stat;
  }

  static async at(ports: StalenessPorts, path: string): Promise<Look> {
    return new Look(ports, path, await ports.files.stat(path));
  }

  /** `unknown`: the workspace's folder itself is gone for now, or the file changed while it was read. */
  async compare({ base }: BaseOf): Promise<Comparison> {
    const stat = this.#stat;
    if (stat === null && !(await this.#isRootThere())) return "unknown";
    switch (base.is) {
      case "folder":
        return stat?.kind === "folder" ? "same" : "different";
      case "way":
        return stat === null || stat.kind === "folder" ? "same" : "different";
      case "value": {
        if (stat === null) return "different";
        if (base.change.kind === "tag") return "same";
        const value = await currentValue(this.#ports.metadata, base.change);
        const hash =
          value === undefined ? null : (await this.#ports.contents.value(value, unlimitedCpu)).hash;
        return hash === base.hash ? "same" : "different";
      }
      case "content":
        return this.#compareContent(base.hash);
    }
  }

  async #compareContent(expected: Hash | null): Promise<Comparison> {
    const stat = this.#stat;
    if (stat === null || expected === null) return stat === null && expected === null ? "same" : "different";
    if (stat.kind !== "file") return "different";
    this.#hash ??= fingerprint(this.#ports.contents, this.#path, stat, unlimitedCpu);
    if ((await this.#hash) === expected) return "same";
    const after = await this.#ports.files.stat(this.#path);
    const isSettled =
      after?.inode === stat.inode && after.size === stat.size && after.mtimeMs === stat.mtimeMs;
    return isSettled || after === null ? "different" : "unknown";
  }

  async #isRootThere(): Promise<boolean> {
    const { files } = this.#ports;
    const { root } = files.locate(this.#path);
    try {
      return (await root.files.stat("."))?.kind === "folder";
    } catch {
      return false;
    }
  }
}

class Listening implements Heard {
  readonly paths = new Set<string>();
  isTooMuch = false;
  readonly #end: () => void;

  constructor(end: () => void) {
    this.#end = end;
  }

  add(paths: readonly string[]): void {
    for (const path of paths) {
      if (this.paths.size >= actionLimits.heardWhilePlanned) {
        this.isTooMuch = true;
        this.paths.clear();
      }
      if (this.isTooMuch) return;
      this.paths.add(foldPath(path));
    }
  }

  [Symbol.dispose](): void {
    this.#end();
  }
}
