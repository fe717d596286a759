/** Questions that calls wait for, answered in place at the terminal of `lares run`. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Ask } from "../../kernel/src/base/vocabulary/ask.ts";
import { Bench, tool } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { hasTerminals, TerminalRun } from "../support/command-line.ts";
import { until } from "../support/until.ts";

const PROGRAM = `
import { defineAgent } from "@lares/sdk";
export default defineAgent({
  tools: {
    ask: async (_given, ctx) => {
      try {
        return (await ctx.ai.generate("hello")).text;
      } catch (error) {
        return error.code;
      }
    },
  },
});
`;
const agents = ["test.first", "test.second", "test.third", "test.fourth"] as const;

let bench: Bench;
let client: Client;
let environment: NodeJS.ProcessEnv;
beforeAll(async () => {
  bench = await Bench.create({
    extensions: agents.map((id) => ({
      id,
      program: PROGRAM,
      manifest: {
        tools: [{ name: "ask", description: "Asks", handler: "ask", parameters: { type: "object" } }],
        permissions: { use_models: [{ category: "chat" }] },
      },
    })),
  });
  const config = join(bench.base, "config");
  await mkdir(join(config, "lares"), { recursive: true });
  // A price that nobody knows, under a budget. Nothing leaves: no proxy and no server is there.
  const models = {
    providers: { lab: { api: "openai-compatible", base_url: "https://lab.invalid/v1" } },
    routes: { default: "lab/x" },
    budgets: { per_day_usd: 1 },
  };
  await writeFile(join(config, "lares", "lares.yaml"), JSON.stringify({ version: 1, models }));
  environment = { XDG_CONFIG_HOME: config };
  client = await bench.open({ environment });
});
afterAll(() => bench[Symbol.asyncDispose]());

const pending = (): Promise<Ask[]> => client.request("lares/asks/list", { state: "Pending" });
beforeEach(async () => expect(await pending()).toEqual([]));

async function start(): Promise<TerminalRun> {
  const run = new TerminalRun(bench, ["run"], { environment });
  await run.shows(/Ctrl-C ends/);
  return run;
}

async function end(run: TerminalRun): Promise<void> {
  run.type("\u0003");
  expect(await run.ended).toBe(0);
}

describe.runIf(hasTerminals)("lares run at a terminal", () => {
  test("asks the question of a call, with its reason, and the call continues with the answer", async () => {
    using run = await start();
    const asking = tool<string>(client, "test.first", "ask", {});
    await run.sees(/\? May test\.first use "lab\/x", whose price is not known\?/);
    await run.sees(/Your lares\.yaml sets a budget in dollars/);
    await run.sees(/a +allow once/);
    for (const word of ["allow always", "deny", "later"]) expect(run.screen).toContain(word);
    run.type("r");
    expect(await asking).toBe("BudgetExceeded");
    expect(await client.request<Ask[]>("lares/asks/list", { state: "Denied" })).toMatchObject([
      { agent: "test.first" },
    ]);
    await end(run);
  });

  test("closes what was answered elsewhere, says so, and asks the next one", async () => {
    using run = await start();
    const asking = ["test.second", "test.third"].map((agent) => tool<string>(client, agent, "ask", {}));
    const [shown, next] = await until("both questions", async () => {
      const found = (await pending()).toReversed();
      return found.length === 2 && found;
    });
    await run.sees(RegExp(`May ${shown?.agent} use`));
    expect(run.screen).not.toContain(`May ${next?.agent} use`);
    await client.request("lares/asks/answer", { id: shown?.id, digest: shown?.digest, allow: false });
    await run.sees(RegExp(`Denied elsewhere: May ${shown?.agent} use`));
    await run.sees(RegExp(`\\? May ${next?.agent} use[^]*Esc +later`));
    run.type("r");
    expect(await Promise.all(asking)).toEqual(["BudgetExceeded", "BudgetExceeded"]);
    await end(run);
  });

  test("Ctrl-C leaves it waiting for another client", async () => {
    using run = await start();
    const asking = tool<string>(client, "test.fourth", "ask", {});
    await run.sees(/May test\.fourth use/);
    await end(run);
    const [ask] = await pending();
    await client.request("lares/asks/answer", { id: ask?.id, digest: ask?.digest, allow: false });
    expect(await asking).toBe("BudgetExceeded");
  });
});
