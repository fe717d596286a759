import { Emitter } from "../../base/emitter.ts";
import type { FileMove } from "../../base/vocabulary/chat-binding.ts";
import type { EntryChange } from "../../base/vocabulary/event.ts";
import type { Configuration } from "../../documents/configuration.ts";
import type { Database, Statement } from "../../platform/database/database.ts";
import { openRootedFs } from "../../platform/files/rooted-fs.ts";
import { settleHeap } from "../../platform/processes/heap.ts";
import type { WorkProgress } from "../../services/ports.ts";
import type { Workspace } from "../../workspace/ports.ts";
import { openWorkspace } from "../../workspace/workspace.ts";
import type { KernelFiles } from "./files.ts";
import type { KernelContext } from "./kernel-context.ts";

interface IndexRun {
  readonly entries: number;
  readonly durationMs: number;
}

/** Returns statements for the transaction that stores the changes, and a callback for after the commit. */
type Prepare = (changes: readonly EntryChange[]) => {
  readonly statements: readonly Statement[];
  committed(): void;
};

export interface KernelWorkspace {
  readonly workspace: Workspace;
  /** Emits changes once they are stored and visible to queries. */
  readonly changed: Emitter<readonly EntryChange[]>;
  /** Emits the moves among them. */
  readonly filesMoved: Emitter<readonly FileMove[]>;
  /** Emits the end of each run over the whole workspace. */
  readonly indexed: Emitter<IndexRun>;
  /** Adds statements that are stored in the same transaction as changes. Call it before `workspace.start()`. */
  storeWithChanges(prepare: Prepare): void;
  /** A missing root is present again or was replaced by another folder. */
  readonly rootReturned: Emitter<void>;
}

/** Opens the index of the workspace's files. Nothing is read before `workspace.start()`. */
export async function openIndex(
  { stateHome, clock, log, opened }: KernelContext,
  parts: {
    readonly database: Database;
    readonly roots: KernelFiles["roots"];
    readonly index: Configuration["index"];
    readonly progress: Emitter<WorkProgress>;
  },
): Promise<KernelWorkspace> {
  const { database, roots, index, progress } = parts;
  const changed = new Emitter<readonly EntryChange[]>();
  const filesMoved = new Emitter<readonly FileMove[]>();
  const rootReturned = new Emitter<void>();
  const indexed = new Emitter<IndexRun>();
  const prepares: Prepare[] = [];
  const workspace = opened.use(
    await openWorkspace(
      { roots, stateFolder: stateHome, index },
      {
        database,
        clock,
        log,
        open: (root) => openRootedFs(root),
        deliver: (changes) => {
          const prepared = prepares.map((prepare) => prepare(changes));
          return {
            statements: prepared.flatMap(({ statements }) => statements),
            committed: () => {
              for (const each of prepared) each.committed();
              changed.emit(changes);
              const moves = changes.flatMap((change) =>
                change.kind === "moved" && change.entry.kind === "file"
                  ? [{ from: change.from, to: change.entry.path }]
                  : [],
              );
              if (moves.length > 0) filesMoved.emit(moves);
            },
          };
        },
        rootReturned: () => rootReturned.emit(),
        indexed: (run) => {
          progress.emit({ work: "index", kind: "end", message: `${run.entries} entries` });
          indexed.emit(run);
        },
      },
    ),
  );
  void workspace.indexed.then(settleHeap);
  return {
    workspace,
    changed,
    filesMoved,
    indexed,
    rootReturned,
    storeWithChanges: (prepare) => void prepares.push(prepare),
  };
}
