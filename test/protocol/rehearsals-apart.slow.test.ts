import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Conversation, Entry } from "../../kernel/src/base/vocabulary/conversation.ts";
import { Bench } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { scriptedModel } from "../support/scripted.ts";
import { until } from "../support/until.ts";

const MIND = "test.rehearsed";
const slow = (text: string): string =>
  `turns:\n  - { when: slow, say: ${text}, delay_ms: 600000, repeat: true }\n  - { say: ${text}, repeat: true }\n`;
const fast = (text: string): string => `turns:\n  - { say: ${text}, repeat: true }\n`;

let bench: Bench;
let script: string;

beforeAll(async () => {
  bench = await Bench.create({
    extensions: [
      {
        id: MIND,
        manifest: { name: "A mind", permissions: { use_models: [{ category: "chat" }] }, mind: {} },
      },
    ],
  });
  script = join(bench.base, "rehearsal.yaml");
});
afterAll(() => bench[Symbol.asyncDispose]());

/** Opens a kernel that rehearses, or that asks the person's model; ends it by SIGKILL after the work. */
async function inKernel<Result>(
  isRehearsal: boolean,
  answers: string,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const own = await scriptedModel(bench, answers);
  await writeFile(script, answers);
  const rehearsal = isRehearsal ? { LARES_REHEARSE: script, LARES_REHEARSE_RUN: "one" } : {};
  const client = await bench.open({ environment: { ...own, ...rehearsal } });
  const { pid } = await bench.status(client);
  const result = await work(client);
  // A client that is still there would start the next kernel.
  await client.shutdown();
  await bench.kill(pid);
  return result;
}

const entriesOf = async (client: Client, id: string): Promise<Entry[]> =>
  (await client.request<{ items: Entry[] }>("lares/conversations/entries", { id, limit: 1000 })).items;

const answersIn = (entries: readonly Entry[]): string[] =>
  entries.flatMap((entry) =>
    entry.kind === "message" && entry.role === "assistant" && entry.partial !== true
      ? entry.parts.flatMap((part) => (part.type === "text" ? [part.text] : []))
      : [],
  );

const begin = async (client: Client, text: string): Promise<string> => {
  const { id } = await client.request<Conversation>("lares/conversations/open", { agent: MIND });
  await client.request("lares/conversations/send", { id, text });
  return id;
};

test.each([
  { begins: "a rehearsal", isRehearsal: true },
  { begins: "the person's own model", isRehearsal: false },
])(
  "what $begins was at is continued after a kill by the same alone, and nothing of the other is asked",
  async ({ isRehearsal }) => {
    const id = await inKernel(isRehearsal, slow("first"), async (client) => {
      const begun = await begin(client, "slow");
      await until("the request", async () =>
        (await entriesOf(client, begun)).some(({ kind }) => kind === "request"),
      );
      return begun;
    });
    await inKernel(!isRehearsal, fast("other"), async (client) => {
      const before = await entriesOf(client, id);
      // What is begun there is answered, and by then the earlier work would be at work again.
      const other = await begin(client, "quick");
      await until("the answer", async () => answersIn(await entriesOf(client, other)).includes("other"));
      expect(await entriesOf(client, id)).toEqual(before);
    });
    await inKernel(isRehearsal, fast("second"), async (client) => {
      await until("the answer", async () => answersIn(await entriesOf(client, id)).includes("second"));
      expect(answersIn(await entriesOf(client, id))).toEqual(["second"]);
    });
  },
);
