import { readdir, rm } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../support/until.ts";
import { Died } from "./support/load.ts";
import { sandboxHostOf, storeHostOf } from "./support/processes.ts";
import { seeded, seedOfThisRun } from "../support/seed.ts";
import { Session } from "./support/session.ts";

/*
 * SIGKILL at random moments under load: of the kernel, of its sandbox host, of its store host, of the front.
 * `LARES_ROUNDS` sets the number of rounds (default 20), `LARES_SEED` draws other choices.
 */

const rounds = Number(process.env["LARES_ROUNDS"] ?? 20);
const seed = seedOfThisRun();
const random = seeded(seed);
const below = (bound: number): number => Math.floor(random() * bound);

/** Maximum operations before the kill, and an additional delay, so that it comes in the middle of one. */
const maxOperations = 25;
const maxJitterMs = 25;
/** The sandbox host is restarted with growing delays, which a kernel's death resets. */
const maxHostKillsInARow = 2;
const roundsBetweenTidying = 20;

type Victim = "kernel" | "sandbox host" | "store host" | "front";

let session: Session;
let isLoadOn = false;
let operations = 0;
let hostKills = 0;
const killed: Record<Victim, number> = { kernel: 0, "sandbox host": 0, "store host": 0, front: 0 };

beforeAll(async () => {
  console.log(`random kills: LARES_SEED=${seed} LARES_ROUNDS=${rounds}`);
  session = await Session.create();
  await session.open();
});
afterAll(() => session[Symbol.asyncDispose]());

function chooseVictim(): Victim {
  const number = random();
  if (number < 0.4 && hostKills < maxHostKillsInARow) return number < 0.2 ? "sandbox host" : "store host";
  return number > 0.75 ? "front" : "kernel";
}

/** Repeats an operation under load; the check judges what a death did to it. */
async function repeat(operation: () => Promise<unknown>): Promise<void> {
  while (isLoadOn) {
    try {
      await operation();
      operations += 1;
    } catch (error) {
      if (!(error instanceof Died)) {
        isLoadOn = false;
        throw error;
      }
      await session.load.status();
    }
  }
}

function startLoad(): Promise<unknown> {
  const { load } = session;
  const { actions } = load.witness;
  const isIn = (state: string) => (action: (typeof actions)[number]) => action.allowed.join() === state;
  // Drawn here, so that the order in which the operations run does not change the meaning of the seed.
  const choices = seeded(below(2 ** 31));
  isLoadOn = true;
  return Promise.all([
    repeat(async () => {
      await load.writeFile(`stream-${Math.floor(choices() * 10)}.txt`);
      // At the kernel's pace: a growing queue would prove nothing about a kill.
      await load.ask("lares/entries/query", { path: "events/*", limit: 10 });
    }),
    repeat(async () => {
      const name = `short-lived-${operations}-${Math.floor(choices() * 1e9)}.txt`;
      await load.writeFile(name);
      await load.note(choices() < 0.5);
      await load.removeFile(name);
    }),
    repeat(() => load.note(choices() < 0.5)),
    repeat(() => load.append(choices() < 0.1)),
    repeat(() => load.learn(choices() < 0.1)),
    repeat(async () => {
      const waiting = actions.find(isIn("PendingApproval")) ?? (await load.propose());
      if (choices() < 0.2) await load.reject(waiting);
      else await load.approve(waiting, choices() < 0.1);
      for (const committed of actions.filter(isIn("Committed")).slice(0, -1)) await load.undo(committed);
    }),
  ]);
}

async function kill(victim: Victim): Promise<void> {
  const { load } = session;
  const { pid } = await load.status();
  killed[victim] += 1;
  hostKills = victim.endsWith("host") ? hostKills + 1 : 0;
  if (victim === "front") {
    load.client.process.kill("SIGKILL");
    await load.client.exited;
    await session.open();
  } else if (victim === "kernel") process.kill(pid, "SIGKILL");
  else {
    const hostOf = victim === "sandbox host" ? sandboxHostOf : storeHostOf;
    const host = await until(`the ${victim}`, () => hostOf(pid));
    process.kill(host, "SIGKILL");
  }
}

/** Removes what is finished and was checked, so that a long run does not slow down. */
async function tidy(): Promise<void> {
  const { load, bench } = session;
  const { witness } = load;
  await load.tool("forget", { before: Number.MAX_SAFE_INTEGER });
  witness.notes.clear();
  await load.tool("unlearn");
  witness.items.acknowledged.clear();
  for (const [path, size] of witness.files) if (size >= 1e9) witness.files.delete(path);
  const kept = new Set(witness.actions.map(({ title }) => title));
  for (const title of await readdir(bench.path("work")))
    if (!kept.has(title)) await rm(bench.path(`work/${title}`), { recursive: true });
}

test.for(Array.from({ length: rounds }, (_, round) => round + 1))(
  "kill %s under load: everything acknowledged is there, nothing is half finished, no process is left",
  async (round) => {
    const { load } = session;
    await session.observe();
    const victim = chooseVictim();
    const before = operations;
    const wanted = below(maxOperations);
    const work = startLoad();
    // A failure of the load ends the wait too.
    await Promise.race([work, until("work to be done", () => operations - before >= wanted)]);
    await new Promise((resolve) => setTimeout(resolve, below(maxJitterMs)));
    await kill(victim);
    isLoadOn = false;
    await work;
    await load.check();
    await session.checkProcesses();
    if (round % roundsBetweenTidying === 0) await tidy();
  },
);

test("in the end the kernel ends in order, and the workspace matches its actions", async () => {
  console.log(`killed: ${JSON.stringify(killed)}, ${operations} operations`);
  await session.load.round();
  await session.load.check();
  await session.leave();
  expect(Object.values(killed).reduce((sum, count) => sum + count)).toBe(rounds);
});
