import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Bench } from "../../test/support/bench.ts";
import type { Client } from "../../test/support/client.ts";
import type { Action, TraceEntry } from "../../test/support/types.ts";
import { until } from "../../test/support/until.ts";

const STEWARD = "dev.lares.steward";
const SAFETY = "dev.lares.safety";
const script = `
turns:
  - { process: channel, when: read the plan, call: [{ tool: files/read, arguments: { path: archive/plan.md } }] }
  - { process: channel, when: find words, call: [{ tool: files/search, arguments: { text: words } }] }
  - process: channel
    when: write down
    call: [{ tool: spawn_worker, arguments: { task: "Replace archive/plan.md.", kind: editor } }]
  - process: channel
    when: note it
    call: [{ tool: spawn_worker, arguments: { task: "Replace notes/a.md.", kind: editor } }]
  - process: worker
    when: Replace archive/plan.md
    call: [{ tool: files/write, arguments: { path: archive/plan.md, content: other, reason: I was asked. } }]
  - process: worker
    when: Replace notes/a.md
    call: [{ tool: files/write, arguments: { path: notes/a.md, content: other, reason: I was asked. } }]
  - { process: worker, when: the archive is closed, say: "Refused, because the archive is closed." }
  - { process: channel, when: "the archive is closed", say: "It was refused." }
  - { process: channel, say: "It went through.", repeat: true }
`;

let folder = "";
let bench: Bench;
let client: Client;

const opened = async (config: object): Promise<void> => {
  bench = await Bench.create({
    files: { "archive/plan.md": "some words\\n", "notes/a.md": "# A\\n" },
    lares: {
      extensions: [
        { id: STEWARD, grants: { locations: ["."] } },
        { id: SAFETY, grants: { locations: ["."] }, config },
      ],
    },
  });
  client = await bench.open({ environment: { LARES_REHEARSE: join(folder, "script.yaml") } });
};

interface Entry {
  readonly kind: string;
  readonly role?: string;
  readonly parts?: readonly { readonly text?: string }[];
  readonly result?: { readonly status: string; readonly message?: string };
}

const say = async (text: string): Promise<readonly Entry[]> => {
  const { id } = await client.request<{ id: string }>("lares/conversations/open", { agent: STEWARD });
  await client.request("lares/conversations/send", { id, text });
  return until(`an answer to ${text}`, async () => {
    const { items } = await client.request<{ items: Entry[] }>("lares/conversations/entries", {
      id,
      limit: 100,
    });
    const isDone = items.some(
      (entry) => entry.kind === "message" && entry.role === "assistant" && (entry.parts ?? []).length > 0,
    );
    return isDone && items;
  });
};
const results = (entries: readonly Entry[]) =>
  entries.flatMap(({ kind, result }) => (kind === "tool_result" && result !== undefined ? [result] : []));

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "lares-safety-"));
  await writeFile(join(folder, "script.yaml"), script);
});
afterAll(() => rm(folder, { recursive: true }));

it("refuses a call of the steward that matches a rule, with the reason, and lets others through", async () => {
  await opened({
    rules: [
      {
        on: "tool",
        when: 'tool == "files/read" && arguments.path.startsWith("archive/")',
        reason: "the archive is closed",
      },
    ],
  });
  await using _bench = bench;
  const refused = results(await say("read the plan"));
  expect(refused).toMatchObject([{ status: "error" }]);
  expect(refused[0]?.message).toContain("the archive is closed");
  expect(refused[0]?.message).toContain(SAFETY);
  expect(results(await say("find words"))).toMatchObject([{ status: "success" }]);
});

it("a rule that cannot be read lets nothing through, and says which it is", async () => {
  await opened({ rules: [{ on: "tool", when: "toool == 'x'", reason: "r" }] });
  await using _bench = bench;
  const [refused] = results(await say("find words"));
  expect(refused?.status).toBe("error");
  expect(refused?.message).toContain("rule 1: Unknown variable: toool");
});

it("refuses a change of the steward that matches a rule: nobody is asked, the reason is in the result and a trace", async () => {
  await opened({
    rules: [
      {
        on: "action",
        when: 'action.effects.exists(e, e.path.startsWith("archive/"))',
        reason: "the archive is closed",
      },
    ],
  });
  await using _bench = bench;
  const { id } = await client.request<{ id: string }>("lares/conversations/open", { agent: STEWARD });
  const send = (text: string) => client.request("lares/conversations/send", { id, text });
  await send("write down");
  // The worker has read the reason, or it could not report it.
  await until("the report", async () => {
    const { items } = await client.request<{ items: Entry[] }>("lares/conversations/entries", {
      id,
      limit: 100,
    });
    return JSON.stringify(items).includes("Refused, because the archive is closed.");
  });
  const actions = () => client.request<Action[]>("lares/actions/list", { limit: 10 });
  expect(await actions()).toEqual([]);
  expect(await readFile(bench.path("archive/plan.md"), "utf8")).toContain("some words");
  const traces = await client.request<TraceEntry[]>("lares/traces/query", { text: "the archive is closed" });
  expect(traces).toMatchObject([
    { agent: SAFETY, message: `BeforeAction was refused: ${SAFETY} refused it: the archive is closed` },
  ]);

  // Changes that no rule refuses still need a person's approval.
  await send("note it");
  const [action] = await until("the question", async () => {
    const found = await actions();
    return found.length > 0 && found;
  });
  expect(action).toMatchObject({ agent: STEWARD, state: "PendingApproval" });
});
