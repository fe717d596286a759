import { expect, test } from "vitest";
import type { Process } from "../../../base/vocabulary/conversation.ts";
import { aProcess, channel, ChatWalk, type EntryFields } from "../testing/chat-walk.ts";
import { stoppable } from "./state.ts";

const stops = (...processes: readonly EntryFields[]): string[] =>
  stoppable(new ChatWalk().entries(...processes).state).map(({ id }) => id);

test.each<[Process["state"], isStopped: boolean]>([
  ["Waiting", true],
  ["Running", true],
  ["WaitingForApproval", true],
  ["WaitingForInput", false],
  ["Done", false],
  ["Failed", false],
  ["Cancelled", false],
])("a channel that is %s can be stopped: %s", (state, isStopped) => {
  expect(stops(channel(state))).toEqual(isStopped ? ["channel"] : []);
});

test("a worker can be stopped until it has ended, also while it waits for a follow-up", () => {
  const ended = aProcess("b", { state: "Done" });
  expect(stops(channel("WaitingForInput"), aProcess("a", { state: "WaitingForInput" }), ended)).toEqual([
    "a",
  ]);
});
