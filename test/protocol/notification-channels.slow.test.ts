import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Bench, inState, tool } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { until } from "../support/until.ts";

const AGENT = "test.channels";
const PROGRAM = `
import { defineAgent } from "@lares/sdk";
export default defineAgent({
  tools: {
    async say({ title, severity }, ctx) { await ctx.notify(title, "m", { severity }); },
  },
});
`;
const PARAMETERS = {
  type: "object",
  properties: { title: { type: "string" }, severity: { type: "string" } },
};

/** A bench with these rules in the workspace's document and in the person's own. */
async function withRules(
  workspace: readonly object[],
  person: readonly object[],
): Promise<{ bench: Bench; environment: NodeJS.ProcessEnv }> {
  const bench = await Bench.create({
    extensions: [
      {
        id: AGENT,
        program: PROGRAM,
        manifest: {
          permissions: { read_entries: true },
          tools: [{ name: "say", description: "Says it", handler: "say", parameters: PARAMETERS }],
        },
      },
    ],
    lares: { notifications: { rules: workspace } },
  });
  const config = join(bench.base, "config");
  await mkdir(join(config, "lares"), { recursive: true });
  await writeFile(join(config, "lares", "lares.yaml"), JSON.stringify({ notifications: { rules: person } }));
  return { bench, environment: { XDG_CONFIG_HOME: config } };
}

const say = (client: Client, title: string, severity: string): Promise<unknown> =>
  tool(client, AGENT, "say", { title, severity });
const told = (client: Client) =>
  client.notifications<{ title: string; channels: string[] }>("lares/notify").map(({ title, channels }) => ({
    title,
    channels,
  }));

test("a notification reaches the clients whose channel the person chose, and a workspace's rules only take channels away", async () => {
  const { bench, environment } = await withRules(
    [
      { severities: ["info"], channels: ["editor", "terminal", "os"] },
      { severities: ["warning"], channels: ["terminal"] },
    ],
    [
      { agents: [AGENT], severities: ["info"], channels: [] },
      { severities: ["error"], channels: ["os", "editor"] },
    ],
  );
  await using _bench = bench;
  await using editor = await bench.open({ environment, notifications: ["editor"] });
  await using terminal = await bench.open({ environment, notifications: ["terminal", "os"] });
  await using other = await bench.open({ environment });
  await inState(editor, AGENT, "Active", "Unloaded");

  await say(editor, "silenced", "info");
  await say(editor, "narrowed", "warning");
  await say(editor, "grave", "error");
  await until("all clients were told", () => [terminal, other].every((client) => told(client).length === 2));
  await until("the editor was told", () => told(editor).length === 1);

  expect(told(editor)).toEqual([{ title: "grave", channels: ["editor"] }]);
  expect(told(terminal)).toEqual([
    { title: "narrowed", channels: ["terminal"] },
    { title: "grave", channels: ["os"] },
  ]);
  // A client that announces nothing can show none of the operating system.
  expect(told(other)).toEqual([
    { title: "narrowed", channels: ["terminal"] },
    { title: "grave", channels: ["editor"] },
  ]);

  const { items } = await editor.request<{ items: { title: string; state: string; channels: string[] }[] }>(
    "lares/notifications/list",
    {},
  );
  expect(items.map(({ title, state, channels }) => ({ title, state, channels }))).toEqual([
    { title: "grave", state: "New", channels: ["editor", "os"] },
    { title: "narrowed", state: "New", channels: ["terminal"] },
    { title: "silenced", state: "Dismissed", channels: [] },
  ]);
});

test("what only the workspace's document keeps quiet does not count as seen", async () => {
  const { bench, environment } = await withRules([{ severities: ["info"], channels: [] }], []);
  await using _bench = bench;
  await using editor = await bench.open({ environment });
  await inState(editor, AGENT, "Active", "Unloaded");
  await say(editor, "kept quiet", "info");
  await say(editor, "told", "error");
  await until("the second one", () => told(editor).length === 1);
  const { items } = await editor.request<{ items: { title: string; state: string; channels: string[] }[] }>(
    "lares/notifications/list",
    {},
  );
  expect(items.map(({ title, state, channels }) => ({ title, state, channels }))).toEqual([
    { title: "told", state: "New", channels: ["editor", "terminal"] },
    { title: "kept quiet", state: "New", channels: [] },
  ]);
});
