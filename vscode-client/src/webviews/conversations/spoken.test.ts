import { expect, it } from "vitest";
import { action } from "../../testing/things.ts";
import { cardOf } from "../../deciding/review-cards.ts";
import { spokenBetween, waitingWords } from "./spoken.ts";
import { Entries } from "./testing.ts";

const spoken = (entries: Entries, after = 0): string[] =>
  spokenBetween(entries.all, after, "Steward", "channel");

it("whole messages of the conversation are announced once, without their marks, and not their parts", () => {
  const entries = new Entries();
  entries.you("Hello");
  entries.partial("m1", "Good ");
  entries.answer("m1", "Good **morning**.\n\n- one\n- `two`\n");
  entries.add("message", {
    process: "w1",
    role: "assistant",
    parts: [{ type: "text", text: "of a worker" }],
  });
  expect(spoken(entries)).toEqual(["Steward: Good morning. one two"]);
  expect(spoken(entries, 4)).toEqual([]);
});

it("a long message is announced with a sign that there is more", () => {
  const entries = new Entries();
  entries.answer("m1", "word ".repeat(1_000));
  const [words = ""] = spoken(entries);
  expect(words.length).toBeLessThan(500);
  expect(words).toMatch(/word…$|…$/);
});

it("an answer that was cut off is announced with the reason", () => {
  const entries = new Entries();
  entries.add("message", { role: "assistant", parts: [{ type: "text", text: "So" }], cut: "length" });
  expect(spoken(entries)).toEqual(["Steward: So", expect.stringMatching(/output limit/)]);
});

it("that it works is announced when it begins, and not beside its answer or for other processes", () => {
  const entries = new Entries();
  entries.process({ state: "Running" });
  expect(spoken(entries)).toEqual(["Steward is working."]);
  entries.process({ state: "Running", status: "reads" });
  expect(spoken(entries, 1)).toEqual([]);
  entries.answer("m1", "Done.");
  expect(spoken(entries)).toEqual(["Steward: Done."]);
  entries.process({ state: "WaitingForInput" });
  entries.process({ id: "w1", kind: "worker", state: "Running" });
  expect(spoken(entries, 3)).toEqual([]);
  entries.process({ state: "Running" });
  expect(spoken(entries, 5)).toEqual(["Steward is working."]);
});

it("an end without an answer is announced: stopped, or failed with what to do", () => {
  const entries = new Entries();
  entries.process({ state: "Running" });
  entries.process({ state: "Cancelled" });
  entries.process({
    state: "Failed",
    error: { code: "ModelError", class: "Unauthorized", message: "The key is wrong." },
  });
  entries.process({
    id: "w1",
    kind: "worker",
    task: "Count the notes",
    state: "Failed",
    error: { code: "EmptyAnswer", message: "Nothing was said." },
  });
  expect(spoken(entries)).toEqual([
    "Stopped.",
    expect.stringMatching(/^Failed: The key is wrong\. Check the key/),
    expect.stringMatching(/^Count the notes failed: Nothing was said\./),
  ]);
});

it("what waits is announced by its file, and many changes by their number", () => {
  const note = { ...cardOf(action({})), name: "a.md", folder: "notes", title: "Write notes/a.md" };
  const question = {
    id: "q",
    digest: `sha256:${"0".repeat(64)}`,
    title: "Call it a third time?",
    reason: "",
    sources: [],
    scopes: ["once" as const],
  };
  expect(waitingWords([note], [question])).toEqual([
    "A change waits for you: a.md in notes. Write notes/a.md",
    "A question waits for you: Call it a third time?",
  ]);
  expect(waitingWords([note, note, note, note], [])).toEqual(["4 changes wait for you."]);
  expect(waitingWords([], [])).toEqual([]);
});
