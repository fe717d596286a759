import { describe, expect, test } from "vitest";
import { expectHarmless, HOSTILE } from "../../../../test/support/hostile-text.ts";
import type { Notice } from "../render/model.ts";
import { FakeKernel } from "../testing/fake-kernel.ts";
import { ConversationLink } from "./link.ts";
import { asks, begun, says } from "./testing/chat-walk.ts";

const aNotice = (more: Partial<Notice> = {}): Notice => ({
  id: "n1",
  agent: "dev.lares.steward",
  title: "The weekly look",
  message: "Nothing is new.",
  severity: "info",
  channels: ["terminal"],
  ...more,
});

describe("what an agent says to the person meanwhile", () => {
  test("is shown where it came in the conversation, and takes no keys", () => {
    const walk = begun()
      .entries(asks("hello"), says("before it"))
      .give({ kind: "notice", notice: aNotice() });
    walk.entries(says("behind it"));
    expect(walk.screen).toMatch(
      /before it[^]*i dev\.lares\.steward {2}The weekly look: Nothing is new\.[^]*behind it/,
    );
    expect(walk.press("<tab>").state.focus).toBeNull();
  });

  test("is shown once, as it was said last, and only the last ones are kept", () => {
    const walk = begun();
    for (const message of ["first", "second"]) walk.give({ kind: "notice", notice: aNotice({ message }) });
    expect(walk.state.notices.map(({ notice }) => notice.message)).toEqual(["second"]);
    for (let n = 0; n < 100; n++) walk.give({ kind: "notice", notice: aNotice({ id: `m${n}` }) });
    expect(walk.state.notices).toHaveLength(20);
  });

  test("is foreign text of at most three rows", () => {
    const walk = begun().give({
      kind: "notice",
      notice: aNotice({ title: HOSTILE, agent: HOSTILE, message: HOSTILE }),
    });
    expectHarmless(walk.screen, "the screen");
    walk.give({ kind: "notice", notice: aNotice({ message: "word ".repeat(1_000) }) });
    expect(walk.screen.split("\n").filter((line) => line.includes("word"))).toHaveLength(3);
  });

  test.each([
    ["a person who watches has seen", true, ["terminal"], 1, true],
    ["nobody watches is not seen", false, ["terminal"], 1, false],
    ["the person wants elsewhere is left alone", true, ["editor"], 0, false],
  ] as const)("what %s", async (_name, isWatched, channels, told, isSeen) => {
    const kernel = new FakeKernel();
    const shown: Notice[] = [];
    const connect = () => kernel.connect({ folder: "/w" });
    const nothing = (): void => undefined;
    await using _link = new ConversationLink(
      await connect(),
      { connect, interrupted: new AbortController().signal, isWatched },
      {
        news: nothing,
        conversation: nothing,
        deleted: nothing,
        action: nothing,
        ask: nothing,
        cutOff: nothing,
        gone: nothing,
        notice: (notice) => shown.push(notice),
      },
    );
    kernel.tell("lares/notify", aNotice({ channels: [...channels] }));
    expect(shown).toHaveLength(told);
    expect(kernel.requests).toEqual(
      isSeen ? [{ method: "lares/notifications/dismiss", params: { ids: ["n1"] } }] : [],
    );
  });
});
