import { expect, it } from "vitest";
import type { Ask } from "../protocol.ts";
import { fakeContext } from "../testing/context.ts";
import { ask } from "../testing/things.ts";
import { settled } from "../testing/wire.ts";
import { KernelAsks } from "./asks.ts";

function start(list: () => Ask[] | Promise<Ask[]> = () => []) {
  const fake = fakeContext({ "lares/asks/list": list });
  const asks = new KernelAsks(fake.context.kernel);
  let changes = 0;
  asks.onDidChange(() => void changes++);
  return { fake, asks, ids: () => asks.pending.map(({ id }) => id), changes: () => changes };
}

it("questions that waited before and those that come are known, oldest first", async () => {
  const { fake, ids, changes } = start(() => [ask({ id: "new" }), ask({ id: "old" })]);
  await settled();
  expect([ids(), changes()]).toEqual([["old", "new"], 1]);
  fake.tell("lares/asks/changed", ask({ id: "newest" }));
  expect([ids(), changes()]).toEqual([["old", "new", "newest"], 2]);
});

it.each(["Allowed", "Denied", "Expired"] as const)("one that is %s is gone", async (state) => {
  const { fake, ids } = start(() => [ask({ id: "a" })]);
  await settled();
  fake.tell("lares/asks/changed", ask({ id: "a", state }));
  expect(ids()).toEqual([]);
});

it("a question that ended during the request for the list is not restored by it", async () => {
  const { promise, resolve } = Promise.withResolvers<Ask[]>();
  const { fake, ids } = start(() => promise);
  fake.tell("lares/asks/changed", ask({ id: "a", state: "Denied" }));
  resolve([ask({ id: "a" }), ask({ id: "b" })]);
  await settled();
  expect(ids()).toEqual(["b"]);
});

it("those of a kernel that ended are gone, and those of the next one are asked for", async () => {
  const lists = [[ask({ id: "a" })], [ask({ id: "b" })]];
  const { fake, ids } = start(() => lists.shift() ?? []);
  await settled();
  fake.state = { kind: "restarting", inMs: 1, reason: "it ended" };
  fake.stateChanged.fire(fake.state);
  expect(ids()).toEqual([]);
  fake.state = { kind: "running" };
  fake.stateChanged.fire(fake.state);
  await settled();
  expect(ids()).toEqual(["b"]);
});

it("a kernel that does not answer leaves none", async () => {
  const { ids } = start(() => Promise.reject(new Error("It has gone.")));
  await settled();
  expect(ids()).toEqual([]);
});
