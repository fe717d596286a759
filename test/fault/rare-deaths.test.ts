import { afterAll, describe, expect, test } from "vitest";
import { rareDeaths, spinnerExtension, type RareDeath } from "./support/rare-deaths.ts";
import { Session } from "./support/session.ts";

/** Like `deaths.test.ts`, at points that need a special situation. */

let session: Session | null = null;
afterAll(() => session?.[Symbol.asyncDispose]());

/** Returns a workspace with a history, without a kernel. */
async function lived(): Promise<Session> {
  if (session !== null) return session;
  session = await Session.create({ extensions: [spinnerExtension] });
  await session.open();
  await session.load.status();
  await session.load.round();
  await session.leave();
  return session;
}

async function fresh(): Promise<Session> {
  await session?.[Symbol.asyncDispose]();
  return (session = await Session.create({ extensions: [spinnerExtension] }));
}

async function die(rare: RareDeath, point: string): Promise<void> {
  const session = rare.isFirstStart ? await fresh() : await lived();
  const stateFolder = rare.isFirstStart ? "" : session.stateFolder;
  await rare.prepare?.(session, stateFolder);
  const deaths = rare.before === undefined ? [point] : [rare.before, point];
  await session.open(deaths);
  if (rare.isEnding) {
    await session.load.status();
    await session.load.round();
    await session.leave();
  } else {
    await session.workUntilDeath(deaths.length, rare.work && (() => rare.work!(session)));
  }
  expect(await session.deaths(), "the failpoint was never reached").toEqual(deaths);
  if (rare.isEnding) await session.open();
  await session.load.check();
  await session.checkProcesses();
  await rare.check?.(session, session.stateFolder);
  await session.leave();
  await rare.checkEnded?.(session, session.stateFolder);
}

describe.each(rareDeaths)("a kernel dies while $what", (rare) => {
  test.each(rare.points)("at %s", async (point) => {
    try {
      await die(rare, point);
    } catch (error) {
      // The next test begins in a workspace of its own.
      await session?.[Symbol.asyncDispose]();
      session = null;
      throw error;
    }
  });
});
