import process from "node:process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FailpointName, failpointNames } from "../../kernel/src/platform/failpoints.ts";
import { rareDeaths } from "./support/rare-deaths.ts";
import { Session } from "./support/session.ts";

/*
 * A real kernel, its agent in the real sandbox, a client behind a real front. Kernel after kernel dies at a named
 * point; the front finds the next one, and everything that was acknowledged before is looked for.
 */

const rare = new Set<FailpointName>(rareDeaths.flatMap(({ points }) => points));
/** Points that ordinary work passes; some so often that a later pass is more telling than the first. */
const laterPass: Partial<Record<string, number>> = {
  "database.group": 12,
  "atomic-file": 2,
  "journal.write": 4,
  "journal.synced": 2,
  "journal.anchored": 2,
  "index.store": 2,
  "inbox.next": 3,
  "inbox.enqueue": 3,
  "inbox.acknowledge": 2,
  "actions.before-step": 3,
  "actions.after-step": 3,
};
const passOf = (name: string): number =>
  Object.entries(laterPass).find(([prefix]) => name.startsWith(prefix))?.[1] ?? 1;
/**
 * Visited where a memory is carried from one file to another (`kernel/src/memory/transfer/crash.test.ts`), where
 * something is forgotten (`kernel/src/memory/redaction.crash.test.ts`), and in the store host's own process
 * (`kernel/src/store/deaths.faults.test.ts`), where there are jobs (`jobs.test.ts`), and where a journal is long enough for
 * a checkpoint (`kernel/src/journal/checkpoint.crash.test.ts`).
 */
const elsewhere = /^(?:jobs|chosen-file|folder\.place|import|store|journal\.(?:checkpoint|redaction))\./;
const common = failpointNames.filter((name) => !rare.has(name) && !elsewhere.test(name));
/** Every second of them; LARES_ROUNDS=2 visits each. */
const visited =
  Number(process.env["LARES_ROUNDS"] ?? 1) > 1 ? common : common.filter((_name, at) => at % 2 === 0);

describe("a kernel dies during ordinary work, and the next one after it", () => {
  let session: Session;
  let failed = "";
  beforeAll(async () => {
    session = await Session.create();
    await session.open(visited.map((name) => `${name}@${passOf(name)}`));
  });
  afterAll(() => session[Symbol.asyncDispose]());

  test.for(visited.map((name, index) => [name, index + 1] as const))(
    "at %s",
    async ([name, count], context) => {
      if (failed !== "") return context.skip(`what came before, at ${failed}, failed`);
      failed = name;
      await session.workUntilDeath(count);
      expect((await session.deaths()).slice(count - 1), "the failpoint was never reached").toContain(name);
      await session.load.check();
      await session.checkProcesses();
      failed = "";
    },
  );

  test("and the last one lives, works and ends", async () => {
    await session.load.round();
    await session.load.check();
    await session.leave();
  });
});
