import { expect, test } from "vitest";
import type { Process } from "../../../base/vocabulary/conversation.ts";
import { aProcess, channel, ChatWalk, type EntryFields } from "../testing/chat-walk.ts";
import { runningNamed, stoppable } from "./state.ts";

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

test("what names no worker, or two, is answered with those that run and their short ids", () => {
  const { state } = new ChatWalk().entries(
    aProcess("f5b0c1d2-0000-11112222", { task: "Find doubles", name: "research" }),
    aProcess("f5b0c1d2-0000-33334444", { task: "Name the scans", name: "research" }),
    aProcess("f5b0c1d2-0000-55556666", { task: "Count", state: "Done" }),
  );
  expect(() => runningNamed(state, "nosuch")).toThrow(
    'No running branch or worker has an id that ends in "nosuch", a kind that is called so, or a task that begins so. There are: 11112222 "Find doubles", 33334444 "Name the scans".',
  );
  expect(() => runningNamed(state, "research")).toThrow(
    '"research" can mean 2 running branches and workers: 11112222 "Find doubles", 33334444 "Name the scans". Write more',
  );
  expect(() => runningNamed(new ChatWalk().state, "x")).toThrow("Nothing runs now.");
});
