import { describe, expect, test } from "vitest";
import { expectHarmless, HOSTILE } from "../../../../test/support/hostile-text.ts";
import { anAsk } from "../testing/fake-kernel.ts";
import { displayWidth } from "../render/width.ts";
import { slashCommands } from "./state/slash.ts";
import { aProcess, asks, begun, channel, ChatWalk, full, says } from "./testing/chat-walk.ts";

const widths = (screen: string): number => Math.max(...screen.split("\n").map(displayWidth));

describe("the screen", () => {
  test.each([
    ["wide", 100, 40],
    ["narrow", 40, 40],
    ["low", 60, 14],
  ])("%s", (_name, columns, rows) => {
    const walk = full(new ChatWalk({ columns, rows }));
    expect(walk.screen).toMatchSnapshot();
    expect(widths(walk.screen)).toBeLessThanOrEqual(columns);
    expect(walk.screen.split("\n")).toHaveLength(rows);
  });

  test("of a new conversation says that nothing is changed without the person, and that it is a rehearsal", () => {
    const walk = begun(new ChatWalk({ columns: 60, rows: 12 }, { rehearsal: "script.yaml" }));
    expect(walk.screen).toMatchSnapshot();
  });

  test("has only ASCII where the terminal draws nothing else", () => {
    // oxlint-disable-next-line no-control-regex -- all of ASCII
    expect(full(new ChatWalk({ columns: 80, rows: 40 }, { isAscii: true })).screen).toMatch(/^[\x00-\x7f]*$/);
  });

  test.each([20, 21, 22, 24, 30])("with %d columns has a head line that fits", (columns) => {
    const walk = full(new ChatWalk({ columns, rows: 40 }));
    const [head = ""] = walk.screen.split("\n");
    expect(displayWidth(head)).toBeLessThan(columns);
    expect(head).toMatch(/1 waits( for you)?$/);
  });

  test("too small for a chat says so", () => {
    expect(begun(new ChatWalk({ columns: 15, rows: 5 })).screen).toContain("Too small");
  });

  test.each([
    ["/help", { columns: 90, rows: 40 }],
    ["/workers", { columns: 90, rows: 24 }],
  ])("of %s", (command, size) => {
    const walk = full(new ChatWalk(size)).press(`${command}<return>`);
    expect(walk.screen).toMatchSnapshot();
    expect(walk.press("<escape>").state.panel).toBeNull();
  });

  test.each([40, 50, 64, 80])("of /help is read to its end with %d columns", (columns) => {
    const walk = begun(new ChatWalk({ columns, rows: 200 })).press("/help<escape><return>");
    const text = walk.screen.replaceAll(/\s+/g, " ");
    expect(text).not.toContain("…");
    for (const { about } of slashCommands) expect(text).toContain(about);
    expect(text).toContain("Ctrl-C twice, Ctrl-D leave; lares chat --resume continues");
  });

  test("of /context shows the sections with their tokens", () => {
    const walk = begun(new ChatWalk({ columns: 70, rows: 20 })).press("/context<return>");
    expect(walk.commands).toEqual([{ kind: "context" }]);
    const sections = [
      { name: "identity", tokens: 1_440, text: "You are calm.\nAnd exact.", cached: true },
      { name: "history", tokens: 20, text: "hello" },
    ];
    walk.give({
      kind: "context",
      context: { model: "script/script", tokens: 1_204, limit: 8_000, sections },
    });
    expect(walk.screen).toMatchSnapshot();
  });
});

test.each([
  [40, "rehearsal · 1,204 of 8,000 tokens"],
  [90, "rehearsal of script.yaml, no model is asked · 1,204 of 8,000 tokens"],
])("with %d columns, the size of the context is shown in a rehearsal too", (columns, text) => {
  const walk = begun(new ChatWalk({ columns, rows: 24 }, { rehearsal: "script.yaml" }));
  expect(walk.screen).toContain(text);
});

test.each([40, 44, 50, 60, 72, 100])(
  "with %d columns, the keys that matter most are named whole",
  (columns) => {
    const keysOf = (walk: ChatWalk): string => walk.screen.split("\n").at(-1) ?? "";
    const size = { columns, rows: 24 };
    expect(keysOf(begun(new ChatWalk(size)))).toMatch(/Enter send.*Ctrl-D leave$/);
    const atWork = begun(new ChatWalk(size)).entries(asks("go"), channel("Running"));
    expect(keysOf(atWork)).toMatch(/Esc stop.*Ctrl-D leave$/);
    expect(keysOf(full(new ChatWalk(size)))).toMatch(/Tab (decide|to what waits).*Ctrl-D leave$/);
    expect(keysOf(full(new ChatWalk(size)).press("<tab>"))).toMatch(/Enter open.*Tab back/);
    expect(keysOf(begun(new ChatWalk(size)).press("/"))).toMatch(/Tab take/);
    expect(keysOf(begun(new ChatWalk(size)).press("/help<escape><return>"))).toMatch(/Esc back$/);
  },
);

test("text of models, agents and files has no effect on the terminal", () => {
  const walk = begun(new ChatWalk({ columns: 90, rows: 200 }, { rehearsal: HOSTILE }));
  walk
    .entries(
      {
        ...asks(HOSTILE),
        kind: "message",
        role: "user",
        parts: [
          { type: "text", text: HOSTILE },
          { type: "file", path: HOSTILE },
          { type: "image", media_type: HOSTILE, object: `sha256:${"0".repeat(64)}`, bytes: 1 },
        ],
      },
      channel("Running"),
      says(HOSTILE),
      says("", { parts: [{ type: "reasoning", text: HOSTILE }] }),
      { kind: "tool_call", call: "c", tool: HOSTILE, arguments: { [HOSTILE]: HOSTILE } },
      { kind: "tool_result", call: "c", result: { status: "success", value: { [HOSTILE]: HOSTILE } } },
      { kind: "tool_call", call: "d", tool: HOSTILE, arguments: HOSTILE },
      { kind: "tool_result", call: "d", result: { status: "error", message: HOSTILE, recoverable: false } },
      aProcess("w", { task: HOSTILE, status: HOSTILE, name: HOSTILE }),
      { kind: "conclusion", text: HOSTILE, process: "w" },
      { kind: "notice", text: HOSTILE },
      { kind: "summary", text: HOSTILE },
      { kind: "action", ref: "sea", state: "PendingApproval" },
      channel("Failed", { error: { code: "ModelError", message: HOSTILE } }),
    )
    .writes(HOSTILE)
    .writes(HOSTILE, "n", "reasoning")
    .action("sea", { title: HOSTILE, reason: HOSTILE })
    .give(
      { kind: "ask", ask: anAsk("q", { title: HOSTILE, reason: HOSTILE, sources: [HOSTILE] }) },
      {
        kind: "conversation",
        conversation: { ...walk.state.conversation, title: HOSTILE, model: HOSTILE, tainted: [HOSTILE] },
      },
    );
  for (const key of ["c", "d", "w"]) walk.state = { ...walk.state, open: new Set([...walk.state.open, key]) };
  const conversation = { ...walk.state.conversation, id: HOSTILE, unread: 2 };
  const items = [{ conversation, agentName: HOSTILE, waiting: 1 }];
  const sections = [{ name: HOSTILE, tokens: 1, text: HOSTILE }];
  const screens = [
    walk.screen,
    walk.give({ kind: "failed", message: HOSTILE }).screen,
    walk.press("@").give({ kind: "files", word: "", paths: [HOSTILE] }).screen,
    walk.give({ kind: "conversations", items }).screen,
    walk.give({ kind: "context", context: { model: HOSTILE, tokens: 1, limit: 1, sections } }).screen,
    walk.press("<escape>/workers<escape><return>").screen,
  ];
  screens.forEach((screen, index) => expectHarmless(screen, `screen ${index}`));
});
