import { expect, test } from "vitest";
import { plainSurface } from "../../render/style.ts";
import { aConversation, aProcess, begun, ChatWalk, type EntryFields } from "../testing/chat-walk.ts";
import { contextLines } from "./panels.ts";
import { workerLines } from "./workers.ts";

const context = {
  model: "script/script",
  limit: 8_000,
  sections: [
    { name: "identity", tokens: 900, text: "I am calm.", cached: true },
    {
      name: "history",
      tokens: 100,
      text: Array.from({ length: 60 }, (_none, at) => `line ${at}`).join("\n"),
    },
  ],
};

test("a context says that its sections are estimated where they do not add up to what was counted", () => {
  const counted = contextLines(aConversation, { ...context, tokens: 1_204 }, plainSurface);
  expect(counted[0]).toContain("1,204 of 8,000 tokens");
  expect(counted[1]).toBe("The provider's count. The rows are estimates, 1,000 in all.");
  const estimated = contextLines(aConversation, { ...context, tokens: 1_000 }, plainSurface);
  expect(estimated.join()).not.toContain("The provider's count");
});

test("End and Home go to the end and the beginning of a context", () => {
  const walk = begun(new ChatWalk({ columns: 80, rows: 24 })).give({
    kind: "context",
    context: { ...context, tokens: 1_000 },
  });
  expect(walk.screen).not.toContain("line 59");
  expect(walk.press("<end>").screen).toContain("line 59");
  expect(walk.press("<home>").screen).toContain("What script/script sees");
});

test("a worker that is done says on its line what was rejected, and that its last call failed", () => {
  const call = (id: string, process: string, status: "success" | "error"): EntryFields[] => [
    { kind: "tool_call", call: id, tool: "files/write", arguments: {}, process },
    {
      kind: "tool_result",
      call: id,
      process,
      result: status === "success" ? { status, value: 1 } : { status, message: "No.", recoverable: true },
    },
  ];
  const ended = "2026-11-20T10:00:04.000Z";
  const walk = begun(new ChatWalk({ columns: 110, rows: 30 })).entries(
    aProcess("a", { task: "Failing", state: "Done", ended }),
    ...call("a1", "a", "success"),
    ...call("a2", "a", "error"),
    aProcess("b", { task: "Mended", state: "Done", ended }),
    ...call("b1", "b", "error"),
    ...call("b2", "b", "success"),
    aProcess("c", { task: "Refused", state: "Done", ended }),
    { kind: "action", ref: "x", state: "PendingApproval", process: "c" },
    { kind: "action", ref: "x", state: "Rejected", process: "c" },
  );
  const lineOf = (text: string, task: string): string =>
    text.split("\n").find((line) => line.includes(task)) ?? "";
  const listed = workerLines(walk.state, { ...plainSurface, width: 110 }).join("\n");
  for (const text of [listed, walk.screen]) {
    expect(lineOf(text, "Failing")).toContain("its last call failed: files/write");
    expect(lineOf(text, "Mended")).not.toContain("failed");
    expect(lineOf(text, "Refused")).toContain("1 change rejected");
  }
});

test("a worker that has reported is not at work, and its clock stands still", () => {
  const at = (state: "Running" | "WaitingForInput"): ChatWalk =>
    begun(new ChatWalk({ columns: 100, rows: 24 })).entries(aProcess("a", { task: "Compare", state }));
  const working = at("Running");
  expect(working.screen).toContain("1 process runs");
  expect(working.screen).toContain("Compare  worker  10.0 s");
  const ready = at("WaitingForInput");
  expect(ready.screen).not.toContain("process runs");
  expect(ready.screen).toMatch(/\[ready\] Compare {2}worker$/m);
  expect(workerLines(ready.state, plainSurface)[0]).toBe("Branches and workers: 1; none at work");
  expect(workerLines(ready.state, plainSurface).join()).toContain("/stop a stops it");
});
