import { join } from "node:path";
import process from "node:process";
import { proposeAgain } from "../agent-state/made-schedules.ts";
import { forgetAnswers } from "../asks/ask-rows.ts";
import { LaresError, notFound } from "../base/errors.ts";
import type { Database } from "../platform/database/database.ts";
import { fileExists, fileOrFolderExists } from "../platform/files/document-files.ts";
import { adoptableState, adoptState } from "../platform/files/workspace-record.ts";
import { endKernel } from "../platform/processes/end-kernel.ts";
import { acquireLock } from "../platform/processes/lock.ts";

/** Number of tries to get a lock. An editor starts the next kernel as soon as one has ended, and it may be faster. */
const attempts = 5;

/**
 * Moves the state of a renamed folder to its new path. Holds the locks of both states, because a kernel that started
 * meanwhile would continue with the permissions of the state that is set aside. The person is asked again for everything
 * they allowed, including what the ledger records: answers for the rest of a conversation, and schedules.
 */
export async function adopt(
  root: string,
  own: string,
  nowMs: number,
  openLedger: (stateFolder: string) => Promise<Database>,
): ReturnType<typeof adoptState> {
  const found = await adoptableState(root, own);
  if (found === null) throw notFound("state of a folder that was renamed to", root);
  await using held = new AsyncDisposableStack();
  for (const state of [found.stateFolder, own])
    if (await fileOrFolderExists(state)) held.use(await lockOf(state));
  if (await fileExists(join(found.stateFolder, "ledger.sqlite"))) {
    await using ledger = await openLedger(found.stateFolder);
    await ledger.batch([...forgetAnswers(), ...proposeAgain()], { durability: "power" });
  }
  // A folder with an open file cannot be renamed there.
  if (process.platform === "win32") await held.disposeAsync();
  return await adoptState(root, own, nowMs);
}

async function lockOf(state: string): Promise<AsyncDisposable> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    await endKernel(state);
    const lock = await acquireLock(join(state, "kernel.lock"));
    if (!("heldBy" in lock)) return lock;
  }
  throw new LaresError(
    "Busy",
    "A kernel starts again and again for this folder. Close it in your editors, and run the command once more.",
  );
}
