import { access, mkdir, readFile, writeFile } from "node:fs/promises";
import type { Frame } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { until } from "../../support/until.ts";
import { accessibilityFaults } from "../support/accessibility.ts";
import { acceptDocuments, beside } from "../support/person.ts";
import { Desk } from "./desk.ts";
import type { Screen } from "./screen.ts";

const agent = "com.example.rewriter";
const lines = (changed: Readonly<Record<number, string>> = {}): string =>
  Array.from(
    { length: 30 },
    (_, index) => `${changed[index + 1] ?? `Line ${index + 1} of the long note.`}\n`,
  ).join("");
const reason =
  "The note starts without a heading, so it shows up under its file's name in the list of trips. I took the title from the first sentence, and left everything else as it is.";
const files = {
  "lares.yaml": `version: 1
extensions:
  - id: ${agent}
    grants: { locations: [notes, photos] }
approvals:
  auto_approve_below: 0
`,
  ".lares/extensions/rewriter/extension.yaml": `extension:
  id: ${agent}
  name: Rewriter
  version: 1.0.0
  description: Proposes what it is told to
  main: agent.ts
  permissions:
    read_entries: true
    write_tags: true
    propose_actions: ["file.*"]
  tools:
    - name: suggest
      description: Proposes these effects
      handler: suggest
      parameters: { type: object }
`,
  ".lares/extensions/rewriter/agent.ts": `import { defineAgent } from "@lares/sdk";
export default defineAgent({
  tools: {
    async suggest({ effects, title, reason }: { effects: any; title: string; reason: string }, ctx) {
      await ctx.actions.propose(effects, { title, reason });
      return null;
    },
  },
});
`,
  "notes/walks.md": "Along the river and back, three hours.\n\nPark at the old mill.\n",
  "notes/long.md": lines(),
  "notes/scratch.md": "Old things.\n",
  "notes/garden.md": "Water the lavender.\n",
  "notes/edited.md": "First.\nSecond.\n",
  "notes/rejected.md": "First.\n",
};

let desk: Desk;
beforeAll(async () => {
  desk = await Desk.open({ files });
  await acceptDocuments(desk.vscode);
  await mkdir(desk.vscode.workspace("photos/2024"), { recursive: true });
  const icon = new URL("../../../vscode-client/media/icon.png", import.meta.url);
  await writeFile(desk.vscode.workspace("photos/2024/dunes (1).png"), await readFile(icon));
  const edits = (path: string, find: string, replace: string) => ({
    kind: "file.edit",
    path,
    edits: [{ find, replace }],
  });
  await using client = await beside(desk.vscode);
  const suggest = async (title: string, effects: readonly object[], why = reason): Promise<void> => {
    await until("the proposal to be taken", async () => {
      try {
        await client.request("lares/tools/call", {
          agent,
          name: "suggest",
          arguments: { title, reason: why, effects },
        });
        return true;
      } catch (error) {
        if (/starting|not found|no file|Untrusted/i.test(String(error))) return undefined;
        throw error;
      }
    });
  };
  await suggest("Give it a title", [
    {
      kind: "file.write",
      path: "notes/walks.md",
      content:
        "# Along the river\n\nAlong the river and back.\n\nDuration: three hours.\n\nPark at the old mill.\n",
    },
  ]);
  await suggest('Tidy <button class="primary">Approve</button> the long note', [
    {
      kind: "file.write",
      path: "notes/long.md",
      content: lines({ 2: "The second line.", 28: "The last but two." }),
    },
  ]);
  await suggest("Rewrite the notes and drop the old one", [
    edits("notes/garden.md", "Water the lavender.", "Water the lavender twice a week."),
    { kind: "file.delete", path: "notes/scratch.md" },
    { kind: "file.move", from: "photos/2024/dunes (1).png", to: "photos/archive/duplicates/dunes (1).png" },
  ]);
  await suggest("Mend the first line", [edits("notes/edited.md", "First.", "First of all.")]);
  await suggest("Shorten it", [edits("notes/rejected.md", "First.", "1.")]);
  await suggest(
    "Tag the garden",
    [{ kind: "tag.add", path: "notes/garden.md", tag: "green" }],
    "It is about plants.",
  );
  await client.shutdown();
});
afterAll(() => desk[Symbol.asyncDispose]());

const onDisk = (path: string): Promise<string> => readFile(desk.vscode.workspace(path), "utf8");
const exists = (path: string): Promise<boolean> =>
  access(desk.vscode.workspace(path)).then(
    () => true,
    () => false,
  );

async function openReview(screen: Screen): Promise<Frame> {
  await screen.openLares();
  await screen.item(/^Agent Rewriter/).waitFor();
  await screen.item(/Give it a title/).waitFor();
  await screen.command("Lares: Review Pending Changes");
  const page = await screen.webview(".review .card");
  await page.getByRole("heading", { name: /changes? waits? for you/ }).waitFor();
  return page;
}
const card = (page: Frame, name: string) => page.locator(".card", { hasText: name }).first();

it.each([
  ["dark", "Default Dark Modern", 1],
  ["light", "Default Light Modern", 1],
  ["high contrast", "Default High Contrast", 1],
  ["high contrast on white", "Default High Contrast Light", 1],
  ["large, at 200 %", "Default Dark Modern", 3.8],
] as const)(
  "every word of what waits is there, in %s, for everyone as far as a machine can tell",
  async (name, theme, zoomLevel) => {
    await desk.vscode.configure({ "workbench.colorTheme": theme, "window.zoomLevel": zoomLevel });
    await desk.window(`review ${name}`, async (screen) => {
      // A browser's window has no zoom of its own: half the size corresponds to 200 %.
      if (zoomLevel > 1) await screen.page.setViewportSize({ width: 700, height: 900 });
      const page = await openReview(screen);
      await card(page, "Give it a title").locator(".line.add").first().waitFor();
      const text = await card(page, "Give it a title").innerText();
      for (const word of ["walks.md", "notes", "Give it a title", "Rewriter", reason, "Can be undone."])
        expect(text).toContain(word);
      const large = await card(page, "Rewrite the notes").innerText();
      for (const word of [
        "3 files, deletes 1, moves 1",
        "Deletes notes/scratch.md",
        "photos/archive/duplicates/dunes (1).png",
      ])
        expect(large.replaceAll(/\s+/g, " ")).toContain(word);
      const cut = await page.evaluate<string[]>(
        `[...document.querySelectorAll(".card *")].filter((each) => getComputedStyle(each).textOverflow === "ellipsis" || each.scrollWidth > each.clientWidth + 1 && getComputedStyle(each).overflowX === "hidden" && !each.classList.contains("sr")).map((each) => each.className)`,
      );
      expect(cut).toEqual([]);
      await screen.picture(`review-${name.replaceAll(/[ ,%]+/g, "-")}`);
      expect(await accessibilityFaults(page, "editor")).toEqual([]);
    });
    await desk.vscode.configure({ "workbench.colorTheme": "Default Dark Modern", "window.zoomLevel": 0 });
  },
);

it("an agent's title is text: it makes no button of its own", () =>
  desk.window("review title", async (screen) => {
    const page = await openReview(screen);
    const hostile = card(page, "the long note");
    expect(await hostile.innerText()).toContain(
      'Tidy <button class="primary">Approve</button> the long note',
    );
    // The client's own button, beside the others at the foot.
    expect(await hostile.locator("button", { hasText: /^Approve$/ }).count()).toBe(1);
    expect(
      await hostile.locator(".card-title").evaluate((title: { innerHTML: string }) => title.innerHTML),
    ).toContain("&lt;button");
  }));

it("what waits is drawn into its file, and its lens approves what is in that file", () =>
  desk.window("review inline", async (screen) => {
    await screen.openLares();
    await screen.item(/Give it a title/).waitFor();
    await screen.open("notes/long.md");
    await screen.lens("Rewriter: adds 2 lines, removes 2").waitFor();
    await screen.goToEndOf(1);
    await screen.page.keyboard.press("Alt+F5");
    await screen.statusBar(/Ln 2,/).waitFor();
    await screen.picture("review-inline");
    await screen.open("notes/garden.md");
    await screen.lens("elsewhere 2 other changes, deletes 1, moves 1").waitFor();
    await screen.lens("Approve in this file only").waitFor();
    await screen.picture("review-lens-of-large");
  }));

it("by keys alone: leave a part out, reject with a reason, and approve; the large one is shown first and never in a batch", () =>
  desk.window("review keys", async (screen) => {
    const page = await openReview(screen);
    const { keyboard } = screen.page;
    await card(page, "the long note").locator(".part").nth(1).waitFor();
    await card(page, "the long note").locator(".part").nth(1).getByRole("button").click();
    await card(page, "the long note").getByRole("button", { name: "Approve 1 of 2 parts" }).waitFor();
    await screen.picture("review-part-left-out");

    await card(page, "Shorten it").locator("h3").click();
    await card(page, "Shorten it").focus();
    await keyboard.press("r");
    // Typed at once: no letter or space of it decides anything.
    await keyboard.type("a reason: keep it, a word is no number");
    await page.getByText("Why not? Rewriter reads this.").waitFor();
    await page.getByRole("button", { name: "Reject with this reason" }).waitFor();
    await screen.picture("review-reject");
    await keyboard.press("Enter");
    await card(page, "Shorten it").locator(".meta", { hasText: "Rejected" }).waitFor();

    await card(page, "Rewrite the notes").focus();
    await keyboard.press("Space");
    expect(await page.locator(".batch").count()).toBe(0);
    await page.getByRole("button", { name: /^Select all/ }).click();
    await page.locator(".batch").waitFor();
    expect(await page.locator(".batch").innerText()).toContain("3 selected");
    await screen.picture("review-batch");
    await page.getByRole("button", { name: "Clear" }).click();

    await card(page, "Rewrite the notes").getByRole("button", { name: "Approve all 3…" }).click();
    await page.getByText("Approve all 3? Deletes 1 file", { exact: false }).waitFor();
    await screen.picture("review-large");
    await keyboard.press("Escape");
    expect(await exists("notes/scratch.md")).toBe(true);
    await card(page, "Rewrite the notes").getByRole("button", { name: "Approve 2, keep scratch.md" }).click();
    await until("the move", () => exists("photos/archive/duplicates/dunes (1).png"));
    expect(await exists("notes/scratch.md")).toBe(true);
    expect(await onDisk("notes/garden.md")).toContain("twice a week");

    // A decision moves the focus to the next card; the test continues after that.
    await card(page, "Rewrite the notes")
      .locator(".meta", { hasText: /Applied/ })
      .waitFor();
    const mend = card(page, "Mend the first line");
    await mend.locator("h3").click();
    await mend.focus();
    await until("the focus", () => mend.evaluate((node) => node.contains(node.ownerDocument.activeElement)));
    await keyboard.press("a");
    await until(
      "the change on disk",
      async () => (await onDisk("notes/edited.md")) === "First of all.\nSecond.\n",
    );
    const applied = card(page, "Mend the first line");
    await applied.locator(".meta", { hasText: /Applied \d\d:\d\d/ }).waitFor();
    await applied.getByRole("button", { name: "Show what changed" }).click();
    await applied.locator(".diff-heading", { hasText: /^Applied \d\d:\d\d$/ }).waitFor();
    expect(await applied.locator(".line.add").count()).toBeGreaterThan(0);
    await screen.picture("review-applied");
    await applied.getByRole("button", { name: "Undo" }).click();
    await until("the old text", async () => (await onDisk("notes/edited.md")) === "First.\nSecond.\n");
    await applied.locator(".diff-heading", { hasText: /^Undone \d\d:\d\d$/ }).waitFor();
    await screen.picture("review-undone");

    // A change that is not small is first shown by the key and then approved; its diff shows the outcome.
    await card(page, "Give it a title").focus();
    await keyboard.press("a");
    const tab = screen.page.getByRole("tab", { name: /walks\.md \(Lares: Give it a title/ });
    await tab.waitFor();
    expect(await onDisk("notes/walks.md")).toMatch(/^Along/);
    await screen.command("Lares: Review Pending Changes");
    // A click also moves the window's focus into the page.
    await card(page, "Give it a title").locator("h3").click();
    await keyboard.press("a");
    await until("the change on disk", async () => (await onDisk("notes/walks.md")).startsWith("# Along"));
    await tab.click();
    await screen.page.getByRole("tab", { name: /^Applied \d\d:\d\d: walks\.md/ }).waitFor();
    await screen.page.locator(".monaco-diff-editor .line-insert").first().waitFor();
    await screen.picture("review-frozen");
  }));

it("a rule's changes are separate, with their rule, and can be undone there", () =>
  desk.window("review automatic", async (screen) => {
    const page = await openReview(screen);
    const automatic = card(page, "Tag the garden");
    await automatic.locator(".meta", { hasText: "Applied automatically" }).waitFor();
    await automatic.scrollIntoViewIfNeeded();
    await screen.picture("review-automatic");
    await automatic.getByRole("button", { name: "Undo" }).click();
    await automatic.locator(".meta", { hasText: "Undone" }).waitFor();
  }));
