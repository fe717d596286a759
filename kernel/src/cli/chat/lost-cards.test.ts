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
