import { writeFile } from "node:fs/promises";
import type { Frame } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../../support/until.ts";
import { accessibilityFaults } from "../support/accessibility.ts";
import { beside } from "../support/person.ts";
import { Desk } from "./desk.ts";
import type { Screen } from "./screen.ts";

const sorter = ".lares/extensions/sorter";
const manifest = (more = ""): string => `extension:
  id: com.example.sorter
  name: Sorter
  version: 1.2.0
  description: Puts files where they belong
  main: agent.ts
  permissions:
    read_entries: true
    propose_actions: [file.move, file.delete]
    write_tags: true
${more}  hooks:
    - { on: EntryCreated, handler: seen }
`;
const program = (text: string): string => `import { defineAgent } from "@lares/sdk";

export default defineAgent({
  hooks: {
    async seen(_event, ctx) {
      ctx.trace.info("${text}");
    },
  },
});
`;
const files = {
  "lares.yaml": `version: 1
extensions:
  - id: dev.lares.notes
    grants: { locations: [notes/] }
  - path: ./${sorter}
    grants: { locations: [photos/, letters/] }
`,
  [`${sorter}/extension.yaml`]: manifest(),
  [`${sorter}/agent.ts`]: program("first"),
  "notes/walks.md": "# Walks\n",
  "photos/2024/sea.txt": "x",
  "photos/2025/river.txt": "x",
  "letters/one.txt": "x",
};

const question = (screen: Screen): Promise<Frame> => screen.webview("main.consent article");

async function openQuestion(screen: Screen): Promise<Frame> {
  // The editor knows the command only then.
  await screen.statusBar(/Lares/).waitFor();
  await screen.command("Lares: Choose What Agents May Do");
  return await question(screen);
}

describe("the page of consent", () => {
  let desk: Desk;
  beforeAll(async () => {
    desk = await Desk.open({ files });
  });
  afterAll(() => desk[Symbol.asyncDispose]());

  it.each([
    ["light", "Default Light Modern", "vscode-light"],
    ["dark", "Default Dark Modern", "vscode-dark"],
    ["high-contrast", "Default High Contrast", "vscode-high-contrast"],
    ["high-contrast-light", "Default High Contrast Light", "vscode-high-contrast-light"],
  ])("can be read and used by everyone in a %s theme, wide and narrow", async (name, theme, className) => {
    await desk.vscode.configure({ "workbench.colorTheme": theme });
    await desk.window(`consent ${name}`, async (screen) => {
      const page = await openQuestion(screen);
      await page.locator(`body.${className}`).waitFor();
      expect(await accessibilityFaults(page, "editor")).toEqual([]);
      await screen.picture(`consent-${name}`);
      await screen.command("View: Toggle Primary Side Bar Visibility");
      await screen.page.setViewportSize({ width: 348, height: 900 });
      await until("no part of the page to be wider than it", () =>
        page.evaluate<boolean>("innerWidth <= 310 && document.documentElement.scrollWidth <= innerWidth"),
      );
      expect(await accessibilityFaults(page, "editor")).toEqual([]);
      await screen.picture(`consent-narrow-${name}`);
    });
  });

  it("by keyboard alone, a person grants one folder and one permission; the rest stays withheld", () =>
    desk.window("consent by keyboard", async (screen) => {
      const page = await openQuestion(screen);
      const { keyboard } = screen.page;
      const focused = (): Promise<string> =>
        page.evaluate<string>(
          "(document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.closest('label')?.innerText ?? document.activeElement?.textContent ?? '').trim()",
        );
      const tabTo = async (text: string): Promise<void> => {
        for (let tabs = 0; tabs < 60; tabs++) {
          if ((await focused()).startsWith(text)) return;
          await keyboard.press("Tab");
        }
        throw new Error(`Tab does not come to "${text}".`);
      };
      await until("the first box to have the focus", async () => (await focused()).includes("is ticked"));
      await tabTo("Sorter: nothing is ticked");
      await tabTo("All files");
      await keyboard.press("Space");
      await tabTo("photos");
      await keyboard.press("Space");
      await tabTo("Only some folders inside");
      await keyboard.press("Enter");
      await page.getByLabel("2024").waitFor();
      await tabTo("2024");
      await keyboard.press("Space");
      await tabTo("letters");
      await keyboard.press("Space");
      await screen.picture("consent-partly");
      await tabTo("Allow Selected");
      await keyboard.press("Enter");
      await screen.openLares();
      await screen.item(/^Agent Sorter, (Active|Asleep)/).waitFor();
      await using client = await beside(desk.vscode, false);
      const agents =
        await client.request<{ id: string; permissions: string[]; locations: string[] }[]>(
          "lares/agents/list",
        );
      expect(agents.find(({ id }) => id === "com.example.sorter")).toMatchObject({
        permissions: ["read_entries"],
        locations: ["photos/2024"],
      });
      expect(agents.find(({ id }) => id === "dev.lares.notes")).toMatchObject({ permissions: [] });
    }));

  it("a changed program shows its difference, and a new permission is not ticked", () =>
    desk.window("consent changed", async (screen) => {
      const place = desk.vscode.workspace(`${sorter}/agent.ts`);
      await writeFile(place, program("second"));
      await writeFile(
        desk.vscode.workspace(`${sorter}/extension.yaml`),
        manifest("    dispatch_jobs: true\n"),
      );
      const page = await openQuestion(screen);
      const card = page.getByRole("article", { name: "Sorter" });
      await card.getByText("New: Longer work in the background").waitFor();
      await card.getByRole("button", { name: "Show what changed in the program" }).click();
      await card.getByRole("button", { name: "agent.ts" }).click();
      await card.getByText('ctx.trace.info("second")').waitFor();
      expect(await card.locator(".diff .removed").innerText()).toContain('ctx.trace.info("first")');
      expect(await card.getByLabel("Longer work in the background").isChecked()).toBe(false);
      expect(await card.getByLabel("All files").isChecked()).toBe(true);
      await screen.picture("consent-changed");
      expect(await accessibilityFaults(page, "editor")).toEqual([]);
      await page.getByRole("button", { name: "Allow Selected" }).click();
      await screen.openLares();
      await screen.item(/^Agent Sorter, (Active|Asleep)/).waitFor();
    }));

  it("a permission can be revoked on the same page", () =>
    desk.window("consent taken back", async (screen) => {
      const page = await openQuestion(screen);
      // Narrow, its cards wrap beside their buttons, and no word in a button is broken.
      await screen.command("View: Toggle Primary Side Bar Visibility");
      await screen.page.setViewportSize({ width: 348, height: 900 });
      await until("the page to be narrow", () => page.evaluate<boolean>("innerWidth <= 310"));
      const heights = await page.evaluate<number[]>(
        `[...document.querySelectorAll(".card-head > button")].map((button) => button.clientHeight)`,
      );
      expect(heights.length).toBeGreaterThan(0);
      for (const height of heights) expect(height).toBeLessThan(40);
      await screen.picture("consent-narrow-allowed");
      await screen.page.setViewportSize({ width: 1400, height: 900 });
      await page.getByRole("checkbox", { name: /^Sorter:/ }).click();
      await page.getByRole("checkbox", { name: /^Sorter:/ }).click();
      await page.getByRole("button", { name: "Take Back All" }).click();
      await screen.openLares();
      await screen.item(/^Agent Sorter/).waitFor();
      await using client = await beside(desk.vscode, false);
      const agents = await client.request<{ awaiting?: string }[]>("lares/agents/list");
      expect(agents.map(({ awaiting }) => awaiting)).toEqual(["acceptance", "acceptance"]);
    }));
});
