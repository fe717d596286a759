import { describe, expect, test } from "vitest";
import { silentHere } from "../../../base/turn-ends.ts";
import { asks, begun, channel, type ChatWalk, says, type EntryFields } from "../testing/chat-walk.ts";

const request = (message: string): EntryFields => ({
  kind: "request",
  attempt: 1,
  model: "m/m",
  message,
  digest: `sha256:${"a".repeat(64)}`,
});
const thinks = (text: string, id: string, more: object = {}): EntryFields =>
  says("", { id, parts: [{ type: "reasoning", text }], ...more });
const asked = (text: string): ChatWalk => begun().entries(asks(text), channel("Running"));

describe("a turn without an answer", () => {
  test("keeps what was thought, and says so, also after the next message takes the answer back", () => {
    const walk = asked("How many?").entries(
      request("m"),
      thinks("I count the photos.", "m", { partial: true }),
      channel("WaitingForInput"),
    );
    const shown = ["▸ Thought: I count the photos.", "", `! ${silentHere}`];
    const lines = (): string[] => walk.screen.split("\n").map((line) => line.trim());
    expect(lines()).toEqual(expect.arrayContaining(shown));
    expect(walk.screen).not.toContain("unfinished");
    walk.entries(asks("And?"), { kind: "void", message: "m" }, channel("Running"), request("n"));
    walk.entries(says("Three.", { id: "n" }), channel("WaitingForInput"));
    const at = lines().indexOf(shown[0] ?? "");
    expect(lines().slice(at, at + 5)).toEqual([...shown, "", "› And?"]);
    expect(walk.screen.match(/ended without an answer/g)).toHaveLength(1);
    expect(walk.press("<C-o>").screen).toContain("┆ I count the photos.");
  });

  test("says so above what the person wrote meanwhile, which the next turn reads", () => {
    const walk = asked("How many?").entries(
      request("m"),
      thinks("Hm.", "m", { partial: true }),
      asks("And?"),
      channel("WaitingForInput"),
      channel("Running"),
      request("n"),
      { kind: "void", message: "n" },
      channel("WaitingForInput"),
    );
    expect(walk.screen).toMatch(
      /Thought: Hm\.\n\n {2}! The model ended[^›]*› And\?\n\n {2}! The model ended/,
    );
  });

  test.each([
    ["in which only was thought, to the end", thinks("Hm.", "m")],
    ["of which nothing came", { kind: "void", message: "m" } as const],
    ["of white space", says(" \n", { id: "m" })],
  ])("%s says so", (_what, answer) => {
    const walk = asked("How many?").entries(request("m"), answer, channel("WaitingForInput"));
    expect(walk.screen).toContain(`! ${silentHere}`);
  });

  test.each([
    ["was cut off, which says why", asked("Hi").entries(request("m"), thinks("Hm.", "m", { cut: "length" }))],
    ["is not in the log any more", asked("Hi").entries(request("m"))],
    [
      "ends with a call",
      asked("Hi").entries(request("m"), thinks("Hm.", "m"), {
        kind: "tool_call",
        call: "c",
        tool: "files/list",
        arguments: {},
      }),
    ],
    [
      "was begun by news that need no answer",
      asked("Hi")
        .entries(request("m"), says("Yes.", { id: "m" }), channel("WaitingForInput"), channel("Running"))
        .entries(request("n"), { kind: "void", message: "n" }),
    ],
    [
      "was begun again after the death of a kernel",
      asked("Hi")
        .entries(request("m"), says("Once", { id: "m", partial: true }), { kind: "void", message: "m" })
        .entries(request("n"), says("Yes.", { id: "n" })),
    ],
  ])("does not say so if it %s", (_what, walk) => {
    expect(walk.entries(channel("WaitingForInput")).screen).not.toContain(silentHere);
    expect(walk.screen).not.toContain("Once");
  });
});
