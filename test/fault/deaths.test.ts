import process from "node:process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FailpointName, failpointNames } from "../../kernel/src/platform/failpoints.ts";
import { rareDeaths } from "./support/rare-deaths.ts";
import { Session } from "./support/session.ts";

/*
 * A real kernel, its agent in the real sandbox, a client behind a real front. One kernel after another dies at a named
 * point, the front finds the next one, and everything that was acknowledged is checked.
 */

const rare = new Set<FailpointName>(rareDeaths.flatMap(({ points }) => points));
/** Points that ordinary work passes; for frequent ones, a later pass is more interesting than the first. */
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
 * Points that other tests visit: those of transfers (`kernel/src/memory/transfer/crash.test.ts`), of forgetting
 * (`kernel/src/memory/redaction.crash.test.ts`), of the store host (`kernel/src/store/deaths.faults.test.ts`), of jobs
 * (`jobs.test.ts`), of texts that a person has removed (`test/protocol/redaction-everywhere.slow.test.ts`), of packages (`kernel/src/packages/files/place.crash.test.ts`), and of checkpoints of long journals
 * (`kernel/src/journal/checkpoint.crash.test.ts`).
 */
const elsewhere =
  /^(?:jobs|package|forgetting|chosen-file|folder\.place|import|store|journal\.(?:checkpoint|redaction))\./;
const common = failpointNames.filter((name) => !rare.has(name) && !elsewhere.test(name));
/** Every second point; LARES_ROUNDS=2 visits each. */
const visited =
  Number(process.env["LARES_ROUNDS"] ?? 1) > 1 ? common : common.filter((_name, at) => at % 2 === 0);

describe("a kernel dies during ordinary work, and so does the next one", () => {
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
