import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { LaresError } from "../base/errors.ts";
import { named } from "../base/named.ts";
import type { MemoryPlace, PackageServices } from "../services/packages.ts";
import { folderOfMemory } from "../memory/memory-key.ts";
import { forgetSchedules } from "../agent-state/schedules.ts";
import { forgetDeliveries } from "../inbox/forget-deliveries.ts";
import { forgetJobs } from "../jobs/forget-jobs.ts";
import { forgetHeads } from "../memory/records/heads.ts";
import { forgetNotifications } from "../notifications/notification-rows.ts";
import { forgetValues } from "../shared-types/forget-values.ts";
import { forgetKeyedCalls } from "../tools/keyed-calls.ts";
import { fileExists, fileOrFolderExists } from "../platform/files/document-files.ts";
import { stateFolderPath, stateHome, type Environment } from "../platform/files/state-folder.ts";
import { syncFolder } from "../platform/files/atomic-file.ts";
import type { Database } from "../platform/database/database.ts";
import { acquireLock } from "../platform/processes/lock.ts";

/** Workspaces whose state is looked at. */
const maxWorkspaces = 10_000;

/** The memories of extensions, for the commands that show and remove them. `openLedger`: of a workspace's state folder. */
export function extensionMemories(
  environment: Environment,
  openLedger: (stateFolder: string) => Promise<Database>,
): Pick<PackageServices, "memoriesOf" | "forget"> {
  return {
    memoriesOf: (id, workspace, forgets = false) => memoriesOf(id, workspace, environment, forgets),
    forget: (id, memory) => forgetMemory(id, memory, openLedger),
  };
}

/**
 * Returns the memories of an extension in all of the user's workspaces. `forgets`: with that of this workspace even if there
 * is none, because the ledger beside it may have something of an extension without a memory.
 */
async function memoriesOf(
  id: string,
  workspace: string,
  environment: Environment,
  forgets: boolean,
): Promise<MemoryPlace[]> {
  const home = join(stateHome(environment), "workspaces");
  const here = await stateFolderPath([workspace], environment);
  const names = await readdir(home).catch((): string[] => []);
  const found: MemoryPlace[] = [];
  for (const name of names.toSorted().slice(0, maxWorkspaces)) {
    const state = join(home, name);
    const folder = folderOfMemory(state, `extension/${id}`);
    const isMeant = forgets && state === here && (await fileExists(join(state, "ledger.sqlite")));
    if (isMeant || (await fileOrFolderExists(folder))) found.push({ folder, state, isHere: state === here });
  }
  return found;
}

/**
 * Removes a memory, everything derived from it, and what the ledger has of the extension: values of its types, its jobs,
 * notifications and waiting events. What it proposed stays, because it can be undone. This cannot. Throws Busy while a kernel has the workspace open.
 */
async function forgetMemory(
  id: string,
  { folder, state }: MemoryPlace,
  openLedger: (stateFolder: string) => Promise<Database>,
): Promise<void> {
  const lock = await acquireLock(join(state, "kernel.lock"));
  if ("heldBy" in lock)
    throw new LaresError(
      "Busy",
      `The workspace of ${named(state)} is open, so the memory there was left as it is. Close it in your editors, run lares stop there, and remove it again.`,
    );
  await using _held = lock;
  // The head of a journal without its journal would count as damage.
  if (await fileExists(join(state, "ledger.sqlite"))) {
    await using ledger = await openLedger(state);
    await forgetHeads(ledger, `extension/${id}`);
    await ledger.batch(
      [
        ...forgetValues(id),
        ...forgetJobs(id),
        ...forgetNotifications(id),
        ...forgetDeliveries(id),
        ...forgetKeyedCalls(id),
        ...forgetSchedules(id),
      ],
      { durability: "power" },
    );
    // What was deleted before this version is still in free pages; `secure_delete` covers what is deleted now.
    await ledger.query("VACUUM");
  }
  if (!(await fileOrFolderExists(folder))) return;
  await rm(folder, { recursive: true, force: true });
  await syncFolder(join(folder, ".."));
}
