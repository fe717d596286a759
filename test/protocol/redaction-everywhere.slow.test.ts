/** A person has a text removed that agents have spread everywhere, with a real kernel: no file of the state has a copy. */
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Action } from "../../kernel/src/base/vocabulary/action.ts";
import type { Ask } from "../../kernel/src/base/vocabulary/ask.ts";
import type { RedactedConversation } from "../../kernel/src/base/vocabulary/conversation-requests.ts";
import { failpointMarkVariable, failpointVariable } from "../../kernel/src/platform/failpoint.ts";
import { approve } from "../support/actions.ts";
import { HostileMind, MIND, type WireCall } from "../support/hostile-mind.ts";
import * as stored from "../support/stored.ts";
import { until } from "../support/until.ts";

const confided = "mirabelle-73 tree";
const mark = "[redacted by the person]";
const SPREADER = "test.spreader";
const PROGRAM = `import { defineAgent } from "@lares/sdk";
export default defineAgent({
  tools: {
    spread: async ({ text }, ctx) => {
      await ctx.notify("About " + text, "It says " + text);
      ctx.trace.info("heard " + text, { text });
      await ctx.shared.write("box", { text });
      return { text };
    },
  },
});`;

const call = (name: string, given: object): WireCall => ({ name, given });

async function open(environment: Record<string, string> = {}): Promise<HostileMind> {
  const offered = ["files/*", `${SPREADER}/*`];
  const shared = { read: ["box"], write: ["box"] };
  return await HostileMind.open({
    files: { "a.md": `It says ${confided}.\n` },
    environment,
    mind: {
      tools: offered,
      direct_tools: offered,
      blocks: [{ name: "project", description: "What it is about", scope: "mind" }],
    },
    manifest: {
      permissions: {
        use_models: [{ category: "chat" }],
        read_entries: true,
        propose_actions: ["file.write"],
        call_tools: [`${SPREADER}/*`],
        shared_data: shared,
      },
    },
    extensions: [
      {
        id: SPREADER,
        program: PROGRAM,
        manifest: {
          tools: [
            { name: "spread", description: "Spreads", handler: "spread", parameters: { type: "object" } },
          ],
          permissions: { shared_data: shared },
        },
      },
    ],
  });
}

const actions = (mind: HostileMind): Promise<Action[]> =>
  mind.client.request<Action[]>("lares/actions/list", {});

/** A conversation that has a text in everything that it can reach. */
async function spread(mind: HostileMind): Promise<string> {
  const again = call("files_read", { path: `${confided}.md` });
  const id = await mind.attack(
    [
      {
        think: `hm, ${confided}`,
        calls: [
          { ...call("files_read", { path: "a.md" }), id: "r0" },
          {
            ...call("files_write", {
              path: "made.md",
              content: `new ${confided}`,
              reason: `for ${confided}`,
            }),
            id: "w0",
          },
          { ...call("files_write", { path: "second.md", content: `more ${confided}` }), id: "w1" },
          { ...call("test_spreader_spread", { text: confided }), id: "s0" },
          { ...call("block_edit", { name: "project", replace: `It is about ${confided}` }), id: "b0" },
          { ...call("branch", { task: `remember ${confided}` }), id: "n0" },
          { ...again, id: "a0" },
          { ...again, id: "a1" },
          { ...again, id: "a2" },
        ],
      },
      { say: `You said ${confided}.` },
    ],
    {
      branch: [
        { calls: [call("memory_save", { type: "Fact", text: `They said ${confided}` })] },
        { say: "I know that they like a fruit." },
      ],
    },
    `My word is ${confided}`,
  );
  const { ask } = await until("the question about the repeated call", async () => {
    const [first] = await mind.client.request<Ask[]>("lares/asks/list", { state: "Pending" });
    return first !== undefined && { ask: first };
  });
  await mind.client.request("lares/asks/answer", { id: ask.id, digest: ask.digest, allow: false });
  await until("the branch to have ended", async () =>
    (await mind.entries(id)).some(({ kind }) => kind === "conclusion"),
  );
  await mind.rested(id);
  return id;
}

/** An end of an action wakes the conversation; nothing is removed while it works. */
function redact(mind: HostileMind, request: object): Promise<RedactedConversation> {
  return until("the redaction", async () => {
    const { error, result } = await mind.client.raw("lares/conversations/redact", request);
    if ((error as { code?: number } | undefined)?.code === -33002) return false;
    expect(error).toBeUndefined();
    return result as RedactedConversation;
  });
}

const filesWith = async (mind: HostileMind): Promise<string[]> =>
  (await stored.filesWith(mind.bench.home, confided)).map((path) => path.slice(mind.bench.home.length));

test("a text that was spread everywhere is in no file of the state, and what stays is named", async () => {
  await using mind = await open();
  const id = await spread(mind);
  const made = (await actions(mind)).find(({ effects }) => effects[0]?.path === "made.md");
  if (made === undefined) throw new Error("Nothing was proposed.");
  expect((await approve(mind.client, made)).state).toBe("Committed");
  await mind.rested(id);
  const before = await filesWith(mind);
  for (const part of ["ledger.sqlite", "traces", "objects", "memory", "conversations"])
    expect(
      before.some((path) => path.includes(part)),
      part,
    ).toBe(true);

  const done = await redact(mind, { id, text: confided });
  expect(await filesWith(mind)).toEqual([]);
  const removed = done.removed.map(({ place }) => place);
  for (const place of [
    "actions",
    "questions",
    "memories",
    "outcomes of calls",
    "notifications",
    "shared values",
    "traces",
  ])
    expect(removed).toContain(place);
  expect(done.remains).toEqual([]);
  // In other words: by where it was made.
  expect(done.derived.map(({ kind }) => kind)).toContain("conclusion");
  expect(done.derived_total).toBeGreaterThan(0);

  const now = await actions(mind);
  expect(JSON.stringify(now)).not.toContain(confided);
  expect(now.map(({ state }) => state).toSorted()).toEqual(["Committed", "Rejected"]);
  // The files are the person's own, and the change can still be undone.
  expect(await readFile(join(mind.bench.root, "made.md"), "utf8")).toContain(confided);
  const undone = await mind.client.request<Action>("lares/actions/undo", { id: made.id });
  expect(undone.state).toBe("Undone");
  expect(await mind.client.request("lares/conversations/verify", { id })).toMatchObject({ ok: true });
  await mind.rested(id);
  expect(JSON.stringify(await mind.entries(id))).toContain(`My word is ${mark}`);

  // What was made from it is removed too, if the person wants that.
  const all = await redact(mind, {
    id,
    entry: (await mind.entries(id)).find((entry) => entry.kind === "message" && entry.role === "user")?.id,
    with_derived: true,
  });
  expect(all).toMatchObject({ derived: [], derived_total: 0, memories: [] });
  expect(JSON.stringify(await mind.entries(id))).not.toContain("like a fruit");
  expect(await stored.filesWith(mind.bench.home, "like a fruit")).toEqual([]);
});

test("a content that an undo needs stays, is named, and is gone once it was undone", async () => {
  await using mind = await open();
  const id = await mind.attack(
    [{ calls: [call("files_write", { path: "a.md", content: "all new" })] }, { say: "Done." }],
    {},
    `My word is ${confided}`,
  );
  const [proposed] = await until("the proposal", async () => {
    const all = await actions(mind);
    return all.length > 0 && all;
  });
  if (proposed === undefined) throw new Error("Nothing was proposed.");
  await approve(mind.client, proposed);
  await mind.rested(id);
  const { remains } = await redact(mind, { id, text: confided });
  expect(remains).toMatchObject([{ place: "an action", name: proposed.id }]);
  expect(remains[0]?.why).toContain("Undo it");
  expect((await filesWith(mind)).every((path) => path.includes("objects"))).toBe(true);
  await mind.client.request("lares/actions/undo", { id: proposed.id });
  expect(await readFile(join(mind.bench.root, "a.md"), "utf8")).toContain(confided);
  await mind.rested(id);
  await redact(mind, { id, text: confided });
  expect(await filesWith(mind)).toEqual([]);
});

test("what a mind remembers is forgotten with the copies of its words in conversations and traces", async () => {
  await using mind = await open();
  const said = "They grow quinces by the old wall";
  const id = await mind.attack(
    [
      { calls: [call("branch", { task: "remember" }), call("test_spreader_spread", { text: said })] },
      { say: "Done." },
    ],
    { branch: [{ calls: [call("memory_save", { type: "Fact", text: said })] }, { say: "It is saved." }] },
    "Remember the wall.",
  );
  await until("the branch to have ended", async () =>
    (await mind.entries(id)).some(({ kind }) => kind === "conclusion"),
  );
  await mind.rested(id);
  const result = (await mind.entries(id)).flatMap((entry) =>
    entry.kind === "tool_result" && JSON.stringify(entry.result).includes('"memory"') ? [entry.result] : [],
  )[0] as { value?: { memory?: string } } | undefined;
  const done = await mind.client.request<Pick<RedactedConversation, "removed" | "remains">>(
    "lares/memory/forget",
    { agent: MIND, id: result?.value?.memory, copies: true },
  );
  expect(done.removed.map(({ place }) => place)).toContain("traces");
  expect(done.remains).toEqual([]);
  expect(await stored.filesWith(mind.bench.home, said)).toEqual([]);
  expect(await mind.client.request("lares/conversations/verify", { id })).toMatchObject({ ok: true });
});

test("a redaction that five deaths interrupt is completed", async () => {
  const points = [
    "forgetting.stored",
    "forgetting.logs",
    "forgetting.place@4",
    "forgetting.done",
    "forgetting.scrubbed",
  ];
  const markFile = join(tmpdir(), `lares-deaths-${process.pid}-${Date.now()}`);
  await using mind = await open({
    [failpointVariable]: points.join(","),
    [failpointMarkVariable]: markFile,
  });
  const id = await spread(mind);
  await mind.client.request("lares/conversations/redact", { id, text: confided }).catch(() => undefined);
  const deaths = await until("five deaths", async () => {
    await mind.bench.status(mind.client).catch(() => undefined);
    const lines = (await readFile(markFile, "utf8").catch(() => ""))
      .split("\n")
      .filter((line) => line !== "");
    return lines.length === points.length && lines;
  });
  expect(deaths.map((line) => line.split(" ")[0])).toEqual(points.map((point) => point.split("@")[0]));
  await mind.bench.status(mind.client);
  await until("the text to be gone", async () => (await filesWith(mind)).length === 0);
  expect(await mind.client.request("lares/conversations/verify", { id })).toMatchObject({ ok: true });
  expect(JSON.stringify(await mind.entries(id))).toContain(`My word is ${mark}`);
});
