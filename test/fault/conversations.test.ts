/**
 * SIGKILL at random moments of the kernel, its egress host and its sandbox host, under ten conversations with workers and
 * approvals. `LARES_ROUNDS` sets the number of kills (default 20), `LARES_SEED` draws other choices.
 */
import process from "node:process";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Action } from "../../kernel/src/base/vocabulary/action.ts";
import type { Conversation, Entry } from "../../kernel/src/base/vocabulary/conversation.ts";
import { tool } from "../support/bench.ts";
import { seeded, seedOfThisRun } from "../support/seed.ts";
import type { Status } from "../support/types.ts";
import { isAlive, until } from "../support/until.ts";
import {
  checkActions,
  checkCalls,
  checkFold,
  checkLogs,
  checkMarks,
  checkMessages,
  checkRequests,
} from "./support/conversation-ends.ts";
import { egressHostOf, sandboxHostOf } from "./support/processes.ts";
import { Talk } from "./support/talk.ts";
import { MARKS } from "./support/talking-mind.ts";

const rounds = Number(process.env["LARES_ROUNDS"] ?? 20);
const count = 10;
const seed = seedOfThisRun();
const random = seeded(seed);
/** From the moment a kernel is ready to the kill: short lives hit beginnings, long ones workers and decisions. */
const maxLivesMs = [500, 3_000];
/** A host is restarted with growing delays, which a kernel's death resets. */
const maxHostKillsInARow = 2;

let talk: Talk;
let hostKills = 0;
const killed = { kernel: 0, "egress host": 0, "sandbox host": 0 };

beforeAll(async () => {
  console.log(`conversations killed: LARES_SEED=${seed} LARES_ROUNDS=${rounds}`);
  talk = await Talk.begin(count);
});
afterAll(() => talk[Symbol.asyncDispose]());

const pick = <Item>(items: readonly Item[], choices: () => number): Item | undefined =>
  items[Math.floor(choices() * items.length)];

async function kill(pid: number, choice: number): Promise<void> {
  const [name, host] =
    choice < 0.25
      ? (["egress host", egressHostOf(pid)] as const)
      : (["sandbox host", sandboxHostOf(pid)] as const);
  const victim = choice < 0.5 && hostKills < maxHostKillsInARow ? host : undefined;
  hostKills = victim === undefined ? 0 : hostKills + 1;
  killed[victim === undefined ? "kernel" : name]++;
  await talk.bench.kill(victim ?? pid);
}

/** Acts as the person until the kill. Choices are drawn before, so that the order of answers does not change them. */
async function person(round: number): Promise<void> {
  const choices = seeded(Math.floor(random() * 2 ** 31));
  const speak = [0, 1].map(async (index) => {
    const talked = pick(talk.conversations, choices);
    const key = `please ${choices() < 0.4 ? "write" : "look"} ${round}.${index}`;
    if (talked !== undefined) await talk.send(talked, key);
  });
  const [stopped, again] = [pick(talk.conversations, choices), pick(talk.conversations, choices)];
  const stops = choices();
  const decisions = seeded(Math.floor(choices() * 2 ** 31));
  const decide = async (): Promise<void> => {
    for (const action of (await talk.pending()).slice(0, 4)) {
      if (decisions() < 0.3) continue;
      await talk.decide(action, decisions() < 0.7);
      const path = action.effects[0]?.path ?? "";
      const isThere = talk.decided.get(action.id)?.answered.get("approve") === "Committed";
      if (isThere && decisions() < 0.5) await talk.deleteFile(path);
    }
    for (const ask of (await talk.asks()).slice(0, 4))
      if (decisions() < 0.5) await talk.answer(ask, decisions() < 0.7);
  };
  const stop = async (): Promise<void> => {
    if (stopped === undefined || stops > 0.3) return;
    const { processes } = await talk.insist<Conversation>("lares/conversations/get", { id: stopped.id });
    const worker = processes.findLast(({ kind }) => kind === "worker");
    await talk.stop(stopped, stops < 0.15 ? worker?.id : undefined);
  };
  const repeat = async (): Promise<void> => {
    const [key] = [...(again?.sent.keys() ?? [])].slice(-1);
    if (again !== undefined && key !== undefined) await talk.send(again, key);
  };
  await Promise.all([...speak, decide(), stop(), repeat()]);
}

test.for(Array.from({ length: rounds }, (_, round) => round + 1))(
  "kill %s: a follower has what the log has, what was acknowledged holds, nothing unapproved is on the disk",
  async (round) => {
    const pid = await talk.kernel();
    const acting = person(round);
    const choice = random();
    const life = random() * (pick(maxLivesMs, random) ?? 0);
    await new Promise((resolve) => setTimeout(resolve, life));
    await Promise.all([kill(pid, choice), acting]);
    await talk.check();
  },
);

test("in the end all rest: each call has one result and at most one effect, each approved action one commit", async () => {
  console.log(`killed: ${JSON.stringify(killed)}; ${talk.provider.requests} requests at the provider`);
  expect(Object.values(killed).reduce((sum, each) => sum + each)).toBe(rounds);
  await talk.toRest();
  await talk.check();
  const all: Entry[] = [];
  for (const talked of talk.conversations) {
    const entries = await talk.entries(talked.id);
    expect(talked.followed).toEqual(entries);
    checkMessages(talked, entries);
    checkCalls(entries);
    checkRequests(entries);
    const { id } = talked;
    checkFold(entries, await talk.insist<Conversation>("lares/conversations/get", { id }));
    all.push(...entries);
  }
  checkMarks(all, await tool<Record<string, number>>(talk.client, MARKS, "marks"));
  checkActions(talk, await talk.insist<Action[]>("lares/actions/list", { limit: 10_000 }), all);
  expect(talk.provider.missing, "tools that were not offered").toEqual([]);
});

test("the logs of the ended kernel are whole, and come to what the followers saw", async () => {
  const { pid, stateFolder } = await talk.insist<Status>("lares/status");
  await talk.client.shutdown();
  await until("the kernel to end", () => !isAlive(pid));
  talk.take();
  await checkLogs(talk, stateFolder);
});
