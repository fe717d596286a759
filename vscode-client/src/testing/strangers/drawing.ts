import { expect } from "vitest";
import { fakeContext } from "../context.ts";
import { Uri, commands, languages, seen, workspace } from "../vscode.ts";
import { settled } from "../wire.ts";
import { anotherAgent, answers, hostile, hostileAgent } from "./words.ts";

/** What the client knows of the kernel; another one for each test. */
export const stranger = { fake: fakeContext() };

/** Begins a test: nothing was drawn, and all that the client knows are a stranger's words. */
export function begin(): void {
  seen.forget();
  languages.lensProviders = [];
  workspace.workspaceFolders = [{ uri: Uri.file("/w"), name: "w", index: 0 }];
  stranger.fake = fakeContext(answers);
  stranger.fake.agents = [hostileAgent, anotherAgent];
  stranger.fake.actions = [hostile()];
}

/** Presses a button of every message that is open, `among` those the test names, else the last one. */
export async function press(among: readonly string[] = []): Promise<void> {
  for (const message of seen.messages.splice(0))
    message.answer(message.buttons.find((button) => among.includes(button)) ?? message.buttons.at(-1));
  await settled();
}
/** Runs a command, and answers what it asks. */
export async function run(id: string, given?: unknown): Promise<void> {
  void commands.executeCommand(id, given);
  await settled();
  await press();
}
/** Instead of a function: a file draws nothing of a stranger's. */
export const ownWords = "words of its own";

/** How a file is made to draw a stranger's words. */
export type Places = Readonly<Record<string, (() => Promise<void>) | typeof ownWords>>;

/** No icon, link, control code or invisible character of a stranger's, and none of their line breaks. */
export function expectHarmless(file: string, text: string): void {
  expect({
    file,
    text: text.match(/\$\(evil|\]\(command|[\u001b\u200b\u202a-\u202e]|top\nbottom/u)?.[0],
  }).toEqual({
    file,
    text: undefined,
  });
}
/** What was drawn before a test forgot what it had seen. */
export const drawn: typeof seen.drawn = [];
export function drawnSoFar(): void {
  drawn.push(...seen.drawn.splice(0));
}
