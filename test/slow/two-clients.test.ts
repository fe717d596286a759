import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { approve, pick, propose } from "../support/actions.ts";
import { call, event, probe } from "../support/agents.ts";
import { Bench, tool } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import type { Action, TraceEntry } from "../support/types.ts";
import { isAlive, until } from "../support/until.ts";

const PROBE = "test.probe";
const WAITER = "test.waiter";
const WAITS = `
import { defineAgent } from "@lares/sdk";
export default defineAgent({
  tools: {
    async wait() { await new Promise((resolve) => setTimeout(resolve, 600_000)); },
    async say({ message }, ctx) { ctx.trace.info(message); return null; },
  },
});
`;

let bench: Bench;
let first: Client;
let second: Client;
beforeAll(async () => {
  bench = await Bench.create({
    files: { "a.txt": "a\n", "b.txt": "b\n" },
    extensions: [
      probe({ id: PROBE, hooks: [{ on: "EntryCreated", handler: "record" }] }),
      {
        id: WAITER,
        program: WAITS,
        manifest: {
          resources: { max_wall_ms_per_event: 600_000 },
          tools: ["wait", "say"].map((name) => ({
            name,
            description: name,
            handler: name,
            parameters: { type: "object" },
          })),
        },
      },
    ],
  });
  // Concurrently: one of the two fronts starts the kernel, the other joins it.
  [first, second] = await Promise.all([bench.open(), bench.open()]);
});
afterAll(() => bench[Symbol.asyncDispose]());

const write = (path: string, content: string) => ({ kind: "file.write", path, content });

test("both joined the same kernel, which is not a child of either front", async () => {
  const pids = [(await bench.status(first)).pid, (await bench.status(second)).pid];
  expect(pids[0]).toBe(pids[1]);
  expect([first.process.pid, second.process.pid]).not.toContain(pids[0]);
});

test("an action approved in one is notified in the other, and no longer pending there", async () => {
  const action = await propose(first, PROBE, write("a.txt", "changed\n"));
  await second.notification<Action>(
    "lares/actions/changed",
    ({ id, state }) => id === action.id && state === "PendingApproval",
  );
  await approve(first, action);
  await second.notification<Action>(
    "lares/actions/changed",
    ({ id, state }) => id === action.id && state === "Committed",
  );
  await expect(approve(second, action)).rejects.toMatchObject({ data: { state: "Committed" } });
});

test("traces go to the client that follows them, and not to the other", async () => {
  const { subscription } = await first.request<{ subscription: string }>("lares/traces/follow", {
    agent: WAITER,
  });
  await tool(second, WAITER, "say", { message: "for the first" });
  await first.notification<{ entry: TraceEntry }>(
    "lares/traces/entry",
    ({ entry }) => entry.message === "for the first",
  );
  await bench.status(second);
  expect(second.notifications("lares/traces/entry")).toEqual([]);
  await first.request("lares/traces/unfollow", { subscription });
});

test("kill -9 of the kernel: open requests fail cleanly, both continue with the next one, and the session is replayed", async () => {
  const { pid } = await bench.status(first);
  const pending = await propose(first, PROBE, write("b.txt", "after the kill\n"));
  const { subscription } = await first.request<{ subscription: string }>("lares/traces/follow", {
    agent: WAITER,
  });
  const open = first.raw("lares/tools/call", { agent: WAITER, name: "wait", arguments: {} });
  // Sent on the same connection, after the call: once it is answered, the kernel has the call. An unsent call would go
  // to the next kernel.
  await until("the kernel to have the call", async () => (await bench.status(first)).ready);

  await bench.kill(pid);
  expect(await open).toMatchObject({
    error: { code: expect.any(Number), message: expect.stringMatching(/\w+ \w+/) },
  });

  const [one, two] = await Promise.all([bench.ready(first), bench.ready(second)]);
  expect(one.pid).toBe(two.pid);
  expect(one.pid).not.toBe(pid);
  expect([one.trusted, two.trusted]).toEqual([true, true]);

  await tool(second, WAITER, "say", { message: "after the kill" });
  const notice = await first.notification<{ subscription: string; entry: TraceEntry }>(
    "lares/traces/entry",
    ({ entry }) => entry.message === "after the kill",
  );
  expect(notice.subscription).toBe(subscription);

  await bench.write("born-later.txt", "x");
  await event(
    first,
    PROBE,
    "an event",
    (seen) => (seen["entry"] as { path: string }).path === "born-later.txt",
  );

  expect(await pick(second, pending)).toMatchObject({ state: "PendingApproval" });
  expect(await approve(second, pending)).toMatchObject({ state: "Committed" });
  expect(await readFile(bench.path("b.txt"), "utf8")).toBe("after the kill\n");
  expect([first.fault, second.fault]).toEqual([undefined, undefined]);
});

test("a client's unsaved changes count as drift also in the next kernel", async () => {
  const uri = bench.uri("a.txt");
  const text = await readFile(bench.path("a.txt"), "utf8");
  second.notify("textDocument/didOpen", { textDocument: { uri, languageId: "plaintext", version: 1, text } });
  const contentChanges = [{ text: "unsaved\n" }];
  second.notify("textDocument/didChange", { textDocument: { uri, version: 2 }, contentChanges });
  const { pid } = await bench.ready(second);
  await bench.kill(pid);
  await Promise.all([bench.ready(first), bench.ready(second)]);
  const action = await propose(first, PROBE, write("a.txt", "over unsaved text\n"));
  expect(await approve(first, action)).toMatchObject({ state: "Stale" });
  second.notify("textDocument/didClose", { textDocument: { uri } });
});

test("a kernel that is killed repeatedly is replaced repeatedly", async () => {
  // After three that ended soon after they were joined, a waiting request fails; the next request gets the next kernel.
  const askedAgain = async (client: Client): Promise<number> => {
    const { pid } = await bench.ready(client).catch((error: unknown) => {
      if (!String(error).includes("times in a row")) throw error;
      return bench.ready(client);
    });
    return pid;
  };
  for (let round = 0; round < 4; round++) {
    const pid = await askedAgain(first);
    await bench.kill(pid);
    expect(await askedAgain(second)).not.toBe(pid);
  }
  await askedAgain(first);
  expect(await call(first, PROBE, "vdfs.readText", "b.txt")).toBe("after the kill\n");
});

test("one client's leaving does not disturb the other; the last one's ends the kernel", async () => {
  const { pid } = await bench.ready(first);
  expect(await second.shutdown()).toEqual({ code: 0, signal: null });
  expect((await bench.status(first)).pid).toBe(pid);
  await first.shutdown();
  await until("the kernel to end", () => !isAlive(pid));
});
