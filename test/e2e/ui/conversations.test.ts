import { readFile } from "node:fs/promises";
import type { Frame } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../../support/until.ts";
import { accessibilityFaults } from "../support/accessibility.ts";
import type { Desk } from "./desk.ts";
import type { Screen } from "./screen.ts";
import { beginTalk, messageField, mindFiles, openTalk, say, scriptedModel } from "./talk.ts";

const files = mindFiles(
  { direct_tools: ["files/read", "files/write"] },
  { effects: ["file.write", "file.edit"], files: { "notes/walks.md": "along the river\n" } },
);
const written = `# Walks

There is **one** note. It says:

> along the river

| note | lines |
| --- | --- |
| walks.md | 1 |

\`\`\`ts
const walks = ["river"];
\`\`\`

See [the map](https://maps.example.org/river?zoom=3), not [this](command:lares.approve) or ![x](https://evil.invalid/x.png) <img src=x>.
`;
const userFiles = scriptedModel(8000, [
  {
    process: "channel",
    when: "walks?",
    think: "I look into the note.",
    say: "Let me see.",
    call: [{ tool: "files/read", arguments: { path: "notes/walks.md" } }],
    repeat: true,
  },
  { process: "channel", when: "along the river", say: written, repeat: true },
  {
    process: "channel",
    when: "two notes",
    call: [
      {
        tool: "files/write",
        arguments: { path: "notes/a.md", content: "# A\n", reason: "You asked for it." },
      },
      {
        tool: "files/write",
        arguments: { path: "notes/b.md", content: "# B\n", reason: "You asked for it." },
      },
    ],
  },
  { process: "channel", when: "Waits for the person", say: "I proposed them.", repeat: true },
  { process: "channel", when: "Committed", say: "It is done.", repeat: true },
  {
    process: "channel",
    when: "count them",
    call: [{ tool: "spawn_worker", arguments: { task: "Count the notes" } }],
  },
  {
    process: "worker",
    when: "Count the notes",
    call: [{ tool: "files/list", arguments: {} }],
    delay_ms: 1500,
  },
  { process: "worker", when: "readme.md", say: "There is **one** note." },
  { process: "channel", when: '"process"', say: "A worker counts." },
  { process: "channel", when: "There is", say: "The worker found one note." },
  { process: "channel", when: "slow", say: "This takes a while.", delay_ms: 600_000, repeat: true },
  {
    process: "channel",
    when: "broken",
    error: { class: "Unauthorized", message: "The key is not accepted." },
    repeat: true,
  },
  { process: "channel", when: "", say: "Understood.", repeat: true },
]);

let desk: Desk;
beforeAll(async () => {
  desk = await openTalk(files, userFiles);
});
afterAll(() => desk[Symbol.asyncDispose]());

it("a message is answered: thoughts and calls are folded, and text is drawn without what a model must not do", () =>
  desk.window("conversation", async (screen) => {
    const page = await beginTalk(screen);
    await say(page, "What about my walks?");
    await page.getByRole("heading", { name: "Walks", exact: true }).waitFor();
    await page.locator(".log").getByText("https://maps.example.org/river?zoom=3").waitFor();
    expect(await page.locator("img, a").count()).toBe(0);
    await page.locator(".log").getByText("[this](command:lares.approve)").waitFor();
    const call = page.getByRole("button", { name: /files\/read notes\/walks\.md/ });
    expect(await call.getAttribute("aria-expanded")).toBe("false");
    await call.click();
    await page.locator(".log").getByText("along the river").first().waitFor();
    await page.getByRole("button", { name: "Thoughts" }).click();
    await page.locator(".log").getByText("I look into the note.").waitFor();
    await page
      .locator(".status-line")
      .getByText(/of 8,000 tokens/)
      .waitFor();
    await page.getByRole("button", { name: "Foreign text" }).click();
    await page.locator(".head-panel").getByText("scripted", { exact: true }).waitFor();
    await screen.picture("conversation");
  }));

it("two proposals are decided in their place: one by its card, both undone by their turn", () =>
  desk.window("conversation-approval", async (screen) => {
    const page = await beginTalk(screen);
    await say(page, "Write two notes");
    await page.locator(".log").getByText("I proposed them.").waitFor();
    const cards = page.locator(".review.inline article");
    await until("both cards", async () => (await cards.count()) === 2);
    await page.locator(".sign").getByText("2 wait for you").waitFor();
    await cards.first().getByText("# A").waitFor();
    await screen.picture("conversation-approval");
    await cards
      .first()
      .getByRole("button", { name: /^Approve/ })
      .click();
    await until("the first note", async () => await onDisk("notes/a.md"));
    await page.locator(".sign").getByText("1 waits for you").first().waitFor();
    await cards
      .nth(1)
      .getByRole("button", { name: /^Approve/ })
      .click();
    await until("the second note", async () => await onDisk("notes/b.md"));
    await page.locator(".log").getByText("It is done.").first().waitFor();
    await page.getByRole("button", { name: "Undo this turn" }).click();
    const question = screen.page.locator(".monaco-dialog-box");
    await question.getByRole("button", { name: /Undo/ }).click();
    await until(
      "both to be undone",
      async () => !(await onDisk("notes/a.md")) && !(await onDisk("notes/b.md")),
    );
    await screen.picture("conversation-undone");
  }));

it("a worker is a row that opens its own transcript", () =>
  desk.window("conversation-worker", async (screen) => {
    const page = await beginTalk(screen);
    await say(page, "Please count them");
    await page.locator(".sign").getByText("1 working").first().waitFor();
    await screen.picture("conversation-worker");
    await page.locator(".log").getByText("The worker found one note.").waitFor();
    await page.locator(".task", { hasText: "Count the notes" }).click();
    await page.getByRole("button", { name: /files\/list/ }).waitFor();
    await screen.picture("conversation-worker-opened");
    await page.getByRole("button", { name: "Back to the conversation" }).click();
    await page.locator(messageField).waitFor();
  }));

it("what runs is stopped, a failure says what to do, and a fork begins at a message", () =>
  desk.window("conversation-stop", async (screen) => {
    const page = await beginTalk(screen);
    await say(page, "Hello there");
    await page.locator(".log").getByText("Understood.").waitFor();
    await say(page, "slow");
    await page.getByRole("button", { name: "Stop" }).waitFor();
    await screen.picture("conversation-working");
    await page.locator(messageField).press("Escape");
    await page.locator(".log").getByText("Stopped here.").waitFor();
    await say(page, "broken");
    await page.locator(".log").getByText("The key is not accepted.").waitFor();
    await page
      .locator(".log")
      .getByText(/Check the key/)
      .waitFor();
    await screen.picture("conversation-failed");
    const first = page.locator(".answer").first();
    await first.hover();
    await first.getByRole("button", { name: "Fork from here" }).click();
    await page.locator(".log").getByText("The key is not accepted.").waitFor({ state: "detached" });
    await page.locator(".log").getByText("Understood.").waitFor();
    await page.getByRole("button", { name: "All conversations" }).click();
    await page.locator(".conversation-row").nth(1).waitFor();
    await screen.picture("conversation-list");
  }));

it("what the model sees is shown by section", () =>
  desk.window("conversation-context", async (screen) => {
    const page = await beginTalk(screen);
    await say(page, "Hello there");
    await page.locator(".log").getByText("Understood.").waitFor();
    await page.getByRole("button", { name: "What the model sees" }).first().click();
    await page.getByRole("heading", { name: "What the model sees" }).waitFor();
    await page.getByRole("button", { name: /Who the agent is/ }).click();
    await page.locator(".sections").getByText("I am calm.").waitFor();
    await screen.picture("conversation-context");
    await screen.page.keyboard.press("Escape");
    await page.locator(messageField).waitFor();
  }));

it("everything is reached by keys: a file is completed, earlier words are recalled", () =>
  desk.window("conversation-keys", async (screen) => {
    const page = await beginTalk(screen);
    const { keyboard } = screen.page;
    await page.locator(`${messageField}:focus`).waitFor();
    await keyboard.type("Look at @walk");
    await page.getByRole("option", { name: "notes/walks.md" }).waitFor();
    await screen.picture("conversation-completion");
    await keyboard.press("Enter");
    await page.getByRole("button", { name: "Remove notes/walks.md" }).waitFor();
    await keyboard.press("Enter");
    // The kernel reads the file that was named, as if the model had asked for it.
    await page.getByRole("heading", { name: "Walks", exact: true }).waitFor();
    await page.locator(".you .chip", { hasText: "notes/walks.md" }).waitFor();
    await keyboard.press("ArrowUp");
    await until("the words to be recalled", async () =>
      (await page.locator(messageField).inputValue()).startsWith("Look at"),
    );
    await keyboard.press("Alt+ArrowUp");
    await page.locator(".turn:focus").waitFor();
    await keyboard.press("Tab");
    await page.locator(".turn :focus").waitFor();
  }));

it("an editor of its own shows a conversation, and what is selected is added to the next message", () =>
  desk.window("conversation-editor", async (screen) => {
    const page = await beginTalk(screen);
    await say(page, "What about my walks?");
    await page.getByRole("heading", { name: "Walks", exact: true }).waitFor();
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("button", { name: "Open in an editor" }).click();
    await screen.page.getByRole("tab", { name: /^What about my walks/ }).waitFor();
    await until("two pages", async () => (await pagesWith(screen, "Walks")) === 2);
    await screen.command("View: Toggle Secondary Side Bar Visibility");
    await screen.picture("conversation-editor");
    await screen.open("notes/walks.md");
    await screen.page.keyboard.press("Control+A");
    await screen.command("Lares: Add Selection to Conversation");
    const shown = await screen.webview(messageField);
    await shown.getByRole("button", { name: "Remove notes/walks.md, line 1" }).waitFor();
  }));

it("the view keeps its draft and is answered after the kernel was killed", () =>
  desk.window("conversation-kernel", async (screen) => {
    const page = await beginTalk(screen);
    await say(page, "Hello there");
    await page.locator(".log").getByText("Understood.").waitFor();
    await page.locator(messageField).fill("half a sentence");
    const kernel = await desk.vscode.kernel();
    process.kill(kernel, "SIGKILL");
    await until("another kernel", () => desk.vscode.kernels().some((pid) => pid !== kernel));
    const again = await screen.webview(messageField);
    await until(
      "the draft",
      async () => (await again.locator(messageField).inputValue()) === "half a sentence",
    );
    await say(again, "and again");
    await until(
      "a second answer",
      async () => (await again.locator(".log").getByText("Understood.").count()) === 2,
    );
  }));

describe.each([
  ["light", "Default Light Modern", "vscode-light"],
  ["dark", "Default Dark Modern", "vscode-dark"],
  ["high contrast", "Default High Contrast", "vscode-high-contrast"],
  ["high contrast on white", "Default High Contrast Light", "vscode-high-contrast-light"],
])("%s", (name, theme, className) => {
  it("the pages can be read and used by everyone, as far as a machine can tell", async () => {
    await desk.vscode.configure({
      "workbench.colorTheme": theme,
      "workbench.secondarySideBar.defaultVisibility": "visible",
    });
    await desk.window(`conversation accessibility ${name}`, async (screen) => {
      const found: string[] = [];
      const look = async (what: string, page: Frame): Promise<void> => {
        await page.locator(`body.${className}`).waitFor();
        for (const fault of await accessibilityFaults(page, "sideBar")) found.push(`${what}: ${fault}`);
      };
      const page = await beginTalk(screen);
      await say(page, "What about my walks?");
      await page.getByRole("heading", { name: "Walks", exact: true }).waitFor();
      await page.getByRole("button", { name: /files\/read/ }).click();
      await page.getByRole("button", { name: "Thoughts" }).click();
      await say(page, "broken");
      await page.locator(".log").getByText("The key is not accepted.").waitFor();
      await page.getByRole("button", { name: "More" }).click();
      await look("conversation", page);
      await screen.picture(`conversation-${name.replaceAll(" ", "-")}`);
      await page.locator(messageField).fill("@walk");
      await page.getByRole("option").first().waitFor();
      await look("completion", page);
      await page.locator(messageField).fill("");
      await page.getByRole("button", { name: "What the model sees" }).first().click();
      await page.getByRole("button", { name: /What was said/ }).click();
      await look("context", page);
      await page.getByRole("button", { name: "Back to the conversation" }).click();
      await page.getByRole("button", { name: "All conversations" }).click();
      await page.locator(".conversation-row").first().waitFor();
      await look("list", page);
      expect(found).toEqual([]);
    });
  });
});

async function onDisk(path: string): Promise<boolean> {
  return await readFile(desk.vscode.workspace(path), "utf8").then(
    () => true,
    () => false,
  );
}

async function pagesWith(screen: Screen, heading: string): Promise<number> {
  const counts = await Promise.all(
    screen.page.frames().map((frame) =>
      frame
        .getByRole("heading", { name: heading, exact: true })
        .count()
        .catch(() => 0),
    ),
  );
  return counts.filter((count) => count > 0).length;
}
