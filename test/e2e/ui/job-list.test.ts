import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../../support/until.ts";
import { beside } from "../support/person.ts";
import type { Desk } from "./desk.ts";
import { agent, openSurvey } from "./survey.ts";

/** One running job with progress, one that waits for quiet, and more after them than are shown. */
const program = `
import { defineAgent } from "@lares/sdk";
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
export default defineAgent({
  hooks: {
    async saved(_, ctx) {
      await ctx.jobs.dispatch("survey", null, { key: "survey", priority: "high" });
      await ctx.jobs.dispatch("tidy up", null, { key: "tidy", whenIdle: true });
      for (let n = 1; n <= 25; n++) await ctx.jobs.dispatch("resize", n, { key: "resize " + n, priority: "low" });
    },
  },
  jobs: {
    async survey(_, ctx) {
      for (let step = 1; !ctx.signal.aborted; step++) {
        // Refused for a job that is cancelled meanwhile.
        await ctx.progress(0.4, "step " + step + " $(trash)\u202e").catch(() => undefined);
        await sleep(100);
      }
      ctx.trace.info("left as it was told");
    },
    async resize(_, ctx) { while (!ctx.signal.aborted) await sleep(50); },
    "tidy up"() {},
  },
});
`;

describe.each([
  ["light", "Default Light Modern"],
  ["dark", "Default Dark Modern"],
])("in a %s theme", (theme, name) => {
  let desk: Desk;
  beforeAll(async () => {
    desk = await openSurvey(program, { "workbench.colorTheme": name });
  });
  afterAll(() => desk[Symbol.asyncDispose]());

  it("an agent's jobs are seen in the tree, and cancelled from there by mouse and by keyboard", () =>
    desk.window(`job list ${theme}`, async (screen) => {
      await screen.openLares();
      for (const other of ["Approvals", "Activity", "Memory"]) await screen.fold(other);
      await screen.item(/^Agent Survey/).waitFor();
      await screen.open("notes/walks.md");
      await screen.replaceAll("along the river, and back\n");
      await screen.save();

      await screen.item(/^Agent Survey/).click();
      await screen.item(/^Jobs, 1 running, 26 queued/).click();
      // Live, with a stranger's text made plain.
      const survey = screen.item(/^Job survey, 40 % · step \d+ \$<U\+0028>trash\)/);
      await survey.waitFor();
      const first = await survey.getAttribute("aria-label");
      await until("another step", async () => (await survey.getAttribute("aria-label")) !== first);
      await screen.item(/^Job tidy up, starts when the workspace is quiet/).waitFor();
      await screen.page.getByText("… and 7 more").waitFor();
      await screen.picture(`jobs-${theme}`);

      const waiting = screen.item(/^Job tidy up/);
      await waiting.hover();
      await waiting.getByRole("button", { name: "Cancel Job" }).click();
      await waiting.waitFor({ state: "hidden" });
      await screen.item(/^Jobs, 1 running, 25 queued/).waitFor();

      await survey.click();
      await screen.page.keyboard.press("Shift+F10");
      await screen.page.getByRole("menuitem", { name: "Cancel Job" }).waitFor();
      await screen.picture(`jobs-menu-${theme}`);
      await screen.page.keyboard.press("ArrowDown");
      await screen.page.keyboard.press("Enter");
      await survey.waitFor({ state: "hidden" });
      // The next one takes its place.
      await screen.item(/^Job resize, running/).waitFor();
      await screen.item(/^Jobs, 1 running, 24 queued/).waitFor();

      // The editor's own progress has a button for it, too.
      await screen.statusBar(/resize \(com\.example\.survey\)/).click();
      const shown = screen.page.locator(".notifications-center");
      await shown.getByRole("button", { name: "Cancel" }).click();
      await screen.item(/^Jobs, 1 running, 23 queued/).waitFor();

      await using client = await beside(desk.vscode);
      const told = async (): Promise<readonly string[]> =>
        (await client.request<{ message: string }[]>("lares/traces/query", { agent })).map(
          ({ message }) => message,
        );
      // The handler reports this when it is told, perhaps after its job left the tree.
      await until("the handler to leave", async () => (await told()).includes("left as it was told"));
      expect(await told()).toContain("the job survey was cancelled by a person");
      await client.shutdown();
    }));
});
