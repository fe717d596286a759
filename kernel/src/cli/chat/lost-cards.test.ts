import { describe, expect, test } from "vitest";
import { anAsk } from "../testing/fake-kernel.ts";
import { asks, begun, type ChatWalk } from "./testing/chat-walk.ts";

const atChange = (): ChatWalk =>
  begun()
    .entries(asks("tidy"), { kind: "action", ref: "sea", state: "PendingApproval" })
    .action("sea")
    .press("<tab>");

describe("a card that goes away by itself while it has the keys", () => {
  test("says so, and a key that was meant for it does not become a message", () => {
    const walk = atChange().action("sea", { state: "Stale" });
    expect(walk.screen).toContain("The card is gone: out of date.");
    walk.press("ara");
    expect([walk.state.composer.text, walk.state.focus]).toEqual(["", null]);
    expect(walk.commands.some(({ kind }) => kind === "approve" || kind === "reject")).toBe(false);
    expect(walk.press("hara").state.composer.text).toBe("hara");
  });

  test("leaves every other key as it is", () => {
    const walk = atChange().action("sea", { state: "Stale" });
    expect(walk.press("<left>a").state.composer.text).toBe("a");
  });

  test("takes the numbers with it where it was a question", () => {
    const walk = begun()
      .give({ kind: "ask", ask: anAsk("q1") })
      .press("<tab>");
    walk.give({ kind: "ask", ask: anAsk("q1", { state: "Expired" }) });
    expect(walk.screen).toContain("The card is gone");
    expect(walk.press("1d2").state.composer.text).toBe("");
    expect(walk.press("3").state.composer.text).toBe("3");
  });

  test("is not one that the person has decided", () => {
    const walk = begun()
      .give({ kind: "ask", ask: anAsk("q1") })
      .press("<tab>1");
    walk.give({ kind: "ask", ask: anAsk("q1", { state: "Allowed" }) });
    expect(walk.screen).not.toContain("The card is gone");
    expect(walk.press("d").state.composer.text).toBe("d");
  });
});

describe("the key that decided about a card", () => {
  const tick = (walk: ChatWalk): ChatWalk => walk.give({ kind: "tick", nowMs: walk.state.nowMs + 500 });
  const decided = (): ChatWalk => atChange().press("a");
  const done = (walk: ChatWalk): ChatWalk =>
    walk.action("sea", { state: "Committed" }).give({ kind: "decided", id: "sea" });

  test("writes nothing while it repeats, and decides nothing else", () => {
    const walk = decided().press("aa");
    tick(tick(walk)).press("a");
    done(walk).press("a");
    tick(walk).press("aa");
    tick(walk).press("a");
    expect(walk.state.composer.text).toBe("");
    expect(walk.commands.filter(({ kind }) => kind === "approve")).toHaveLength(1);
  });

  test("begins a message again after a pause on the screen that shows the decision", () => {
    expect(tick(tick(done(decided()))).press("and").state.composer.text).toBe("and");
  });

  test("and after any other key, which is taken at once", () => {
    expect(decided().press("hi a").state.composer.text).toBe("hi a");
    expect(decided().press("a<left>a").state.composer.text).toBe("a");
    expect(decided().press("/undo").state.composer.text).toBe("/undo");
    expect(decided().give({ kind: "paste", text: "b" }).press("a").state.composer.text).toBe("ba");
  });

  test("is a key of the next card that the person goes to", () => {
    const walk = decided().entries({ kind: "action", ref: "sky", state: "PendingApproval" }).action("sky");
    const approved = (): string[] =>
      walk.commands.flatMap((command) => (command.kind === "approve" ? [command.id] : []));
    // The first one is still being decided.
    expect(walk.press("<tab>a").screen).toContain("It is being decided.");
    expect([approved(), walk.state.composer.text]).toEqual([["sea"], ""]);
    done(walk).press("<tab>a");
    expect([approved(), walk.state.composer.text]).toEqual([["sea", "sky"], ""]);
  });

  test("may be a number or the one that undoes", () => {
    const walk = begun()
      .give({ kind: "ask", ask: anAsk("q1") })
      .press("<tab>11");
    expect(walk.state.composer.text).toBe("");
    expect(done(atChange().press("a")).press("<tab>uu").state.composer.text).toBe("");
  });
});
