import type { Disposable } from "vscode";
import type { Kernel } from "../kernel/kernel.ts";
import type { Action } from "../protocol.ts";
import { CoalescedEvent } from "./coalesced.ts";
import type { ActionsModel, StatusModel } from "./ports.ts";

/** The number of waiting actions in the model; the kernel has the rest, which follow as these are decided. */
export const maxPending = 1_000;
/** The number of decided actions that are kept. */
export const maxRecent = 50;
/** The number of actions that are cached with their diffs; the least recently used is evicted. */
const maxWithDiffs = 50;

/** The actions as last reported by the kernel: the waiting ones, and the latest decided ones. */
export class KernelActions implements ActionsModel, Disposable {
  readonly #kernel: Kernel;
  readonly #changed = new CoalescedEvent();
  readonly onDidChange = this.#changed.event;
  readonly #subscriptions: Disposable[];
  readonly #withDiffs = new Map<string, { readonly key: string; readonly action: Promise<Action> }>();
  #byId = new Map<string, Action>();
  #sorted: { readonly pending: readonly Action[]; readonly recent: readonly Action[] } | null = null;
  /** What changed while a list was being loaded, because the list may be older; null while none is. */
  #sinceAsked: Map<string, Action> | null = null;

  constructor(kernel: Kernel, status: StatusModel) {
    this.#kernel = kernel;
    let pid: number | undefined;
    this.#subscriptions = [
      kernel.on("lares/actions/changed", (action) => this.#take(action)),
      status.onDidChange(() => {
        const now = status.current;
        if (now === undefined || !now.trusted) return;
        if (now.pid !== pid || this.#misses(now.pendingActions)) this.#load();
        pid = now.pid;
      }),
      kernel.onDidChangeState(({ kind }) => {
        if (kind === "running") this.#load();
        // Waiting actions are stored in the kernel and return with it; nobody can decide them meanwhile.
        else if (kind === "untrusted" || kind === "failed") this.#replace([]);
      }),
    ];
    if (kernel.state.kind === "running") this.#load();
  }

  get pending(): readonly Action[] {
    return this.#lists().pending;
  }

  get recent(): readonly Action[] {
    return this.#lists().recent;
  }

  get(id: string): Action | undefined {
    return this.#byId.get(id);
  }

  withDiffs(id: string): Promise<Action> {
    const key = versionOf(this.#byId.get(id));
    const known = this.#withDiffs.get(id);
    if (known !== undefined && known.key === key) {
      this.#withDiffs.delete(id);
      this.#withDiffs.set(id, known);
      return known.action;
    }
    const action = this.#kernel.request("lares/actions/get", { id });
    this.#withDiffs.set(id, { key, action });
    // Failures are not cached.
    action.catch(() => {
      if (this.#withDiffs.get(id)?.action === action) this.#withDiffs.delete(id);
    });
    for (const oldest of this.#withDiffs.keys()) {
      if (this.#withDiffs.size <= maxWithDiffs) break;
      this.#withDiffs.delete(oldest);
    }
    return action;
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#changed.dispose();
  }

  /** True if more actions wait in the kernel than are known here, up to the limit. */
  #misses(pendingInKernel: number): boolean {
    return Math.min(pendingInKernel, maxPending) !== Math.min(this.pending.length, maxPending);
  }

  #take(action: Action): void {
    this.#byId.set(action.id, action);
    this.#sinceAsked?.set(action.id, action);
    this.#announce();
    // Trims the map to the entries of the lists, in case nobody has read them for long.
    if (this.#byId.size > 2 * (maxPending + maxRecent)) this.#lists();
  }

  #load(): void {
    if (this.#sinceAsked !== null) return;
    const changed = new Map<string, Action>();
    this.#sinceAsked = changed;
    Promise.all([
      this.#kernel.request("lares/actions/list", { limit: maxRecent }),
      this.#kernel.request("lares/actions/list", { state: "PendingApproval", limit: maxPending }),
    ])
      .then(([latest, pending]) => this.#replace([...latest, ...pending, ...changed.values()]))
      // The kernel is shutting down or gone; its next state loads the lists again.
      .catch(() => undefined)
      .finally(() => {
        this.#sinceAsked = null;
      });
  }

  #replace(actions: readonly Action[]): void {
    this.#byId = new Map(actions.map((action) => [action.id, action]));
    this.#announce();
  }

  #announce(): void {
    this.#sorted = null;
    this.#changed.fire();
  }

  #lists() {
    if (this.#sorted === null) {
      const all = [...this.#byId.values()];
      const pending = all
        .filter(({ state }) => state === "PendingApproval")
        .toSorted((one, other) => compare(one.created, other.created) || compare(one.id, other.id))
        .slice(0, maxPending);
      const recent = all
        .filter(({ state }) => state !== "PendingApproval")
        .toSorted((one, other) => compare(endOf(other), endOf(one)) || compare(other.id, one.id))
        .slice(0, maxRecent);
      this.#byId = new Map([...pending, ...recent].map((action) => [action.id, action]));
      this.#sorted = { pending, recent };
    }
    return this.#sorted;
  }
}

/** Timestamps in ISO 8601 and ids in UUIDv7 sort as text. */
function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

function endOf({ receipt, decided, created }: Action): string {
  return receipt?.finished ?? decided ?? created;
}

function versionOf(action: Action | undefined): string {
  return action === undefined ? "" : `${action.digest} ${action.state}`;
}
