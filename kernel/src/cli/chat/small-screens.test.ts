import { expect, test } from "vitest";
import { anAction } from "../testing/fake-kernel.ts";
import { renderChat } from "./render/screen.ts";
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

test("a long text in the composer says how many of its lines are hidden, above and below the cursor", () => {
  const text = Array.from({ length: 12 }, (_none, at) => `line ${at}`).join("\n");
  const walk = begun(new ChatWalk({ columns: 60, rows: 24 })).give({ kind: "paste", text });
  const shown = (): string[] =>
    walk.screen.split("\n").flatMap((line) => /(line \d+|[↑↓] \d+ more lines?)$/.exec(line)?.[1] ?? []);
  expect(shown()).toEqual(["↑ 6 more lines", ...Array.from({ length: 6 }, (_none, at) => `line ${at + 6}`)]);
  walk.press("<up>");
  expect(shown()).toEqual(["↑ 5 more lines", ...shown().slice(1, 7), "↓ 1 more line"]);
  const cursorRow = renderChat(walk.state).cursor?.row ?? 0;
  expect(walk.screen.split("\n")[cursorRow]).toContain("line 10");
  walk.press("<up><up><up><up><up><up><up><up><up><up>");
  expect(shown()[0]).toBe("line 0");
  expect(shown().at(-1)).toBe("↓ 6 more lines");
  const short = begun(new ChatWalk({ columns: 60, rows: 24 })).give({ kind: "paste", text: "a\nb\nc" });
  expect(short.screen).not.toContain("more line");
});
