import { chmodSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, onTestFinished } from "vitest";
import { unlimitedCpu } from "../../base/cpu-budget.ts";
import type { ManualClock } from "../../base/testing/manual-clock.ts";
import type { Action, ProposalRequest } from "../../base/vocabulary/action.ts";
import type { EntryChange } from "../../base/vocabulary/event.ts";
import type { Actor } from "../../base/vocabulary/principal.ts";
import { folderSnapshot } from "../../platform/testing/folder-snapshot.ts";
import { temporaryFolder } from "../../platform/testing/temporary-folder.ts";
import { agent, type Bench, everything, openBench, program } from "./bench.ts";

interface Opened {
  readonly bench: Bench;
  /** The workspace's only root. */
  readonly root: string;
  /** Has the root and the kernel's state. */
  readonly folder: string;
}

interface Workspace {
  /** Writes a file of the workspace. By default, each file that a test writes gets another time. */
  put(path: string, content: string, mode?: number, mtimeSeconds?: number): void;
  contentOf(path: string): string;
  /** Everything beneath the root, for comparisons. */
  snapshot(): Record<string, string>;
  /** Restarts the kernel; `meanwhile` runs while it is down. */
  restart(meanwhile?: () => void): Promise<void>;
  /** Reports changes of the workspace and waits for their consequences. */
  heard(...changes: readonly EntryChange[]): Promise<void>;
  stateOf(action: Pick<Action, "id">): Promise<Action["state"] | undefined>;
  /** `onBehalfOf`: who led to the proposal, the nearest first. */
  proposeAs(
    request: Partial<ProposalRequest>,
    agentId?: string,
    onBehalfOf?: readonly Actor[],
  ): Promise<Action>;
}

/**
 * Opens a workspace and its actions for each test of a file. The function gets what was opened: before each test, and
 * again after each restart of the kernel.
 */
export function useWorkspace(isOpened: (opened: Opened) => void): Workspace {
  let folder: string;
  let root: string;
  let bench: Bench;
  let writtenFiles = 0;
  const open = async (clock?: ManualClock): Promise<void> => {
    const roots = [{ name: "root", path: root }];
    bench = await openBench({
      roots,
      state: join(folder, "state"),
      ...(clock === undefined ? {} : { clock }),
    });
    await bench.actions.recover();
    bench.actions.agentsAreKnown(true);
    isOpened({ bench, root, folder });
  };
  beforeEach(async () => {
    folder = await temporaryFolder();
    root = join(folder, "root");
    mkdirSync(root);
    mkdirSync(join(folder, "state"));
    await open();
    onTestFinished(() => bench[Symbol.asyncDispose]());
  });
  return {
    put(path, content, mode = 0o644, mtimeSeconds = 1_700_000_000 + writtenFiles++) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), content);
      chmodSync(join(root, path), mode);
      utimesSync(join(root, path), mtimeSeconds, mtimeSeconds);
    },
    contentOf: (path) => readFileSync(join(root, path), "utf8"),
    snapshot: () => folderSnapshot(root),
    async restart(meanwhile = () => undefined) {
      const { clock } = bench;
      await bench[Symbol.asyncDispose]();
      meanwhile();
      await open(clock);
      await bench.actions.idle();
    },
    async heard(...changes) {
      bench.actions.workspaceChanged(changes);
      await bench.actions.idle();
    },
    stateOf: async ({ id }) => (await bench.actions.get(id))?.state,
    proposeAs: async (request, agentId = agent, onBehalfOf = []) =>
      (
        await bench.actions.propose(
          { ...everything, extension: agentId },
          program,
          { title: "A test", reason: "", effects: [], ...request },
          unlimitedCpu,
          { onBehalfOf },
        )
      ).action,
  };
}
