import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { LaresError } from "../../base/errors.ts";
import { named } from "../../base/named.ts";
import type { MemoryPlace } from "../../cli/packaging/package-ports.ts";
import { folderOfMemory } from "../../memory/memory-key.ts";
import { forgetHeads } from "../../memory/records/heads.ts";
import { fileExists, fileOrFolderExists } from "../../platform/files/document-files.ts";
import { stateFolderPath, stateHome, type Environment } from "../../platform/files/state-folder.ts";
import { syncFolder } from "../../platform/files/atomic-file.ts";
import type { Database } from "../../platform/database/database.ts";
import { acquireLock } from "../../platform/processes/lock.ts";

/** Workspaces whose state is looked at. */
const maxWorkspaces = 10_000;

/** Returns the memories of an extension in all of the user's workspaces. */
export async function memoriesOf(
  id: string,
  workspace: string,
  environment: Environment,
): Promise<MemoryPlace[]> {
  const home = join(stateHome(environment), "workspaces");
  const here = await stateFolderPath([workspace], environment);
  const names = await readdir(home).catch((): string[] => []);
  const found: MemoryPlace[] = [];
  for (const name of names.toSorted().slice(0, maxWorkspaces)) {
    const state = join(home, name);
    const folder = folderOfMemory(state, `extension/${id}`);
    if (await fileOrFolderExists(folder)) found.push({ folder, state, isHere: state === here });
  }
  return found;
}

/**
 * Removes a memory and everything derived from it. This cannot be undone. Throws Busy while a kernel has the workspace open.
 */
export async function forgetMemory(
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
  }
  await rm(folder, { recursive: true, force: true });
  await syncFolder(join(folder, ".."));
}
