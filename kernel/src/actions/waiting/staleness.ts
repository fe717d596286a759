import type { CpuBudget } from "../../base/cpu-budget.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Hash } from "../../base/vocabulary/common.ts";
import type { EntryChange } from "../../base/vocabulary/event.ts";
import type { FileStat } from "../../platform/files/rooted-fs.ts";
import { foldersAbove, foldPath } from "../../policy/paths.ts";
import { createSight } from "../../policy/sight.ts";
import { BaseIndex, type BaseOf } from "./base-index.ts";
import { basesOf } from "./bases.ts";
import { fingerprint } from "../fingerprint.ts";
import type { CpuDebt } from "../cpu-debt.ts";
import type { ActionRecord } from "../action-record.ts";
import { actionLimits } from "../limits.ts";
import { currentValue } from "../metadata.ts";
import type { ActionPorts } from "../ports.ts";

type StalenessPorts = Pick<
  ActionPorts,
  "files" | "contents" | "metadata" | "index" | "authorityOf" | "clock"
> & {
  readonly log: Log;
  readonly cpuDebt: CpuDebt;
  /** Reports that the workspace no longer has the state that the action was planned for. */
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
 * True if the change alters the listing of a folder above. A folder's own modification time is ignored, because it
 * changes with every name in it, hidden names included.
 */
function changesFolder(change: EntryChange): boolean {
  if (change.kind !== "modified") return change.kind !== "tag_added" && change.kind !== "tag_removed";
  const { entry, changed_fields } = change;
  return entry.kind === "file" && changed_fields.some((field) => field === "size" || field === "modified");
}

/** The changes that arrive while an action is planned and stored. */
export interface RecordedChanges extends Disposable {
  readonly paths: ReadonlySet<string>;
  readonly hasOverflowed: boolean;
}

/**
 * Finds the waiting actions that a change of the workspace makes stale. A change is looked up in an index of paths. The
 * affected paths are checked in the background, one at a time, and each only once however often it changes before that.
 * The agent that owns the action pays (`cpu-debt.ts`); while it has no time left, the path waits. An action is stale
 * if the content differs, so writing the same bytes again makes no action stale.
 */
export class Staleness implements AsyncDisposable {
  readonly #ports: StalenessPorts;
  readonly #index = new BaseIndex();
  /** Folded paths to be checked. */
  readonly #due = new Set<string>();
  /** Actions whose folder has changed, with a path in it. */
  readonly #outdated = new Map<string, string>();
  readonly #recorders = new Set<ChangeRecorder>();
  /** Folded paths to be checked once an agent has time again. */
  readonly #postponed = new Set<string>();
  #timer: Disposable | null = null;
  #checking: Promise<void> | null = null;
  #isClosed = false;

  constructor(ports: StalenessPorts) {
    this.#ports = ports;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#timer?.[Symbol.dispose]();
    await this.#checking;
  }

  /** Collects changes from now on, for an action that is not followed yet. */
  recordChanges(): RecordedChanges {
    const recorder = new ChangeRecorder(() => this.#recorders.delete(recorder));
    this.#recorders.add(recorder);
    return recorder;
  }

  /** Follows an action that is stored as waiting, and checks the paths that changed since it was planned. */
  follow(
    action: string,
    agent: string,
    record: Pick<ActionRecord, "operations" | "agentView">,
    recorded?: RecordedChanges,
  ): void {
    this.#index.add(action, agent, basesOf(record));
    if (recorded === undefined || (recorded.paths.size === 0 && !recorded.hasOverflowed)) return;
    for (const path of this.#index.pathsOf(action)) {
      const folded = foldPath(path);
      const hasChanged = [folded, ...foldersAbove(folded)].some((one) => recorded.paths.has(one));
      if (recorded.hasOverflowed || hasChanged) this.#due.add(folded);
    }
    this.#check();
  }

  forget(action: string): void {
    this.#index.remove(action);
    this.#outdated.delete(action);
  }

  /** Handles changes of the workspace. */
  changed(changes: readonly EntryChange[]): void {
    for (const recorder of this.#recorders) recorder.add(changes.flatMap(pathsOf));
    if (this.#index.isEmpty) return;
    for (const change of changes) {
      const isGone = change.kind === "moved" || change.kind === "deleted";
      for (const path of pathsOf(change)) {
        for (const folded of this.#index.affectedBy(path, isGone)) this.#due.add(folded);
        if (changesFolder(change)) this.#memberChanged(path);
      }
    }
    this.#check();
  }

  /** Decided by the changed member, which the agent must see: the hash of a listing depends on hidden members, too. */
  #memberChanged(path: string): void {
    for (const { agent, actions } of this.#index.movedAbove(path)) {
      if (!this.#sees(agent, path)) continue;
      for (const action of actions) {
        this.#outdated.set(action, path);
        this.#index.remove(action);
      }
    }
  }

  /** Checks the bases of every action: at start, when changes may have been missed. */
  recheck(): void {
    for (const folded of this.#index.all()) this.#due.add(folded);
    this.#check();
  }

  /** Resolves when every change so far has been checked. */
  async idle(): Promise<void> {
    while (this.#checking !== null) await this.#checking;
  }

  #check(): void {
    if (this.#isClosed || this.#checking !== null || this.#due.size + this.#outdated.size === 0) return;
    this.#checking = this.#checkAll().finally(() => {
      this.#checking = null;
      this.#check();
    });
  }

  async #checkAll(): Promise<void> {
    for (const [action, path] of this.#outdated) {
      this.#outdated.delete(action);
      await this.#report(action, path);
    }
    for (const folded of this.#due) {
      if (this.#isClosed) return;
      this.#due.delete(folded);
      try {
        await this.#checkPath(folded);
      } catch (error) {
        // The commit compares the path again in any case.
        this.#ports.log.warn("Waiting actions could not be compared with a changed file.", {
          path: folded,
          error: messageOf(error),
        });
      }
    }
  }

  async #checkPath(folded: string): Promise<void> {
    const states = new Map<string, CurrentState>();
    const different: Promise<void>[] = [];
    const bases = this.#index.at(folded).filter(({ agent, base }) => this.#sees(agent, base.path));
    const payer = bases.find(({ agent }) => this.#ports.cpuDebt.hasTime(agent))?.agent;
    if (payer === undefined) {
      this.#postpone(folded, bases);
      return;
    }
    for (const base of bases) {
      const { path } = base.base;
      let state = states.get(path);
      if (state === undefined) {
        state = await CurrentState.at(this.#ports, path, this.#ports.cpuDebt.of(payer));
        states.set(path, state);
      }
      const answer = await state.compare(base);
      // The file is still being written; its next change triggers another check.
      if (answer === "unknown") continue;
      if (answer === "different") different.push(this.#report(base.action, path));
    }
    // Started together, so that they share one transaction.
    await Promise.all(different);
  }

  #postpone(folded: string, bases: readonly BaseOf[]): void {
    if (bases.length === 0) return;
    this.#postponed.add(folded);
    const waits = bases.map(({ agent }) => this.#ports.cpuDebt.msUntilTime(agent));
    this.#timer ??= this.#ports.clock.timer(Math.min(...waits), () => {
      this.#timer = null;
      for (const path of this.#postponed) this.#due.add(path);
      this.#postponed.clear();
      this.#check();
    });
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

  /** A disabled agent is not notified, and the person's list is correct nevertheless. */
  #sees(agent: string, path: string): boolean {
    const authority = this.#ports.authorityOf(agent);
    return authority === null || createSight(authority, this.#ports.index).sees(path);
  }
}

type Comparison = "same" | "different" | "unknown";

/** The current state of a path. Its content is read only when a comparison needs it. */
class CurrentState {
  readonly #ports: StalenessPorts;
  readonly #path: string;
  readonly #stat: FileStat | null;
  readonly #budget: CpuBudget;
  #hash: Promise<Hash | null> | null = null;

  private constructor(ports: StalenessPorts, path: string, stat: FileStat | null, budget: CpuBudget) {
    this.#ports = ports;
    this.#budget = budget;
    this.#path = path;
    this.#stat = stat;
  }

  static async at(ports: StalenessPorts, path: string, budget: CpuBudget): Promise<CurrentState> {
    return new CurrentState(ports, path, await ports.files.stat(path), budget);
  }

  /** `unknown`: the workspace folder itself is missing for now, or the file changed while it was read. */
  async compare({ agent, base }: BaseOf): Promise<Comparison> {
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
        const { contents, cpuDebt } = this.#ports;
        const hash = value === undefined ? null : (await contents.value(value, cpuDebt.of(agent))).hash;
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
    this.#hash ??= fingerprint(this.#ports.contents, this.#path, stat, this.#budget);
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

class ChangeRecorder implements RecordedChanges {
  readonly paths = new Set<string>();
  hasOverflowed = false;
  readonly #end: () => void;

  constructor(end: () => void) {
    this.#end = end;
  }

  add(paths: readonly string[]): void {
    for (const path of paths) {
      if (this.paths.size >= actionLimits.changesWhilePlanned) {
        this.hasOverflowed = true;
        this.paths.clear();
      }
      if (this.hasOverflowed) return;
      this.paths.add(foldPath(path));
    }
  }

  [Symbol.dispose](): void {
    this.#end();
  }
}
