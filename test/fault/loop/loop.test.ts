import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Bench, inState, tool } from "../../support/bench.ts";
import type { Client } from "../../support/client.ts";
import type { Message } from "../../support/frames.ts";
import { isAlive, until } from "../../support/until.ts";
import { loopAttackBench, NEIGHBOUR } from "./attack-bench.ts";
import { ATTACKER, loopAttacks } from "./attacks.ts";

/** Answers that another client gets during an attack, before the attack's own. */
const wantedAnswers = 5;
/**
 * The same during one uninterrupted piece of work. An event loop that does the work gives a few before it begins, and
 * then none.
 */
const wantedBesideOnePiece = 50;

let bench: Bench;
let client: Client;
let other: Client;
let pid: number;

beforeAll(async () => {
  bench = await Bench.create(loopAttackBench());
  client = await bench.open({ approvals: "client" });
  other = await bench.connect({ trusted: true });
  ({ pid } = await bench.ready(other));
  await client.request("lares/traces/follow", { agent: ATTACKER });
});
afterAll(() => bench[Symbol.asyncDispose]());

/** Starts the attack and waits until it has begun; `outcome` returns its answer, null while there is none. */
async function attack(name: string): Promise<{ readonly outcome: () => Message | Error | null }> {
  let outcome: Message | Error | null = null;
  client.raw("lares/tools/call", { agent: ATTACKER, name: "attack", arguments: { name } }).then(
    (answer) => (outcome = answer),
    (error: Error) => (outcome = error),
  );
  await client.notification<{ entry: { message: string } }>(
    "lares/traces/entry",
    ({ entry }) => entry.message === `attacking: ${name}`,
  );
  return { outcome: () => outcome };
}

/** Ends what remains of an attack, with its guest. */
async function over(): Promise<void> {
  await client.raw("lares/agents/control", { id: ATTACKER, command: "disable" });
  await client.raw("lares/agents/control", { id: ATTACKER, command: "enable" });
  await inState(client, ATTACKER, "Unloaded", "Active");
}

describe("while an agent", () => {
  test.each(loopAttacks.map((one) => [one.does, one] as const))(
    "%s, another client is answered and a neighbour's tool can be called",
    async (_does, { name, isLong, asks }) => {
      const { outcome } = await attack(name);
      let answers = 0;
      while (outcome() === null && answers < wantedAnswers) {
        await asks?.(other);
        await other.request("lares/status");
        answers++;
      }
      // A short attack may be over before this many were requested.
      if (isLong === true) expect(answers, JSON.stringify(outcome())).toBe(wantedAnswers);
      expect(await tool(other, NEIGHBOUR, "echo", { text: "hello" })).toBe("hello");
      await over();
      expect((await bench.status(other)).pid).toBe(pid);
    },
  );
});

test.each(loopAttacks.filter(({ isOnePiece }) => isOnePiece).map(({ does, name }) => [does, name] as const))(
  "while an agent %s, another client gets its answers before the agent gets its own",
  async (_does, name) => {
    const { outcome } = await attack(name);
    let before = 0;
    while (outcome() === null) {
      await other.request("lares/status");
      if (outcome() === null) before++;
    }
    expect(before).toBeGreaterThanOrEqual(wantedBesideOnePiece);
    await over();
  },
);

test("a kernel that is told to end while it plans for an agent ends before the plan is complete", async () => {
  client.received.length = 0;
  const { outcome } = await attack("doublings");
  await other.request("lares/status");
  process.kill(pid, "SIGTERM");
  await until("the kernel's end", () => !isAlive(pid));
  expect(outcome()).not.toHaveProperty("result");
});
