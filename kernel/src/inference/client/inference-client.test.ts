import { join } from "node:path";
import process from "node:process";
import { expect, onTestFinished, test, vi } from "vitest";
import { silentLog } from "../../base/log.ts";
import { systemClock } from "../../platform/clock.ts";
import { temporaryFolder } from "../../platform/testing/temporary-folder.ts";
import { inferenceBounds as bounds } from "../bounds.ts";
import { InferenceClient } from "./inference-client.ts";

async function opened(): Promise<{ client: InferenceClient; folder: string }> {
  const folder = await temporaryFolder();
  // Nothing is installed around the folder.
  const packagesOf = `file://${folder}/none.js`;
  const client = new InferenceClient({ clock: systemClock, log: silentLog, packagesOf });
  onTestFinished(() => client[Symbol.asyncDispose]());
  return { client, folder };
}

const modelAt = (...path: string[]) => ({ kind: "onnx", path: join(...path) }) as const;

test("the host is started by the first call, and says how to get a package that is missing", async () => {
  const { client, folder } = await opened();
  expect(client.pid).toBeNull();
  expect(await client.embed(modelAt(folder, "model.onnx"), ["sea"])).toEqual({
    failure: expect.stringContaining("npm install onnxruntime-node") as string,
    isRetryable: false,
  });
  expect(client.pid).not.toBeNull();
});

test("a model elsewhere gets a host that may read it", async () => {
  const { client, folder } = await opened();
  const pids = [];
  for (const name of ["one", "one", "other", "one"]) {
    await client.embed(modelAt(folder, name, "model.onnx"), []);
    pids.push(client.pid);
  }
  expect(pids).toEqual([pids[0], pids[0], pids[2], pids[2]]);
  expect(pids[2]).not.toBe(pids[0]);
});

test("crash: a host that dies fails its calls, and the next call has another", async () => {
  const { client, folder } = await opened();
  const model = modelAt(folder, "model.onnx");
  await client.embed(model, []);
  const { pid } = client;
  if (pid === null) expect.unreachable("the host runs");
  process.kill(pid, "SIGSTOP");
  const calls = ["sea", "hill"].map((text) => client.embed(model, [text]));
  await vi.waitUntil(() => client.openCalls === calls.length);
  process.kill(pid, "SIGKILL");
  const failure = expect.stringMatching(/inference host ended by SIGKILL/u) as string;
  expect(await Promise.all(calls)).toEqual([
    { failure, isRetryable: true },
    { failure, isRetryable: true },
  ]);
  expect(await client.embed(model, [])).toMatchObject({ isRetryable: false });
  expect(client.pid).not.toBe(pid);
});

test("more texts than a call may have never reach a host", async () => {
  const { client, folder } = await opened();
  const texts = Array.from({ length: bounds.maxTexts + 1 }, () => "sea");
  expect(await client.embed(modelAt(folder, "model.onnx"), texts)).toMatchObject({ isRetryable: false });
  expect(client.pid).toBeNull();
});

test("a path that the system refuses is an answer as well", async () => {
  const { client, folder } = await opened();
  expect(await client.embed(modelAt(folder, "a".repeat(5000), "model.onnx"), [])).toMatchObject({
    failure: expect.stringContaining("cannot be reached: ENAMETOOLONG") as string,
  });
});
