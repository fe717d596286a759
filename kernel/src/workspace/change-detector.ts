import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { EntryKind } from "../base/vocabulary/entry.ts";
import type { Observation } from "../platform/files/folder-reader.ts";
import type { Arrival } from "./arrival.ts";
import type { Exclusions } from "./exclusions.ts";
import { workspaceLimits, workspaceTimes } from "./limits.ts";
import type { Looks } from "./looks.ts";
import { matchByContent, type ContentOf } from "./lookalikes.ts";
import { MissingEntries } from "./missing.ts";
import type { PendingNames } from "./pending-names.ts";
import { Places } from "./places.ts";
import type { Origin, Recorder } from "./recorder.ts";
import { isLongSettled, newPending, settles, type Pending } from "./settling.ts";
import {
  contains,
  isAttached,
  isSameFolder,
  isUnchanged,
  subtree,
  type EntryNode,
  type EntryTree,
} from "./tree.ts";

interface ChangeDetectorPorts {
  readonly tree: EntryTree;
  readonly exclusions: Exclusions;
  readonly recorder: Recorder;
  readonly clock: Clock;
  readonly log: Log;
  /** The names and folders that have to be checked again. */
  readonly pending: PendingNames;
  readonly looks: Pick<Looks, "turn" | "hasLookedSince">;
  /** True while missing entries may still be found again. */
  isLooking(): boolean;
  hint(folder: EntryNode, name: string, origin: Origin): void;
  list(folder: EntryNode, origin: Origin, deep: boolean): void;
  /** The folder was replaced by another one than the one that is watched. */
  replaced(folder: EntryNode): void;
}

/** Decides from observations what happened: nothing, a modification, a move, a new entry or a deletion. */
export class ChangeDetector {
  readonly missing = new MissingEntries();
  readonly #ports: ChangeDetectorPorts;
  /** New entries, held back while a scan still determines which entries are missing. */
  #held: { readonly folder: EntryNode; readonly name: string }[] = [];
  /** New files that may be missing ones, to be compared by content. */
  readonly #lookalikes: Arrival[] = [];
  #isHolding = false;
  #isMatchingContent = false;

  constructor(ports: ChangeDetectorPorts) {
    this.#ports = ports;
  }

  /** True if nothing is missing or held back. */
  get isQuiet(): boolean {
    return this.missing.size === 0 && this.#held.length === 0;
  }

  /** Holds new entries back until `release`, so that moves are recognized. */
  hold(): void {
    this.#isHolding = true;
    this.#isMatchingContent = true;
  }

  /** All missing entries are known: looks again at the entries that were held back. */
  release(): void {
    this.#isHolding = false;
    for (const { folder, name } of this.#held.splice(0)) this.#ports.hint(folder, name, "index");
  }

  /** Returns when the first missing entry counts as deleted; Infinity while that cannot be decided. */
  nextGoneAtMs(): number {
    if (this.#isHolding || this.#isMatchingContent) return Infinity;
    let goneAtMs = Infinity;
    for (const missing of this.missing.all()) goneAtMs = Math.min(goneAtMs, missing.goneAtMs);
    return goneAtMs;
  }

  /**
   * Compares an observed name with the index. Returns a new entry, to be handled after everything that was observed
   * together was compared: only then all missing entries are known.
   */
  compare(
    folder: EntryNode,
    name: string,
    seen: Observation | null,
    origin: Origin,
    pending: Pending | null,
    isForced: boolean,
  ): Arrival | null {
    const { recorder, exclusions, clock } = this.#ports;
    const known = folder.child(name);
    const kind: EntryKind | null = seen === null || seen.kind === "other" ? null : seen.kind;
    const observed = kind !== null && !exclusions.excludes(folder, name, kind) ? seen : null;
    if (observed === null) {
      if (known !== undefined) this.missing.add(known, clock.now(), origin);
      return null;
    }
    if (known === undefined) return { folder, name, observed, origin, pending, isForced };
    this.missing.delete(known);
    if (known.kind !== kind) {
      recorder.remove(known, origin);
      return { folder, name, observed, origin, pending, isForced };
    }
    if (kind === "folder") {
      if (!isSameFolder(known, observed)) {
        // Another folder of the same name: the watch is still on the old one.
        this.#ports.replaced(known);
        recorder.refresh(known, observed);
        this.#ports.list(known, origin, true);
      } else known.take(observed);
      return null;
    }
    if (isUnchanged(known, observed)) {
      // Written again so soon that its modification time may not have changed, because file systems store times in
      // steps.
      if (pending !== null && clock.now() - observed.mtimeMs < workspaceTimes.settleMs)
        recorder.reread(known);
      return null;
    }
    if (this.#mayGoOn({ folder, name, observed, origin, pending, isForced }, known))
      recorder.modify(known, observed, origin);
    return null;
  }

  /** Handles a path that the index does not have: a missing entry that was found again, or a new one. */
  arrive(arrival: Arrival): void {
    const { recorder, tree } = this.#ports;
    const { folder, name, observed, origin, isForced } = arrival;
    if (!isAttached(tree, folder) || folder.child(name) !== undefined) return;
    if (Places.pathIn(folder, name).length > workspaceLimits.pathLength) {
      this.#ports.log.warn("A path is too long and is ignored.", { folder: folder.name });
      return;
    }
    const kind = observed.kind === "folder" ? "folder" : "file";
    const missing = this.missing.matching(kind, observed);
    if (missing !== undefined && isAttached(tree, missing) && !contains(missing, folder)) {
      if (kind === "file" && !isForced && missing.parent === folder && this.#isAwaited(missing, arrival))
        return;
      this.missing.delete(missing);
      recorder.move(missing, folder, name, origin);
      // The entry may have changed as well, and other ignore rules may apply at its new path.
      if (kind === "folder") {
        for (const each of subtree(missing)) this.#ports.exclusions.forget(each);
        this.#ports.list(missing, origin, true);
      } else if (!isUnchanged(missing, observed)) this.#ports.hint(folder, name, origin);
      return;
    }
    if (this.#isHolding && !isForced) {
      this.#held.push({ folder, name });
      return;
    }
    if (kind === "folder") {
      if (!this.#isSeenAgain(arrival)) return;
      const created = recorder.create(folder, name, observed, origin);
      this.#ports.list(created, origin, false);
      return;
    }
    if (this.#isMatchingContent && !isForced && this.missing.sizesWithContent().has(observed.size)) {
      this.#lookalikes.push(arrival);
    } else if (this.#mayGoOn(arrival, null) && this.#isSeenAgain(arrival)) {
      recorder.create(folder, name, observed, origin);
    }
  }

  /**
   * Returns true if an entry that the index does not have counts as new. A listing may show it before the system's report
   * that it left its old place was read: until that place has been looked at, it is checked again.
   */
  #isSeenAgain(arrival: Arrival): boolean {
    const { folder, name, origin, isForced } = arrival;
    if (isForced || origin !== "live") return true;
    const { looks, pending, clock } = this.#ports;
    const nowMs = clock.now();
    const waiting = this.#waitingFor(arrival, nowMs);
    waiting.sightedTurn ??= looks.turn;
    if (looks.hasLookedSince(waiting.sightedTurn)) return true;
    if (nowMs - waiting.firstAtMs >= workspaceTimes.sightedMs) return true;
    waiting.dueAtMs = nowMs;
    pending.put(folder, name, waiting);
    return false;
  }

  #waitingFor({ folder, name, origin, pending }: Arrival, nowMs: number): Pending {
    return pending ?? this.#ports.pending.get(folder, name) ?? newPending(nowMs, origin);
  }

  /** Returns true if the arrival may be the backup of a file that is being written; it is checked again then. */
  #isAwaited(file: EntryNode, arrival: Arrival): boolean {
    const { folder, name } = arrival;
    const nowMs = this.#ports.clock.now();
    const untilMs = this.missing.mayReappearUntilMs(file, name, nowMs);
    if (untilMs === null) return false;
    const waiting = this.#waitingFor(arrival, nowMs);
    waiting.lookedAtMs = nowMs;
    waiting.dueAtMs = untilMs;
    this.#ports.pending.put(folder, name, waiting);
    return true;
  }

  /** Returns true if a file has settled; if not, it will be checked again. */
  #mayGoOn(arrival: Arrival, known: EntryNode | null): boolean {
    const { folder, name, observed, isForced } = arrival;
    const nowMs = this.#ports.clock.now();
    if (isForced || isLongSettled(observed, nowMs)) return true;
    const waiting = this.#waitingFor(arrival, nowMs);
    if (known === null) waiting.sightedTurn ??= this.#ports.looks.turn;
    if (settles(waiting, observed, known, nowMs)) return true;
    this.#ports.pending.put(folder, name, waiting);
    return false;
  }

  /** Treats released entries as moves if they have the content of a missing file. */
  async matchContent(contentOf: ContentOf): Promise<void> {
    const lookalikes = this.#lookalikes.splice(0);
    await matchByContent(lookalikes, contentOf, {
      missing: this.missing,
      recorder: this.#ports.recorder,
      tree: this.#ports.tree,
    });
    this.#isMatchingContent = false;
    for (const { folder, name } of lookalikes) this.#ports.hint(folder, name, "index");
  }

  expireMissing(): void {
    if (this.#isHolding || this.#isMatchingContent) return;
    const nowMs = this.#ports.clock.now();
    for (const { node, goneAtMs, awaitedAs, origin } of this.missing.all()) {
      if (nowMs < goneAtMs) continue;
      if (nowMs < goneAtMs + workspaceTimes.goneAtMostMs && this.#ports.isLooking()) continue;
      // There was no time yet for a look at its other name.
      if (awaitedAs !== null && node.parent !== null && this.#ports.pending.get(node.parent, awaitedAs))
        continue;
      this.missing.delete(node);
      if (isAttached(this.#ports.tree, node)) this.#ports.recorder.remove(node, origin);
    }
  }

  removeIfMissing(node: EntryNode): void {
    const found = this.missing.all().find((missing) => missing.node === node);
    if (found === undefined) return;
    this.missing.delete(node);
    this.#ports.recorder.remove(node, "live");
  }
}
