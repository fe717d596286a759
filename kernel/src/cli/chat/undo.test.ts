import { describe, expect, test } from "vitest";
import { asks, begun, ChatWalk, says } from "./testing/chat-walk.ts";

const long = Array.from({ length: 40 }, (_none, at) => `line ${at}\n`).join("\n");

/** A chat whose only change was made far above what is on the screen. */
const farAbove = (): ChatWalk =>
  begun(new ChatWalk({ columns: 80, rows: 20 }))
    .entries({ kind: "action", ref: "sea", state: "Committed" }, asks("Count"), says(long))
    .action("sea", { state: "Committed", title: "Write sea.md" });

describe("/undo", () => {
  test("says at once what it undoes, and leaves a line where that happened", () => {
    const walk = farAbove();
    expect(walk.press("/undo<escape><return>").screen).toContain("Undoing: Write sea.md");
    walk.action("sea", { state: "Undone", title: "Write sea.md" }).give({ kind: "decided", id: "sea" });
    expect(walk.screen).toContain("• Undone: Write sea.md");
    walk.action("sea", { state: "Undone", title: "Write sea.md" }).entries(asks("Thanks"));
    expect(walk.screen).toMatch(/• Undone: Write sea\.md\n\n {2}› Thanks/);
    expect(walk.screen.match(/Undone/g)).toHaveLength(1);
  });

  test("leaves it to the change's own line where that is the last one", () => {
    const walk = begun().entries({ kind: "action", ref: "sea", state: "Committed" });
    walk.action("sea", { state: "Committed" }).action("sea", { state: "Undone" });
    expect(walk.screen.match(/undone/gi)).toHaveLength(1);
    expect(walk.entries(asks("Hi")).screen.match(/undone/gi)).toHaveLength(1);
  });

  test("says that what waits is not made yet", () => {
    const walk = begun().entries({ kind: "action", ref: "sea", state: "PendingApproval" }).action("sea");
    const said = walk.press("/undo<escape><return>").screen.replace(/\s+/g, " ");
    expect(said).toContain("What waits for you is not made yet. Tab goes there.");
  });
});
