import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { expect, test } from "vitest";
import { AskRows } from "../asks/ask-rows.ts";
import { madeScheduleRows } from "../agent-state/made-schedules.ts";
import { silentLog } from "../base/log.ts";
import type { Ask } from "../base/vocabulary/ask.ts";
import type { MadeSchedule } from "../base/vocabulary/made-schedule.ts";
import { stateFolderOf, stateFolderPath } from "../platform/files/state-folder.ts";
import { acquireLock, lockHolder } from "../platform/processes/lock.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import { adopt } from "./adoption.ts";
import { openLedger } from "./ledger.ts";

const ledgerOf = (state: string) => openLedger(state, silentLog);

test("nothing that was allowed in a renamed folder is brought over, neither in its file nor in its ledger", async () => {
  const base = await temporaryFolder();
  const environment = { LARES_HOME: join(base, "home") };
  const root = join(base, "notes");
  await mkdir(root);
  const state = await stateFolderOf([root], environment);
  {
    await using ledger = await ledgerOf(state);
    await madeScheduleRows(ledger).store({
      id: "s1",
      agent: "a.b",
      state: "accepted",
    } as unknown as MadeSchedule);
    const ask = { id: "q1", state: "Allowed", expires: "2026-11-27T08:00:00.000Z" } as unknown as Ask;
    await new AskRows(ledger).store(ask, null, { conversation: "v", subject: "{}", allow: true });
  }
  const renamed = join(base, "letters");
  await rename(root, renamed);
  const own = await stateFolderPath([renamed], environment);
  await adopt(renamed, own, 7, ledgerOf);
  await using ledger = await ledgerOf(own);
  expect(await new AskRows(ledger).conversationAnswers()).toEqual([]);
  expect(await madeScheduleRows(ledger).all()).toEqual([{ id: "s1", agent: "a.b", state: "proposed" }]);
  // The locks are free.
  const lock = await acquireLock(join(own, "kernel.lock"));
  expect("heldBy" in lock).toBe(false);
  if (!("heldBy" in lock)) await lock.release();
});

test("no kernel can start for either state while one is brought over", async () => {
  const base = await temporaryFolder();
  const environment = { LARES_HOME: join(base, "home") };
  const root = join(base, "notes");
  await mkdir(root);
  const state = await stateFolderOf([root], environment);
  await (await ledgerOf(state))[Symbol.asyncDispose]();
  const renamed = join(base, "letters");
  await rename(root, renamed);
  // As an editor has it that was opened at the new path.
  const own = await stateFolderOf([renamed], environment);
  const holders: unknown[] = [];
  await adopt(renamed, own, 7, async (of) => {
    for (const each of [state, own]) holders.push(await lockHolder(join(each, "kernel.lock")));
    return await ledgerOf(of);
  });
  expect(holders).toEqual([process.pid, process.pid]);
  expect(await lockHolder(join(own, "kernel.lock"))).toBeNull();
});
