/**
 * SIGKILL of the kernel at random moments while conversations with workers and approvals run. `LARES_ROUNDS` sets the number
 * of kills (default 20), `LARES_SEED` draws other choices.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Action } from "../../kernel/src/base/vocabulary/action.ts";
import type { Conversation, Entry } from "../../kernel/src/base/vocabulary/conversation.ts";
import { Bench } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { seeded, seedOfThisRun } from "../support/seed.ts";
import { until } from "../support/until.ts";

const MIND = "test.mind";
const rounds = Number(process.env["LARES_ROUNDS"] ?? 20);
const conversations = 10;
const seed = seedOfThisRun();
const random = seeded(seed);
/** From a kernel's start to its death. */
const maxLifeMs = 700;

const script = `
turns:
  - { process: channel, when: "go ", say: "I look and ask.", call: [{ tool: files/list, arguments: {} }, { tool: spawn_worker, arguments: { task: "work" } }, { tool: files/write, arguments: { path: shared.md, content: new } }], delay_ms: 40, repeat: true }
  - { process: worker, when: work, say: "reading", call: [{ tool: files/read, arguments: { path: a.md } }], delay_ms: 60, repeat: true }
  - { process: worker, say: "the worker found the text", delay_ms: 60, repeat: true }
  - { process: channel, say: "so it is", delay_ms: 30, repeat: true }
`;

let bench: Bench;
let client: Client;
const sent = new Map<string, string[]>();

beforeAll(async () => {
  console.log(`conversations killed: LARES_SEED=${seed} LARES_ROUNDS=${rounds}`);
  bench = await Bench.create({
    files: { "a.md": "the text of a\n" },
    extensions: [
      {
        id: MIND,
        manifest: {
          name: "A mind",
          permissions: {
            use_models: [{ category: "chat" }],
            read_entries: true,
            propose_actions: ["file.write"],
          },
          mind: { tools: ["files/*"], direct_tools: ["files/list", "files/write"] },
        },
      },
    ],
  });
  const folder = join(bench.base, "config", "lares");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "script.yaml"), script);
  const models = { providers: { script: { api: "scripted", script: "script.yaml" } } };
  await writeFile(join(folder, "lares.yaml"), JSON.stringify({ version: 1, models }));
  client = await bench.open({ environment: { XDG_CONFIG_HOME: join(bench.base, "config") } });
  for (let count = 0; count < conversations; count++) {
    const { id } = await client.request<Conversation>("lares/conversations/open", { agent: MIND });
    sent.set(id, []);
  }
});
afterAll(() => bench[Symbol.asyncDispose]());

/** A kernel that is dying answers nothing, so the same is asked again; a key keeps it from being done twice. */
async function insist<Result>(method: string, params: object): Promise<Result> {
  let result: Result | undefined;
  await until(method, async () => {
    try {
      result = await client.request<Result>(method, params);
      return true;
    } catch {
      return false;
    }
  });
  return result as Result;
}

const entriesOf = async (id: string): Promise<Entry[]> =>
  (await insist<{ items: Entry[] }>("lares/conversations/entries", { id, after: 0, limit: 10_000 })).items;

test("kills lose no message, repeat no call, and leave nothing without an end", async () => {
  for (let round = 0; round < rounds; round++) {
    const { pid } = await insist<{ pid: number }>("lares/status", {});
    const ids = [...sent.keys()];
    const talking = ids.slice(0, 3).map(async (_, index) => {
      const id = ids[Math.floor(random() * ids.length)] ?? "";
      const text = `go ${round}.${index}`;
      await insist("lares/conversations/send", { id, text, key: text });
      sent.get(id)?.push(text);
    });
    const deciding = insist<Action[]>("lares/actions/list", { state: "PendingApproval" }).then((actions) =>
      Promise.allSettled(
        actions
          .slice(0, 2)
          .map(({ id, digest }) => client.request("lares/actions/reject", { id, digest, reason: "no" })),
      ),
    );
    const lifeMs = random() * maxLifeMs;
    await new Promise((resolve) => setTimeout(resolve, lifeMs));
    await bench.kill(pid);
    await Promise.all([...talking, deciding]);
  }
  for (const id of sent.keys()) {
    await until(`the conversation ${id} to rest`, async () => {
      const { processes } = await insist<Conversation>("lares/conversations/get", { id });
      return processes.every(({ state }) => ["WaitingForInput", "Done", "Cancelled"].includes(state));
    });
    const entries = await entriesOf(id);
    const seqs = entries.map(({ seq }) => seq);
    expect(seqs).toEqual([...new Set(seqs)].toSorted((one, other) => one - other));
    const said = entries.flatMap((entry) =>
      entry.kind === "message" && entry.origin === "person"
        ? entry.parts.map((part) => (part.type === "text" ? part.text : ""))
        : [],
    );
    expect(said.toSorted()).toEqual((sent.get(id) ?? []).toSorted());
    const calls = entries.flatMap((entry) => (entry.kind === "tool_call" ? [entry.call] : []));
    const results = entries.flatMap((entry) => (entry.kind === "tool_result" ? [entry.call] : []));
    expect(new Set(calls).size).toBe(calls.length);
    expect(results.toSorted()).toEqual(calls.toSorted());
    // Each worker was started by one call, however often that was run again.
    const workers = entries.flatMap((entry) =>
      entry.kind === "process" && entry.value.kind === "worker" ? [entry.value.id] : [],
    );
    const spawned = entries.filter((entry) => entry.kind === "tool_call" && entry.tool === "spawn_worker");
    expect(new Set(workers).size).toBe(spawned.length);
  }
  const [one = ""] = sent.keys();
  const { entry } = await insist<{ entry: string }>("lares/conversations/send", { id: one, text: "go on" });
  await until("the last answer", async () => {
    const entries = await entriesOf(one);
    const at = entries.findIndex(({ id }) => id === entry);
    return entries.slice(at).some((each) => each.kind === "message" && each.role === "assistant");
  });
});
