/**
 * SIGKILL at random moments of the kernel, its egress host and its sandbox host, under ten conversations with workers and
 * approvals, which fork, branch and are summarised. `LARES_ROUNDS` sets the number of kills (default 20), `LARES_SEED` draws other choices.
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
  checkMemories,
  checkMessages,
  checkRequests,
  checkSummaries,
} from "./support/conversation-ends.ts";
import { egressHostOf, sandboxHostOf } from "./support/processes.ts";
import { needsPerson, Talk } from "./support/talk.ts";
import { ownOf } from "./support/talked.ts";
import { foreignPath, MARKS, MIND, scripted } from "./support/talking-mind.ts";

const rounds = Number(process.env["LARES_ROUNDS"] ?? 20);
const count = 10;
const seed = seedOfThisRun();
const random = seeded(seed);
/** From the moment a kernel is ready to the kill: short lives hit beginnings, long ones workers and decisions. */
const maxLivesMs = [500, 3_000];
/** A host is restarted with growing delays, which a kernel's death resets. */
const maxHostKillsInARow = 2;
const maxForks = 8;
/** What the person asks for; the models answer each with other calls. */
const wishes = ["write", "look", "look", "think", "think", "note", "fetch", "fetch"];

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
    const key = `please ${pick(wishes, choices)} ${round}.${index}`;
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
  const [origin, summarised] = [pick(talk.conversations, choices), pick(talk.conversations, choices)];
  const [forks, at, summarises] = [choices(), choices(), choices()];
  const fork = async (): Promise<void> => {
    const last = origin?.followed.at(-1)?.seq ?? 0;
    if (origin === undefined || last === 0 || forks > 0.4 || talk.conversations.length >= count + maxForks)
      return;
    await talk.fork(origin, forks < 0.2 ? last : 1 + Math.floor(at * last));
  };
  const summarise = async (): Promise<void> => {
    if (summarised !== undefined && summarises < 0.3) await talk.compact(summarised);
  };
  await Promise.all([...speak, decide(), stop(), repeat(), fork(), summarise()]);
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
  // However few kills there are, one worker writes what it read in a file that nobody vouches for.
  const [reader] = talk.conversations.filter(({ model, fork }) => model !== scripted && fork === undefined);
  if (reader !== undefined) await talk.send(reader, "please fetch at last");
  await talk.toRest();
  await talk.check();
  expect(talk.leftovers()).toEqual([]);
  const all: Entry[] = [];
  for (const talked of talk.conversations) {
    const entries = await talk.entries(talked.id);
    expect(talked.followed).toEqual(entries);
    const own = ownOf(talked, entries);
    checkMessages(talked, own);
    checkCalls(own);
    checkRequests(own);
    checkSummaries(talked, own, talk);
    const { id } = talked;
    checkFold(talked, entries, await talk.insist<Conversation>("lares/conversations/get", { id }));
    all.push(...own);
  }
  const places = { agent: MIND, query: "remembered", in: ["memories"], mode: "text", limit: 1_000 };
  const { items } = await talk.insist<{ items: { text: string }[] }>("lares/conversations/search", places);
  checkMemories(
    all,
    items.map(({ text }) => text),
  );
  checkMarks(all, await tool<Record<string, number>>(talk.client, MARKS, "marks"));
  checkActions(talk, await talk.insist<Action[]>("lares/actions/list", { limit: 10_000 }), all);
  const kinds = Map.groupBy(
    all.flatMap((entry) => (entry.kind === "process" ? [entry.value] : [])),
    ({ kind, state }) => `${kind} ${state}`,
  );
  const counts = Object.fromEntries([...kinds].map(([kind, { length }]) => [kind, length]));
  const failures = all.flatMap((entry) =>
    entry.kind === "process" ? (entry.value.error?.message ?? []) : [],
  );
  const forks = talk.conversations.length - count;
  const summaries = all.filter(({ kind }) => kind === "summary").length;
  const alone = talk.files().filter((path) => !needsPerson(path)).length;
  const foreign = talk.files().filter((path) => path.startsWith(foreignPath)).length;
  console.log(
    `processes: ${JSON.stringify(counts)}; ${forks} forks, ${summaries} summaries, ${items.length} memories, ${alone} files that needed nobody, ${foreign} of foreign text; failures: ${[...new Set(failures)].join(" | ")}`,
  );
  const proposed = all.flatMap((each) => (each.kind === "tool_call" ? JSON.stringify(each.arguments) : []));
  expect(proposed.filter((each) => each.includes(foreignPath))).not.toEqual([]);
  expect(talk.provider.missing, "tools that were not offered").toEqual([]);
});

test("the logs of the ended kernel are whole, and come to what the followers saw", async () => {
  const { pid, stateFolder } = await talk.insist<Status>("lares/status");
  await talk.client.shutdown();
  await until("the kernel to end", () => !isAlive(pid));
  talk.take();
  await checkLogs(talk, stateFolder);
});
