import type { Frame } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { until } from "../../support/until.ts";
import { announcedIn, listenIn, streamedIn } from "../support/announced.ts";
import type { Desk } from "./desk.ts";
import type { Screen } from "./screen.ts";
import { beginTalk, messageField, mindFiles, openTalk, say, scriptedModel } from "./talk.ts";

const files = mindFiles(
  { direct_tools: ["files/read", "files/write"] },
  { files: { "notes/walks.md": "along the river\n" } },
);
/** Long enough to be drawn before it is whole. */
const story = `There is one note. ${"It goes along the river. ".repeat(600).trim()}`;
const userFiles = scriptedModel(64_000, [
  {
    process: "channel",
    when: "walks?",
    say: "Let me see.",
    call: [{ tool: "files/read", arguments: { path: "notes/walks.md" } }],
  },
  { process: "channel", when: "along the river", say: story },
  { process: "channel", when: "thank", say: "You are welcome.", repeat: true },
  {
    process: "channel",
    when: "Write a note",
    call: [
      {
        tool: "files/write",
        arguments: { path: "notes/a.md", content: "# A\n", reason: "You asked for it." },
      },
    ],
  },
  { process: "channel", when: "Waits for the person", say: "I proposed it." },
  { process: "channel", when: "Committed", say: "It is written." },
  { process: "channel", when: "cut", say: "This is only the beginning", cut: "length" },
  { process: "channel", when: "slow", say: "Later.", delay_ms: 600_000 },
  { process: "channel", when: "broken", error: { class: "Unauthorized", message: "The key is wrong." } },
]);

let desk: Desk;
beforeAll(async () => {
  desk = await openTalk(files, userFiles);
});
afterAll(() => desk[Symbol.asyncDispose]());

/** A new conversation, and what a screen reader is given of it. */
class Listener {
  readonly page: Frame;

  private constructor(page: Frame) {
    this.page = page;
  }

  static async begin(screen: Screen): Promise<Listener> {
    const page = await beginTalk(screen);
    await listenIn(page);
    return new Listener(page);
  }

  async say(text: string): Promise<void> {
    await say(this.page, text);
  }

  /** Resolves to all that was announced so far, with its politeness, once something like `last` was, `times` times. */
  announced(last: RegExp, times = 1): Promise<string[]> {
    return until(`${last} to be announced`, async () => {
      const heard = (await announcedIn(this.page)).map(({ politeness, text }) => `${politeness}: ${text}`);
      return heard.filter((text) => last.test(text)).length >= times && heard;
    });
  }

  /** Returns roles, names and texts in the order of reading. */
  read(selector: string): Promise<string> {
    return this.page.locator(selector).ariaSnapshot();
  }
}

it("an answer that streams is announced once and politely, and again where it says the same; the transcript says who speaks and what a call did", () =>
  desk.window("screen-reader-answer", async (screen) => {
    const reader = await Listener.begin(screen);
    await reader.say("What about my walks?");
    const heard = await reader.announced(/There is one note/);
    // Otherwise nothing could have been announced piece by piece.
    expect(await streamedIn(reader.page)).toBeGreaterThan(0);
    expect(heard).toEqual([
      "polite: Steward is working.",
      "polite: Steward: Let me see.",
      expect.stringMatching(/^polite: Steward: There is one note\. [^]{300,400}…$/),
    ]);

    const call = reader.page.getByRole("button", { name: /^files\/read notes\/walks\.md/ });
    await call.click();
    const log = await reader.read(".log");
    expect(log).toMatch(/- log "Conversation":/);
    expect(log.match(/- region "[^"]*"/g)).toEqual([
      '- region "You"',
      '- region "Steward"',
      '- region "Steward"',
    ]);
    expect(log).toMatch(
      /- region "You":[^]*What about my walks\?[^]*- region "Steward":[^]*Let me see\.[^]*files\/read notes[^]*- region "Steward":[^]*There is one note/,
    );
    expect(log).toMatch(/- button "files\/read notes\/walks\.md[^"]*" \[expanded\]/);
    expect(log).toMatch(/- group "Arguments of files\/read": [^\n]*notes\/walks\.md/);
    expect(log).toMatch(/- group "Result of files\/read": [^\n]*along the river/);

    await reader.say("thank you");
    await reader.announced(/: You are welcome\.$/);
    await reader.say("thank you");
    const again = await reader.announced(/: You are welcome\.$/, 2);
    expect(again.filter((text) => text.includes("There is one note"))).toHaveLength(1);
  }));

it("a change that waits is announced by its file, and each of its buttons says to which file it does what and is reached by Tab", () =>
  desk.window("screen-reader-change", async (screen) => {
    const reader = await Listener.begin(screen);
    await reader.say("Write a note");
    await reader.announced(/^polite: A change waits for you: a\.md in notes\. Write notes\/a\.md$/);
    await reader.announced(/: I proposed it\.$/);
    const approve = reader.page.getByRole("button", { name: "Approve: a.md in notes", exact: true });
    await approve.waitFor();
    const card = await reader.read("article.card");
    expect(card).toMatch(
      /- 'article "a\.md in notes\. Steward proposes: Write notes\/a\.md\. Small change\."'/,
    );
    for (const words of ["Reject…", "Edit", "Show", "Always allow…"])
      expect(card).toMatch(`- 'button "${words}: a.md in notes"'`);
    expect(await reader.read(".conversation-head")).toMatch('- button "1 waits for you"');
    await reader.page.getByRole("button", { name: /^files\/write/ }).focus();
    await until("Tab to reach it", async () => {
      await screen.page.keyboard.press("Tab");
      return await approve.evaluate((button) => button.matches(":focus"));
    });
    await screen.page.keyboard.press("Enter");
    const heard = await reader.announced(/: It is written\.$/);
    expect(heard).toContain("polite: Applied: Write notes/a.md");
    expect(heard.filter((text) => text.includes("waits for you"))).toHaveLength(1);
    await reader.page.getByRole("button", { name: "Undo: a.md in notes", exact: true }).waitFor();
  }));

it("work, a stop, a failure with what to do, and an answer that was cut off are announced and stand in the transcript", () =>
  desk.window("screen-reader-states", async (screen) => {
    const reader = await Listener.begin(screen);
    await reader.say("cut");
    await reader.announced(/^polite: Steward: This is only the beginning$/);
    await reader.announced(/^polite: The answer ends here because .* output limit/);
    await reader.say("slow");
    await reader.announced(/^polite: Steward is working\.$/, 2);
    await reader.page.getByRole("button", { name: "Stop", exact: true }).waitFor();
    expect(await reader.read("main")).toMatch(/1 working[^]*- log "Conversation":[^]*- paragraph: Working/);
    await reader.page.locator(messageField).press("Escape");
    await reader.announced(/^polite: Stopped\.$/);
    await reader.say("broken");
    await reader.announced(/^polite: Failed: The key is wrong\. Check the key/);
    const log = await reader.read(".log");
    expect(log).toMatch(
      /output limit[^]*Stopped here\.[^]*- img "Failed"\n *- paragraph: The key is wrong\./,
    );
    expect(await reader.read(".dock")).toMatch(
      /- textbox "Message"[^]*- button "Add a file"[^]*- combobox "Model"[^]*- button "Send"/,
    );
  }));
