/** Many conversations at once, each with two workers: what their client gets, how the loop does, what they hold at rest. */
import type { Entry } from "../../kernel/src/base/vocabulary/conversation.ts";
import { until } from "../support/until.ts";
import { pause, type RunOptions } from "./figure.ts";
import type { Followed, MindSession } from "./mind-session.ts";
import type { Row } from "./report.ts";

const workersEach = 2;
/** Longer than the kernel gathers ends of children, and than its timers after a turn. */
const restMs = 3_000;
/** Milliseconds in which all must have ended, on a busy machine too. */
const patienceMs = 240_000;

/** Their heap is measured too, because what is held for other reasons comes and goes. */
const furtherBatches = 3;

/** `task`: the message after which the script's channel starts two workers. */
export async function crowd(talk: MindSession, { isShort, say }: RunOptions, task: string): Promise<Row[]> {
  const count = isShort ? 25 : 100;
  // As many before: code is compiled, and the heap has grown as far as the work itself needs.
  await leaveAll(talk, await together(talk, count, task));
  await pause(restMs);
  const before = await talk.watched();
  const heaps = [before.heapBytes];
  await pause(restMs);
  const idle = await talk.watched();
  const conversations = await together(talk, count, task);
  const during = await talk.watched();
  const entries = await checkEntries(talk, conversations);
  say(`${count} conversations: done`);
  await leaveAll(talk, conversations);
  await pause(restMs);
  heaps.push((await talk.watched()).heapBytes);
  for (let batch = 0; batch < furtherBatches; batch++) {
    await leaveAll(talk, await together(talk, count, task));
    await pause(restMs);
    heaps.push((await talk.watched()).heapBytes);
  }
  return [
    {
      what: `${count} conversations with two workers each: the loop late, p99`,
      value: during.p99Ms,
      unit: "ms",
      target: { atMost: 20 },
      floor: { what: "idle, p99", value: idle.p99Ms },
      note: `worst ${during.worstMs.toFixed(0)} ms; CPU time of a turn p99 ${during.turnP99Ms.toFixed(1)} ms, longest ${during.turnWorstMs.toFixed(0)} ms`,
    },
    {
      what: "their entries, each once and in order at the client",
      value: (100 * entries.inOrder) / entries.all,
      unit: "%",
      target: { atLeast: 100 },
      samples: entries.all,
    },
    {
      what: "heap of a conversation at rest",
      value: slope(heaps) / count / 1e3,
      unit: "KB",
      target: { atMost: 20 },
      samples: count * (heaps.length - 1),
      note: `the slope of the heap over ${heaps.length} times ${count} conversations: ${heaps.map((bytes) => (bytes / 1e6).toFixed(1)).join(", ")} MB`,
    },
  ];
}

/** Returns the growth from one value to the next by least squares. */
function slope(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  let [up, across] = [0, 0];
  for (const [index, value] of values.entries()) {
    up += (index - middle) * (value - mean);
    across += (index - middle) ** 2;
  }
  return up / across;
}

async function leaveAll(talk: MindSession, conversations: readonly Followed[]): Promise<void> {
  for (const conversation of conversations) await talk.leave(conversation);
}

/** Begins so many conversations, and resolves when their workers have ended and their channels have read that. */
async function together(talk: MindSession, count: number, task: string): Promise<Followed[]> {
  const conversations: Followed[] = [];
  for (let index = 0; index < count; index++) conversations.push(await talk.begin());
  await Promise.all(conversations.map((conversation) => talk.say(conversation, task)));
  await until("all workers to end", () => conversations.every(hasEnded), patienceMs);
  return conversations;
}

function hasEnded({ entries }: Followed): boolean {
  const ends = entries.filter(
    (entry) => entry.kind === "process" && entry.value.kind === "worker" && entry.value.ended !== undefined,
  );
  const failed = ends.find((entry) => entry.kind === "process" && entry.value.state !== "Done");
  if (failed !== undefined) throw new Error(`A worker did not end well: ${JSON.stringify(failed)}`);
  const lastEnd = ends.at(-1)?.seq ?? 0;
  const lastRest = entries.findLast(
    (entry) =>
      entry.kind === "process" && entry.value.kind === "channel" && entry.value.state === "WaitingForInput",
  );
  return ends.length === workersEach && (lastRest?.seq ?? 0) > lastEnd;
}

/** Counts the entries that came to the client in the log's order, each once; throws if it got any that is not there. */
async function checkEntries(
  talk: MindSession,
  conversations: readonly Followed[],
): Promise<{ readonly all: number; readonly inOrder: number }> {
  let [all, inOrder] = [0, 0];
  for (const { id, entries } of conversations) {
    const { items, total } = await talk.client.request<{ readonly items: Entry[]; readonly total: number }>(
      "lares/conversations/entries",
      { id, after: 0, limit: 1_000 },
    );
    if (items.length !== total) throw new Error(`${id} has ${total} entries, ${items.length} were read.`);
    if (entries.length > items.length) throw new Error(`${id}: ${entries.length} of ${total} entries came.`);
    all += total;
    inOrder += items.filter((item, index) => {
      const came = entries[index];
      return came?.seq === item.seq && came.id === item.id && came.kind === item.kind;
    }).length;
  }
  return { all, inOrder };
}
