import process from "node:process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { call, probe } from "../support/agents.ts";
import { Bench } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { lares } from "../support/command-line.ts";
import type { Action } from "../support/types.ts";
import { isAlive, until } from "../support/until.ts";

const PROBE = "test.probe";

let bench: Bench;
let one: Client;
let other: Client;
beforeAll(async () => {
  bench = await Bench.create({ files: { "a.txt": "a\n" }, extensions: [probe({ id: PROBE })] });
  [one, other] = await Promise.all([bench.open(), bench.open()]);
});
afterAll(() => bench[Symbol.asyncDispose]());

const stop = async (): Promise<unknown> => {
  const { code, stdout, stderr } = await lares(bench, ["stop", "--json"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
};

test("a hanging kernel is killed; both editors continue with the next one, and pending actions stay pending", async () => {
  const effects = [{ kind: "file.write", path: "a.txt", content: "b\n" }];
  const proposed = await call<Action>(one, PROBE, "actions.propose", effects, { title: "B", reason: "" });
  expect(proposed.state).toBe("PendingApproval");
  const { pid } = await bench.status(one);
  process.kill(pid, "SIGSTOP");
  const asked = one.request<{ pid: number }>("lares/status");

  expect(await stop()).toEqual({ pid, killed: true });

  await until("it to be gone", () => !isAlive(pid));
  // The next kernel answers the request that the hanging one got.
  const next = (await asked).pid;
  expect(next).not.toBe(pid);
  expect((await bench.ready(other)).pid).toBe(next);
  const kept = await other.request<Action>("lares/actions/get", { id: proposed.id });
  expect(kept).toMatchObject({ state: "PendingApproval", digest: proposed.digest });
  const done = await other.request<Action>("lares/actions/approve", {
    id: proposed.id,
    digest: proposed.digest,
  });
  expect(done.state).toBe("Committed");
});

test("an editor that finds a hanging kernel reports it, and continues once the kernel is ended", async () => {
  const { pid } = await bench.ready(one);
  process.kill(pid, "SIGSTOP");
  const late = await bench.connect();
  await expect(late.request("lares/status")).rejects.toThrow(/does not answer.*lares stop/);
  expect(await stop()).toEqual({ pid, killed: true });
  expect((await bench.ready(late)).pid).not.toBe(pid);
  await late.shutdown();
});

test("a kernel that answers ends in order; without a kernel, nothing is done", async () => {
  const { pid } = await bench.ready(one);
  expect(await stop()).toEqual({ pid, killed: false });
  const next = await until("the next one", async () => {
    const status = await bench.ready(one);
    return status.pid !== pid && status.pid;
  });
  await Promise.all([one.shutdown(), other.shutdown()]);
  await until("it to have lingered out", () => !isAlive(next));
  expect(await stop()).toEqual({ pid: null, killed: false });
});
