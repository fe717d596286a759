import type { CpuBudget } from "../../base/cpu-budget.ts";
import { isLaresError, LaresError, messageOf, storageError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { MetadataChange } from "../../base/vocabulary/metadata.ts";
import type { Statement } from "../../platform/database/database.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { compileOperations, type Compiled } from "./compile.ts";
import { apply, discard, revert, stage, verifyBackups, withPlainPaths } from "./executor.ts";
import type { JournalEntry, Ledger } from "../ledger/ledger.ts";
import type { Operation } from "../operations.ts";
import type { ActionPorts } from "../ports.ts";
import { withoutLargeValue, withValue, type KeptObject } from "../values.ts";

type CommitterPorts = Pick<
  ActionPorts,
  "files" | "contents" | "objects" | "metadata" | "openWithUnsavedChanges" | "touched" | "log"
> & {
  /** The action is committed, but some of its temporary files still have to be removed. */
  leftBehind(action: string): void;
};

/** The operations that undo a change, and the contents that they need. */
interface Outcome {
  readonly inverse: readonly Operation[];
  readonly keeps: readonly KeptObject[];
}

/** How the progress of a commit is recorded in the ledger. Each call is one transaction. */
export interface Recording {
  /**
   * Called before the first file is touched; adds the journal entry. Returns false if the action is no longer in the
   * expected state.
   */
  begin(journal: Statement): Promise<boolean>;
  /**
   * Commits: the action counts as done from this transaction on. Returns false if it could not be recorded; the changes
   * are then rolled back.
   */
  done(outcome: Outcome, along: readonly Statement[]): Promise<boolean>;
}

/**
 * Carries out operations as one transaction across files, metadata and the ledger. If the promise resolves, everything
 * is on disk; if it rejects, nothing has changed. Rejects with Stale {path} if the workspace is no longer in the state
 * that the operations start from, and with StorageError if the file system fails.
 */
export class Committer {
  readonly #ports: CommitterPorts;
  readonly #ledger: Ledger;
  readonly #log: Log;

  constructor(ports: CommitterPorts, ledger: Ledger) {
    this.#ports = ports;
    this.#ledger = ledger;
    this.#log = ports.log;
  }

  async run(
    action: string,
    direction: JournalEntry["direction"],
    operations: readonly Operation[],
    recording: Recording,
    budget: CpuBudget,
  ): Promise<void> {
    const whole: Operation[] = [];
    for (const operation of operations) whole.push(await withValue(this.#ports.objects, operation));
    const compiled = await compileOperations(this.#ports, action, whole, budget);
    const outcome = await this.#keep(compiled);
    const { restored } = compiled;
    const metadata = [
      ...compiled.metadata.flatMap((change) => this.#ports.metadata.statements(change)),
      ...(restored.length > 0 ? this.#ports.metadata.restore(restored) : []),
    ];
    if (compiled.plan.steps.length === 0) await this.#record(recording, outcome, metadata);
    else
      await this.#change(
        { action, direction, phase: "staging", plan: compiled.plan, identities: [] },
        compiled,
        outcome,
        metadata,
        recording,
      );
    this.#announce([...compiled.metadata, ...restored]);
    if (compiled.touched.length > 0) await this.#touched(compiled.touched);
  }

  /** Stores contents that will be replaced, and are too large for the ledger, in the object store. */
  async #keep({ preimages, inverse: whole }: Compiled): Promise<Outcome> {
    const { objects, files } = this.#ports;
    const keeps: KeptObject[] = [];
    for (const { path, hash, bytes } of preimages) {
      await objects.put(files.readStream(path), { hash, path });
      keeps.push({ hash, bytes });
    }
    const inverse: Operation[] = [];
    for (const each of whole) {
      const { operation, content } = withoutLargeValue(each);
      inverse.push(operation);
      if (content !== null) keeps.push({ hash: await objects.put(content), bytes: content.length });
    }
    return { inverse, keeps };
  }

  async #change(
    entry: JournalEntry,
    compiled: Compiled,
    outcome: Outcome,
    metadata: readonly Statement[],
    recording: Recording,
  ): Promise<void> {
    failpoint("actions.before-journal");
    if (!(await recording.begin(this.#ledger.journalStatement(entry)))) throw changedMeanwhile(entry.action);
    failpoint("actions.after-journal");
    let reached = entry;
    try {
      const identities = await stage(this.#ports, entry.plan);
      reached = { ...entry, phase: "applying", identities };
      await this.#ledger.journal(reached);
      await apply(this.#ports, entry.plan, identities);
      await verifyBackups(this.#ports, entry.plan);
      const done = this.#ledger.journalStatement({ ...reached, phase: "done" });
      await this.#record(recording, outcome, [...metadata, done]);
    } catch (thrown) {
      const error = withPlainPaths(thrown, entry.plan);
      await this.#rollBackAfterFailure(reached, error);
      await this.#touched(compiled.touched);
      throw error;
    }
    await this.#tidy({ ...reached, phase: "done" });
  }

  async #record(recording: Recording, outcome: Outcome, along: readonly Statement[]): Promise<void> {
    failpoint("actions.before-record");
    if (!(await recording.done(outcome, along))) throw changedMeanwhile("action");
    failpoint("actions.after-record");
  }

  /** Rolls back after a failure. If that fails too, the journal entry stays for the next start. */
  async #rollBackAfterFailure(entry: JournalEntry, cause: unknown): Promise<void> {
    try {
      await this.rollBack(entry);
    } catch (error) {
      this.#log.error("An action could not be rolled back. The kernel will retry.", {
        action: entry.action,
        error: messageOf(error),
      });
      throw new RollbackFailed(messageOf(cause), error);
    }
  }

  /**
   * Undoes the steps that were taken and removes their files. Returns the paths that somebody else has changed
   * meanwhile.
   */
  async rollBack(entry: JournalEntry): Promise<readonly string[]> {
    // No step is taken before the phase "applying" is recorded; from then on, every staged file exists.
    const { kept } =
      entry.phase === "applying" ? await revert(this.#ports, entry.plan, entry.identities) : { kept: [] };
    await discard(this.#ports, entry.plan, kept);
    return kept;
  }

  /** Removes the backups, then the journal entry, after a success. Recovery retries this after a failure. */
  async #tidy(entry: JournalEntry): Promise<void> {
    try {
      await this.finish(entry);
    } catch (error) {
      this.#log.warn("Temporary files of a finished action could not be removed yet.", {
        action: entry.action,
        error: messageOf(error),
      });
      this.#ports.leftBehind(entry.action);
    }
  }

  async finish(entry: JournalEntry): Promise<void> {
    await discard(this.#ports, entry.plan);
    failpoint("actions.before-forget");
    await this.#ledger.forget(entry.action);
    failpoint("actions.after-forget");
  }

  #announce(changes: readonly MetadataChange[]): void {
    for (const change of changes) this.#ports.metadata.applied(change);
  }

  async #touched(paths: readonly string[]): Promise<void> {
    try {
      await this.#ports.touched(paths);
    } catch (error) {
      // The change itself succeeded, and the watcher will report it too.
      this.#log.warn("The index could not be notified of a change.", { error: messageOf(error) });
    }
  }
}

/** Thrown when a change failed half-way and could not be rolled back. The journal entry stays for the next start. */
export class RollbackFailed extends LaresError {
  constructor(why: string, cause: unknown) {
    const message = `The action failed (${why}) and could not be rolled back yet (${messageOf(cause)}). The kernel retries automatically.`;
    super("StorageError", message, {}, { cause });
  }
}

function changedMeanwhile(action: string): LaresError {
  return storageError(
    `The ${action} could not be recorded: its state or an entry's metadata changed meanwhile.`,
  );
}

/** True for an error that means that the workspace has changed, not that something is broken. */
export function isDrift(error: unknown): error is LaresError {
  return (
    isLaresError(error, "Stale") || isLaresError(error, "NotFound") || isLaresError(error, "ScopeViolation")
  );
}
