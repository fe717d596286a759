/** Counts what a conversation still knows after compactions, and what the example asks its person. */
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Action } from "../../kernel/src/base/vocabulary/action.ts";
import type { Conversation, Entry } from "../../kernel/src/base/vocabulary/conversation.ts";
import { Bench } from "../support/bench.ts";
import { until } from "../support/until.ts";
import { hear } from "./bed.ts";
import type { RunOptions } from "./figure.ts";
import { type Followed, MindSession } from "./mind-session.ts";
import type { Row } from "./report.ts";

const windowTokens = 16_000;
const pinned = "Never water the cactus after sunset, please.";
const task = "Count all trees in the northern field";
const strings = [
  ...Array.from({ length: 20 }, (_, index) => `fields/plot ${index}/tree-${index * 7919}.md`),
  ...Array.from({ length: 5 }, (_, index) => `GardenError: pump ${index} at 10.0.0.${index}:7700 is silent`),
];
/** No summary keeps them, and they look like any other sentence. */
const facts = [
  ["heron", "harbour"],
  ["violin", "attic"],
  ["lantern", "chapel"],
  ["walnut", "cellar"],
  ["compass", "orchard"],
  ["saddle", "bakery"],
  ["telescope", "vineyard"],
  ["kettle", "lighthouse"],
  ["anchor", "meadow"],
  ["mirror", "quarry"],
].map(([thing, place]) => ({
  text: `My aunt left her ${thing} near the ${place}.`,
  query: `${thing} ${place}`,
}));

const script = JSON.stringify({
  context_tokens: windowTokens,
  turns: [
    { process: "compaction", say: "They talked about a garden.", repeat: true },
    { process: "worker", say: "late", delay_ms: 600_000, repeat: true },
    ...facts.flatMap(({ query }) => [
      {
        process: "channel",
        when: `look for ${query}`,
        call: [{ tool: "branch", arguments: { task: `recall ${query}` } }],
      },
      {
        process: "branch",
        when: `recall ${query}`,
        call: [{ tool: "channel_recall", arguments: { query, limit: 5 } }],
      },
    ]),
    { process: "branch", say: "I looked.", repeat: true },
    {
      process: "channel",
      when: "have somebody count",
      call: [{ tool: "spawn_worker", arguments: { task } }],
    },
    { process: "channel", say: "Noted.", repeat: true },
  ],
});

/** Sentences between two compactions; none is worth keeping. */
const noise = Array.from(
  { length: 100 },
  (_, index) => `It was a quiet day, and the ${index % 2 === 0 ? "grass" : "moss"} grew a little.`,
).join(" ");

async function recollection(after: readonly number[]): Promise<Row[]> {
  await using talk = await MindSession.open({ script });
  const conversation = await talk.begin();
  const { id } = conversation;
  const first = await talk.client.request<{ readonly entry: string }>("lares/conversations/send", {
    id,
    text: pinned,
  });
  await talk.client.request("lares/conversations/pin", { id, entry: first.entry, pinned: true });
  await talk.say(conversation, "have somebody count");
  for (const { text } of facts) await talk.say(conversation, text);
  for (const text of strings) await talk.say(conversation, `Please note \`${text}\``);
  let [found, planted, largest] = [0, 0, 0];
  for (let compaction = 1; compaction <= Math.max(...after); compaction++) {
    for (let turn = 0; turn < 5; turn++) await talk.say(conversation, noise);
    await talk.client.request("lares/conversations/compact", { id });
    await until("the summary", () => summariesOf(conversation) >= compaction);
    if (!after.includes(compaction)) continue;
    const text = await until("the context to begin with it", async () => {
      const { sections } = await talk.client.request<{
        readonly sections: readonly {
          readonly name: string;
          readonly text: string;
          readonly tokens: number;
        }[];
      }>("lares/conversations/context", { id });
      const summaries = sections.find(({ name }) => name === "summaries");
      if (summaries === undefined || summaries.text === "") return false;
      largest = Math.max(largest, summaries.tokens);
      return summaries.text;
    });
    const all = [pinned, task, ...strings];
    planted += all.length;
    found += all.filter((each) => text.includes(each)).length;
  }
  let recalled = 0;
  for (const { text, query } of facts) {
    await talk.say(conversation, `look for ${query}`);
    const result = await until(`what is recalled of ${query}`, () => recalledBy(conversation, query));
    if (result.includes(text)) recalled++;
    // A message beside the conclusion would not be the last one that the script sees.
    await until("the channel to have read the conclusion", () => hasReadConclusions(conversation));
  }
  return [
    {
      what: `planted pins, open tasks and exact strings that are in the context after ${after.join(", ")} compactions`,
      value: (100 * found) / planted,
      unit: "%",
      target: { atLeast: 100 },
      samples: planted,
    },
    {
      what: "the most that summaries and they take of the window",
      value: (100 * largest) / windowTokens,
      unit: "%",
      target: { atMost: 10 },
    },
    {
      what: "other planted facts that channel_recall finds",
      value: (100 * recalled) / facts.length,
      unit: "%",
      target: { atLeast: 100 },
      samples: facts.length,
    },
  ];
}

function hasReadConclusions({ entries }: Followed): boolean {
  const rest = entries.findLast(
    (entry) =>
      entry.kind === "process" && entry.value.kind === "channel" && entry.value.state === "WaitingForInput",
  );
  const concluded = entries.filter(({ kind }) => kind === "conclusion");
  const begun = entries.filter((entry) => entry.kind === "tool_call" && entry.tool === "branch");
  return concluded.length === begun.length && (concluded.at(-1)?.seq ?? 0) < (rest?.seq ?? 0);
}

const summariesOf = ({ entries }: Followed): number =>
  entries.filter(({ kind }) => kind === "summary").length;

/** Returns the result of a recall as the model reads it; false as long as there is none. */
function recalledBy({ entries }: Followed, query: string): string | false {
  const call = entries.find(
    (entry) =>
      entry.kind === "tool_call" &&
      JSON.stringify(entry.arguments).includes(`"${query}"`) &&
      entry.tool === "channel_recall",
  );
  const result = entries.find(
    (entry) => entry.kind === "tool_result" && call?.kind === "tool_call" && entry.call === call.call,
  );
  return result === undefined ? false : JSON.stringify(result);
}

const example = fileURLToPath(new URL("../../examples/conversation", import.meta.url));
const steward = "dev.lares.steward";
/** The text that its README tells the person to write. */
const said = [
  "What is in my notes?",
  "What matters most before I leave?",
  "Have somebody count my open tasks",
  "Add the hotel to my packing list",
];

/** Does the example's task: approves what is asked, and counts the questions. */
async function questions(): Promise<Row[]> {
  await using bench = await Bench.create({});
  await cp(example, bench.root, { recursive: true });
  const client = await bench.open({ environment: { LARES_REHEARSE: join(bench.root, "rehearsal.yaml") } });
  const asked: string[] = [];
  for (const method of ["lares/actions/changed", "lares/asks/changed"])
    hear(client, method, (params) => {
      const { id, state } = params as { readonly id: string; readonly state: string };
      if (state === "PendingApproval" || state === "Pending") asked.push(id);
    });
  const { id } = await client.request<Conversation>("lares/conversations/open", { agent: steward });
  const entries = async (): Promise<Entry[]> =>
    (await client.request<{ items: Entry[] }>("lares/conversations/entries", { id, limit: 1000 })).items;
  for (const text of said) {
    const { entry } = await client.request<{ readonly entry: string }>("lares/conversations/send", {
      id,
      text,
    });
    await until(`the end of "${text}"`, async () => {
      const all = await entries();
      const { processes } = await client.request<Conversation>("lares/conversations/get", { id });
      const isAnswered = all.some(
        (each) => each.kind === "message" && each.role === "assistant" && each.turn === entry,
      );
      return isAnswered && processes.every(({ state }) => state.startsWith("WaitingFor") || state === "Done");
    });
  }
  const actions = await until("the change", async () => {
    const waiting = await client.request<Action[]>("lares/actions/list", { state: "PendingApproval" });
    return waiting.length > 0 && waiting;
  });
  for (const { id: action, digest } of actions)
    await client.request("lares/actions/approve", { id: action, digest });
  await until("the change to be told", async () =>
    JSON.stringify(await entries()).includes("It is in the list."),
  );
  return [
    {
      what: "questions that a person is asked in the example's task",
      value: asked.length,
      unit: "",
      note: `${asked.length - new Set(asked).size} of them twice`,
      samples: said.length,
    },
  ];
}

export async function recollections({ isShort, say }: RunOptions): Promise<Row[]> {
  const rows = await recollection(isShort ? [1, 3] : [1, 3, 10]);
  say("compactions: done");
  return [...rows, ...(await questions())];
}
