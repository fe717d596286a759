/** What a person told once: known in the next conversation, named as a reason, corrected, and forgotten for good. */
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Conversation } from "../../kernel/src/base/vocabulary/conversation.ts";
import { hasTerminals, lares, TerminalRun } from "../support/command-line.ts";
import { HostileMind, type WireAnswer } from "../support/hostile-mind.ts";
import { noModels } from "../support/no-models.ts";
import { filesWith } from "../support/stored.ts";
import { isAlive, until } from "../support/until.ts";

/** As long as a person takes to read a question. */
const readMs = 1_000;
const SHORT = "I like short answers.";
const LONG = "I like long answers, with examples.";

let mind: HostileMind;
let environment: NodeJS.ProcessEnv;
beforeAll(async () => {
  mind = await HostileMind.open({
    mind: { blocks: [{ name: "project", description: "What this folder is about", scope: "mind" }] },
  });
  environment = { ...noModels, XDG_CONFIG_HOME: `${mind.bench.base}/config` };
});
afterAll(() => mind[Symbol.asyncDispose]());

const branch = (task: string): WireAnswer => ({ calls: [{ name: "branch", given: { task } }] });
/** Answers with the first text whose words the model has just read. */
const reading = (...known: readonly (readonly [words: string, say: string])[]): (() => WireAnswer) => {
  return () => {
    const last =
      mind.requests
        .at(-1)
        ?.messages.slice(-3)
        .map(({ content }) => content)
        .join("\n") ?? "";
    return { say: known.find(([words]) => last.includes(words))?.[1] ?? "nothing" };
  };
};
function remembers(): void {
  mind.steps.set("channel", [branch("remember"), { say: "I note it." }, { say: "Remembered." }]);
  mind.steps.set("branch", [
    { calls: [{ name: "memory_save", given: { type: "Preference", text: SHORT } }] },
  ]);
}
function recalls(): void {
  mind.steps.set("channel", [
    branch("recall"),
    { say: "I think." },
    reading(
      ["they like it short", "Short it is."],
      ["they like it long", "Long it is."],
      ["", "I cannot tell."],
    ),
  ]);
  mind.steps.set("branch", [
    { calls: [{ name: "memory_recall", given: { query: "answers" } }] },
    reading([SHORT, "they like it short"], [LONG, "they like it long"], ["", "it is not known"]),
  ]);
}
const restarted = async (): Promise<void> => {
  const { pid } = await mind.bench.status(mind.client);
  await mind.client.shutdown();
  await until("the kernel to end", () => !isAlive(pid));
};

describe.skipIf(!hasTerminals)("what a person told once", () => {
  const chat = (): TerminalRun => new TerminalRun(mind.bench, ["chat"], { environment });

  test("is known in another conversation of another kernel, named as the reason, corrected, and forgotten", async () => {
    {
      using run = chat();
      remembers();
      await run.sees(/Write to A mind/);
      run.type(`${SHORT}\r`);
      await run.sees(/Remembered\./);
      run.type("\u0004");
      expect(await run.ended).toBe(0);
    }
    await restarted();
    using run = chat();
    await run.sees(/Write to A mind/);
    recalls();
    run.type("How do I like it?\r");
    await run.sees(/Short it is\./);
    run.type("/why\r");
    await run.sees(/Why this answer[^]*▌ Preference: I like short answers\.[^]*recalled for this answer/);
    expect(run.screen).toContain("c correct");

    run.type("c");
    await run.sees(/What does it say from now on\?[^]*I like short answers\./);
    run.type("\u0015");
    run.type(`${LONG}\r`);
    await run.sees(/Corrected: "I like long answers, with examples\."/);
    run.type("/why\r");
    await run.sees(/Preference: I like short answers\.[^]*Now: I like long answers[^]*corrected since/);
    run.type("\u001b");
    await until("the list to close", () => !run.screen.includes("Why this answer"));

    run.type("/new\r");
    await run.sees(/Write to A mind/);
    recalls();
    run.type("And how now?\r");
    await run.sees(/Long it is\./);

    run.type("/forget answers\r");
    await run.sees(/What the mind remembers for "answers": 1 memory/);
    run.type("\r");
    await run.sees(/Forget this memory for good\?/);
    run.type("\u001b");
    await until("the question to go", () => !run.screen.includes("for good?"));
    // Typed in one go, it is a message.
    run.type("ft");
    await run.sees(/› ft/);
    run.type("\u0015/forget answers\r");
    await run.sees(/What the mind remembers for "answers": 1 memory/);
    run.type("f");
    await run.sees(/Forget this memory for good\?[^]*y forgets it/);
    await pause(readMs);
    run.type("\r");
    run.type("t");
    await run.sees(/Forgotten: "I like long answers/);
    expect(await filesWith(mind.bench.home, LONG)).toEqual([]);
    run.type("/memories\r");
    await run.sees(/The mind remembers nothing yet\./);

    run.type("/new\r");
    await run.sees(/Write to A mind/);
    recalls();
    run.type("Do you still know?\r");
    await run.sees(/I cannot tell\./);
    run.type("/why\r");
    await run.sees(/The answer rests on this conversation alone/);
    run.type("\u0004");
    expect(await run.ended).toBe(0);
  });

  test("a block is changed and forgotten where it is shown", async () => {
    using run = chat();
    await run.sees(/Write to A mind/);
    run.type("/blocks\r");
    await run.sees(/▌ Block project: \(empty\)/);
    run.type("c");
    await run.sees(/What does it say from now on\?/);
    run.type("Photos of our trips\r");
    await run.sees(/The block project says from now on: "Photos of our trips"/);
    mind.steps.set("channel", [{ say: "I see photos." }]);
    run.type("hello\r");
    await run.sees(/I see photos\./);
    run.type("/why\r");
    await run.sees(/▌ Block project: Photos of our trips[^]*always before the mind/);
    run.type("f");
    await run.sees(/Empty the block project/);
    await pause(readMs);
    run.type("y");
    await run.sees(/The block project is empty/);
    run.type("\u0004");
    expect(await run.ended).toBe(0);
    expect(await filesWith(mind.bench.home, "Photos of our trips")).toEqual([]);
  });
});

test("without a terminal, memories are named by the ends of their ids, and forgotten only with another word", async () => {
  // The kernel stays for all of them.
  const client = await mind.bench.open({ environment });
  const run = (input: string) => lares(mind.bench, ["chat"], environment, input);
  remembers();
  expect((await run(`${SHORT}\n`)).stdout).toContain("Remembered.");
  recalls();
  const told = await run("How do I like it?\n/why\n/why 9\n/memories short\n");
  expect(told.stdout).toMatch(/Why this answer[^]*[\w-]{8} {2}Preference: I like short answers\./);
  expect(told.stderr).toContain("answers here.");
  const name = /^([\w-]{8}) {2}Preference/m.exec(told.stdout)?.[1] ?? "";
  const { items } = await client.request<{ items: Conversation[] }>("lares/conversations/list", { limit: 1 });
  const why = ["conversations", "why", items[0]?.id.slice(-8) ?? "", "--json"];
  const reasons = await lares(mind.bench, why, environment);
  expect(JSON.parse(reasons.stdout)).toMatchObject({ memories: [{ text: SHORT, state: "remembered" }] });

  const corrected = await run(`/correct ${name} ${LONG}\n/memories\n`);
  expect(corrected.stdout).toContain(LONG);
  const once = /^([\w-]{8}) {2}Preference/m.exec(corrected.stdout)?.[1] ?? "";
  // The command of its own takes the same names.
  const again = await lares(mind.bench, ["memory", "correct", once, LONG, "--yes"], environment);
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining("its id is") as string });
  const memories = await run("/memories\n");
  const now = /^([\w-]{8}) {2}Preference/m.exec(memories.stdout)?.[1] ?? "";
  const gone = await lares(mind.bench, ["memory", "forget", once, "--yes"], environment);
  expect(gone).toMatchObject({ code: 2, stderr: expect.stringContaining(`ends in "${once}"`) as string });
  const asked = await run(`/forget ${now}\n/memories\n`);
  expect(asked).toMatchObject({ code: 2, stdout: expect.stringContaining(LONG) as string });
  expect(asked.stderr).toContain(`Write "/forget ${now} yes"`);
  const forgotten = await run(`/forget ${now} yes\n/memories\n`);
  expect(forgotten.stderr).toContain("Forgotten");
  expect(forgotten.stdout).toContain("The mind remembers nothing yet.");
  await client.shutdown();
});
