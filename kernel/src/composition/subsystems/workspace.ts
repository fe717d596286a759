import { Emitter } from "../../base/emitter.ts";
import { messageOf } from "../../base/errors.ts";
import type { FileMove } from "../../base/vocabulary/chat-binding.ts";
import type { EntryChange } from "../../base/vocabulary/event.ts";
import type { Configuration } from "../../documents/configuration.ts";
import type { Database } from "../../platform/database/database.ts";
import { openRootedFs } from "../../platform/files/rooted-fs.ts";
import { settleHeap } from "../../platform/processes/heap.ts";
import type { WorkProgress } from "../../services/ports.ts";
import type { Workspace } from "../../workspace/ports.ts";
import { openWorkspace } from "../../workspace/workspace.ts";
import type { AgentLink } from "./agent-link.ts";
import type { KernelFiles } from "./files.ts";
import type { KernelContext } from "./kernel-context.ts";

export interface KernelWorkspace {
  readonly workspace: Workspace;
  /** Emits changes once they are stored and visible to queries. */
  readonly changed: Emitter<readonly EntryChange[]>;
  /** Emits the moves among them. */
  readonly filesMoved: Emitter<readonly FileMove[]>;
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
    readonly agents: AgentLink;
    readonly progress: Emitter<WorkProgress>;
  },
): Promise<KernelWorkspace> {
  const { database, roots, index, agents, progress } = parts;
  const changed = new Emitter<readonly EntryChange[]>();
  const filesMoved = new Emitter<readonly FileMove[]>();
  const rootReturned = new Emitter<void>();
  const workspace = opened.use(
    await openWorkspace(
      { roots, stateFolder: stateHome, index },
      {
        database,
        clock,
        log,
        open: (root) => openRootedFs(root),
        deliver: (changes) => {
          const { statements, committed } = agents.deliver(changes);
          return {
            statements,
            committed: () => {
              committed();
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
          agents
            .indexed(run)
            .catch((error: unknown) => log.error(`The index's end was not delivered: ${messageOf(error)}`));
        },
      },
    ),
  );
  void workspace.indexed.then(settleHeap);
  return { workspace, changed, filesMoved, rootReturned };
}
