import { expect, test } from "vitest";
import { anAction } from "../testing/fake-kernel.ts";
import { asks, begun, ChatWalk } from "./testing/chat-walk.ts";

test.each([
  [40, 15],
  [40, 10],
  [60, 18],
])("at %i by %i, a card names no other number of lines than the rule above it", (columns, rows) => {
  const diff = `@@ -0,0 +1,12 @@\n${Array.from({ length: 12 }, (_none, n) => `+line ${n}`).join("\n")}\n`;
  const [effect] = anAction("sea").effects;
  const walk = begun(new ChatWalk({ columns, rows }))
    .entries(asks("tidy"), { kind: "action", ref: "sea", state: "PendingApproval" })
    .action("sea", { effects: [{ ...effect!, kind: "file.write", path: "b.md", before: null, diff }] })
    .press("<tab>");
  let presses = 0;
  for (; !walk.commands.some(({ kind }) => kind === "approve") && presses < 30; presses++) {
    walk.press("a");
    expect(walk.screen).not.toMatch(/\d+ lines are not seen/);
    // The sentence takes up lines itself, but all that it says is shown must be on the screen.
    if (walk.screen.includes("Shown now")) expect(walk.screen).toContain("╰");
  }
  expect(presses).toBeLessThan(30);
});
