import process from "node:process";
import { afterAll, beforeAll, expect, it } from "vitest";
import { isAlive, until } from "../../support/until.ts";
import { beside } from "../support/person.ts";
import type { Desk } from "./desk.ts";
import { agent, openSurvey } from "./survey.ts";

/** Reports progress and saves ten times a second. */
const program = `
import { defineAgent } from "@lares/sdk";
export default defineAgent({
  hooks: {
    async saved({ entry }, ctx) { await ctx.jobs.dispatch("survey", { path: entry.path }, { key: "survey" }); },
  },
  jobs: {
    async survey({ path }, ctx) {
      ctx.trace.info("begun at " + (ctx.checkpoint ?? 0));
      for (let step = ctx.checkpoint ?? 0; step < 80; step++) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        await ctx.progress((step + 1) / 80, "step " + (step + 1));
        await ctx.save(step + 1);
      }
      ctx.trace.info("surveyed " + path);
    },
  },
});
`;

let desk: Desk;
beforeAll(async () => {
  desk = await openSurvey(program);
});
afterAll(() => desk[Symbol.asyncDispose]());

it("a job's progress is in the status bar, and after a killed kernel the job continues where it was", () =>
  desk.window("job", async (screen) => {
    const progress = screen.statusBar(/survey \(com\.example\.survey\)/);
    await screen.openLares();
    await screen.item(/^Agent Survey/).waitFor();
    await screen.open("notes/walks.md");
    await screen.replaceAll("along the river, and back\n");
    await screen.save();
    await progress.waitFor();
    await screen.statusBar(/step [1-9]/).waitFor();
    await screen.picture("job");

    const killed = await desk.vscode.kernel();
    process.kill(killed, "SIGKILL");
    await until("it to end", () => !isAlive(killed));
    await progress.waitFor({ state: "hidden" });
    await progress.waitFor();

    await progress.waitFor({ state: "hidden" });
    await using client = await beside(desk.vscode);
    const traces = await client.request<{ message: string }[]>("lares/traces/query", { agent });
    const begun = traces.map(({ message }) => /^begun at (\d+)$/.exec(message)?.[1]).filter(Boolean);
    expect(begun).toHaveLength(2);
    expect(Number(begun.at(-1)) + Number(begun[0])).toBeGreaterThan(0);
    expect(traces.filter(({ message }) => message === "surveyed notes/walks.md")).toHaveLength(1);
    await client.shutdown();
  }));
