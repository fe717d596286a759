import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { approve, pick, propose } from "../support/actions.ts";
import { call, events, host, probe } from "../support/agents.ts";
import { Bench } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { CODES } from "../support/types.ts";
import { until } from "../support/until.ts";

const PROPOSER = "test.proposer";
const OTHER = "test.other";
const hooks = [{ on: "ActionEnded", handler: "record" }];

let bench: Bench;
let client: Client;
beforeAll(async () => {
  bench = await Bench.create({
    extensions: [probe({ id: PROPOSER, hooks }), probe({ id: OTHER, hooks })],
  });
  client = await bench.open();
});
afterAll(() => bench[Symbol.asyncDispose]());

const text = (path: string): Promise<string> => readFile(bench.path(path), "utf8");
const edit = (path: string, find: string, replace: string) => ({
  kind: "file.edit",
  path,
  edits: [{ find, replace }],
});
const write = (path: string, content: string) => ({ kind: "file.write", path, content });

/** Returns the events about this action that the agent received. */
async function told(agent: string, id: string): Promise<Record<string, unknown>[]> {
  return (await events(client, agent)).filter((event) => event["action"] === id);
}

test("a file that a person changes makes a waiting action stale: it is no longer counted, and only its agent is notified", async () => {
  await bench.write("list.md", "one\ntwo\nthree\nfour\nfive\n");
  const action = await propose(client, PROPOSER, edit("list.md", "one", "1"));
  const before = await client.request<{ pendingActions: number }>("lares/status", {});
  await bench.write("list.md", "one\ntwo\nthree\nfour\nFIVE\n");
  await until("the action is stale", async () => (await pick(client, action)).state === "Stale");
  await until("it is no longer counted", async () => {
    const after = await client.request<{ pendingActions: number }>("lares/status", {});
    return after.pendingActions === before.pendingActions - 1;
  });
  await until("the agent was told", async () => (await told(PROPOSER, action.id)).length > 0);
  expect(await told(PROPOSER, action.id)).toMatchObject([
    { name: "ActionEnded", state: "Stale", title: "A title", paths: ["list.md"] },
  ]);
  expect(await told(OTHER, action.id)).toEqual([]);

  const rebased = await client.request<typeof action>("lares/actions/rebase", { id: action.id });
  expect(rebased).toMatchObject({ state: "PendingApproval", supersedes: action.id });
  await approve(client, rebased);
  expect(await text("list.md")).toBe("1\ntwo\nthree\nfour\nFIVE\n");
});

test("the reason of a rejection reaches the agent; one that is too long is refused", async () => {
  const action = await propose(client, PROPOSER, write("new.md", "x"));
  const { id } = action;
  await expect(
    client.request("lares/actions/reject", { id, reason: "x".repeat(2001) }),
  ).rejects.toMatchObject({ code: -32602 });
  expect(await client.request("lares/actions/reject", { id, reason: "Not here" })).toMatchObject({
    rejected_reason: "Not here",
  });
  await until("the agent was told", async () => (await told(PROPOSER, id)).length > 0);
  expect(await told(PROPOSER, id)).toMatchObject([{ state: "Rejected", reason: "Not here" }]);
});

test("a change that no longer applies is Stale on the wire", async () => {
  await bench.write("same.md", "one\n");
  const action = await propose(client, PROPOSER, edit("same.md", "one", "1"));
  await bench.write("same.md", "other\n");
  await until("the action is stale", async () => (await pick(client, action)).state === "Stale");
  await expect(client.request("lares/actions/rebase", { id: action.id })).rejects.toMatchObject({
    code: CODES.Stale,
  });
});

test("an approval with edits answers with the digest of the result, and its agent does not get the content", async () => {
  await bench.write("mine.md", "one\n");
  const action = await propose(client, PROPOSER, edit("mine.md", "one", "1"));
  const done = await approve(client, action, { edits: [{ effect: 0, content: "by hand\n" }] });
  expect(done).toMatchObject({ state: "Committed", edited_by: "user" });
  expect(done.digest).not.toBe(action.digest);
  expect(await text("mine.md")).toBe("by hand\n");
  const known = await call(client, PROPOSER, "actions.get", action.id);
  expect(JSON.stringify(known)).not.toContain("by hand");
  expect(known).toMatchObject({ effects: [{ before: null, after: null, summary: "Edit mine.md" }] });
});

test("a proposal whose diffs exceed an answer is answered without the last ones, and stored once", async () => {
  const old = Array.from({ length: 8 }, (_none, index) => `big/${index}.txt`);
  for (const path of old) await bench.write(path, "a long line of a file\n".repeat(9000));
  const deletions = old.map((path) => ({ kind: "file.delete", path }));
  const answer = await host(client, PROPOSER, "actions.propose", deletions, { title: "Big", reason: "" });
  expect(answer).toMatchObject({ value: { state: "PendingApproval" } });
});
