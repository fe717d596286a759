import { expect, test } from "vitest";
import { expectHarmless, HOSTILE } from "../../../../test/support/hostile-text.ts";
import { displayWidth } from "../render/width.ts";
import type { Known, KnownSource } from "./state/memories.ts";
import { asks, begun, channel, ChatWalk, says } from "./testing/chat-walk.ts";

const memory: Known = {
  kind: "memory",
  id: "0199-aaaaaaaa",
  type: "Preference",
  text: "I like short answers.",
  facts: ["recalled for this answer"],
};
const gone: Known = { ...memory, id: null, text: "I like tea.", facts: ["gone since"] };
const block: Known = { kind: "block", name: "project", text: "Photos", scope: "mind", facts: [] };

/** As long as a person takes to read a question. */
const aMoment = 600;

const listed = (items: readonly Known[], purpose: "look" | "correct" | "forget" = "look", walk = begun()) =>
  walk.give({ kind: "known", title: "Why this answer", items, purpose, source });

const source = { kind: "memories", words: "" } as const;
/** A command of a list that stays open. */
const inList = { again: source };

test("/why names the last answer, /why 2 the one before it, and there is no third", () => {
  const walk = begun().entries(asks("a"), says("one", { id: "m1" }), asks("b"), says("two", { id: "m2" }));
  walk.press("/why <return>/why 2<return>");
  expect(walk.commands).toEqual([
    { kind: "known", source: { kind: "why", entry: "m2" }, purpose: "look" },
    { kind: "known", source: { kind: "why", entry: "m1" }, purpose: "look" },
  ]);
  expect(walk.press("/why 3<return>").screen).toContain("There are 2 answers here.");
  expect(begun().press("/why <return>").screen).toContain("Nothing was answered here yet.");
});

test("a memory is corrected in a field that begins with what it says", () => {
  const walk = listed([memory, block]).press("c");
  expect(walk.screen).toContain("What does it say from now on?");
  walk.press("<return>");
  expect(walk.screen).toContain("It says that already.");
  walk.press("<C-u>I like long ones.<return>");
  expect(walk.commands).toEqual([{ kind: "correct", item: memory, text: "I like long ones.", ...inList }]);
});

test("a memory is forgotten only after a second key, and Esc keeps it", () => {
  const walk = listed([memory]).press("f<escape>");
  expect(walk.screen).toContain("Why this answer");
  expect(walk.press("f").screen).toContain("y forgets it. t also removes its text from all conversations");
  expect(walk.wait(aMoment).press("<return>n<space>f").wait(aMoment).commands).toEqual([]);
  expect(walk.press("y").commands).toEqual([{ kind: "forget", item: memory, everywhere: false, ...inList }]);
  expect(listed([memory]).press("f").wait(aMoment).press("t").commands).toEqual([
    { kind: "forget", item: memory, everywhere: true, ...inList },
  ]);
  // A block has no other conversations: forgetting it removes it from them anyway.
  expect(listed([block]).press("f").wait(aMoment).press("t").commands).toEqual([]);
});

test("a list to look at stays after a change, and shows what that made of it; others close", () => {
  const walk = listed([block, memory]).press("<down>c<C-u>I like tea.<return>");
  expect(walk.screen).toContain("Why this answer");
  expect(walk.screen).toContain("Correcting…");
  const tea: Known = { ...memory, id: "0199-bbbbbbbb", text: "I like tea." };
  const again = (items: readonly Known[], of: KnownSource = source) =>
    walk.give({ kind: "known", title: "Now", items, purpose: "look", source: of, isAgain: true });
  expect(again([], { kind: "blocks" }).screen).toContain("Why this answer");
  expect(again([block, tea]).screen).toMatch(/Now[^]*▌ Preference: I like tea\./);
  // What the person changes meanwhile does not move.
  walk.press("c");
  expect(again([block]).screen).toContain("What does it say from now on?");
  walk.press("<escape>");
  expect(again([block]).state.panel).toMatchObject({ selected: 0 });
  walk.entries(channel("Running"));
  expect(again([]).state.panel).toBeNull();
  expect(walk.press("<escape>").commands.map(({ kind }) => kind)).not.toContain("stop");
  expect(again([block]).state.panel).toBeNull();
  expect(listed([memory], "correct").press("<return>!<return>").state.panel).toBeNull();
});

test("words that are typed into a view are a message, and no keys", () => {
  for (const words of ["/memories spaces", "find the cat", "fyi this is it", "ft", "verify it", "2 cats"]) {
    const walk = listed([memory]).press(words);
    expect([walk.state.panel, walk.commands]).toEqual([null, []]);
    expect(walk.state.composer.text).toBe(words);
  }
  expect(listed([memory], "forget").press("fyi").state.composer.text).toBe("fyi");
  expect(listed([memory], "forget").press("<return>yes").state.composer.text).toBe("yes");
  // A slash leaves the question, too.
  expect(listed([memory]).press("f").wait(aMoment).press("/memories").state.composer.text).toBe("/memories");
  for (const command of ["/help", "/workers"])
    expect(begun().press(`${command}<return>/why`).state).toMatchObject({
      panel: null,
      composer: { text: "/why" },
    });
});

test("a list that arrives while the person writes leaves the keys to the text", () => {
  const walk = listed([memory], "look", begun().press("/memories sp"));
  expect(walk.screen).toContain("you are writing");
  walk.press("aces<return>");
  expect(walk.commands).toEqual([
    { kind: "known", source: { kind: "memories", words: "spaces" }, purpose: "look" },
  ]);
  const correcting = listed([memory]).press("c");
  expect(listed([block], "look", correcting).press("!").screen).toContain("I like short answers.!");
});

test("Home and End move to the first and the last one", () => {
  const walk = listed([memory, gone, block]).press("<end>");
  expect(walk.state.panel).toMatchObject({ selected: 2 });
  expect(walk.press("<home>").state.panel).toMatchObject({ selected: 0 });
});

test("Enter does what the person came for, on the selected one", () => {
  const walk = listed([gone, memory], "forget").press("<down><return>").wait(aMoment);
  expect(walk.press("<return>").commands).toEqual([]);
  expect(walk.press("y").commands).toEqual([{ kind: "forget", item: memory, everywhere: false }]);
  expect(listed([memory], "correct").press("<return>").screen).toContain("What does it say from now on?");
  expect(listed([gone], "correct").press("<return>").screen).toContain("It is gone already.");
});

test("what is pasted is a part of the corrected text, and no key", () => {
  const walk = listed([memory]).give({ kind: "paste", text: "f" });
  expect(walk.screen).not.toContain("for good?");
  walk.press("c<C-u>").give({ kind: "paste", text: "I like tea.\n" }).press("<return>");
  expect(walk.commands).toEqual([{ kind: "correct", item: memory, text: "I like tea.", ...inList }]);
});

test("nothing to show is said in a sentence, and the list fits", () => {
  expect(listed([]).state.panel).toBeNull();
  const hostile = { ...memory, text: HOSTILE, type: HOSTILE, facts: [HOSTILE] };
  for (const columns of [24, 80]) {
    const walk = listed([hostile, block], "look", begun(new ChatWalk({ columns, rows: 24 })));
    expectHarmless(walk.screen, "the list");
    for (const keys of ["c", "<escape>f"]) {
      walk.press(keys);
      expectHarmless(walk.screen, keys);
      expect(Math.max(...walk.screen.split("\n").map(displayWidth))).toBeLessThanOrEqual(columns);
    }
  }
});
