import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { neverAborted } from "../../base/abort.ts";
import { silentLog } from "../../base/log.ts";
import type { NamedTensor, TensorType } from "../../base/tensors.ts";
import { systemClock } from "../../platform/clock.ts";
import { sha256Hex } from "../../platform/files/hash.ts";
import { temporaryFolder } from "../../platform/testing/temporary-folder.ts";
import { until } from "../../../../test/support/until.ts";
import {
  addingModel,
  allocatingModel,
  borrowingModel,
  endlessModel,
  identityModel,
} from "../testing/tensor-models.ts";
import { TensorModelClient, type TensorOptions, type TensorRun } from "./tensor-models.ts";

type Infer = (
  inputs: readonly NamedTensor[],
  change?: Partial<TensorRun>,
) => ReturnType<TensorModelClient["infer"]>;

interface Bed {
  readonly client: TensorModelClient;
  readonly folder: string;
  /** Stores a model, and returns what runs it. */
  prepared(model: Uint8Array): Promise<Infer>;
  run(model: Uint8Array, ...call: Parameters<Infer>): ReturnType<Infer>;
}

async function bed(options: Partial<TensorOptions> = {}): Promise<Bed> {
  const folder = await temporaryFolder();
  const packagesOf = new URL("../../../../test/models/package.json", import.meta.url).href;
  const client = new TensorModelClient({
    clock: systemClock,
    log: silentLog,
    packagesOf,
    folder,
    ...options,
  });
  onTestFinished(() => client[Symbol.asyncDispose]());
  const prepared: Bed["prepared"] = async (model) => {
    const sha256 = sha256Hex(model);
    const file = join(folder, `${sha256}.onnx`);
    await writeFile(file, model);
    const title = 'the model "m"';
    return (inputs, change = {}) =>
      client.infer({ file, sha256, title, who: "dev.test", inputs, signal: neverAborted, ...change });
  };
  return {
    client,
    folder,
    prepared,
    run: async (model, inputs, change) => await (await prepared(model))(inputs, change),
  };
}

const tensor = (
  name: string,
  type: TensorType,
  dims: readonly number[],
  values: { readonly buffer: ArrayBufferLike },
): NamedTensor => ({ name, type, dims, bytes: new Uint8Array(values.buffer) });
const x = (...values: readonly number[]): NamedTensor =>
  tensor("x", "float32", [values.length / 3, 3], Float32Array.from(values));

const one = tensor("x", "float32", [1], Float32Array.of(1));

test("a model is run, and two of one name with other contents are two models", async () => {
  const { run } = await bed();
  for (const offset of [1, 10]) {
    const answer = await run(addingModel(offset), [x(1, 2, 3, 4, 5, 6)]);
    if ("failure" in answer) throw new Error(answer.failure.message);
    const [y] = answer.outputs;
    expect(y).toMatchObject({ name: "y", type: "float32", dims: [2, 3] });
    expect([...new Float32Array(Uint8Array.from(y?.bytes ?? []).buffer)]).toEqual(
      [1, 2, 3, 4, 5, 6].map((value) => value + offset),
    );
  }
});

test("numbers of every type are returned unchanged", async () => {
  const { run } = await bed();
  const values = {
    float32: Float32Array.of(1.5, -2),
    float64: Float64Array.of(1.5, -2),
    int64: BigInt64Array.of(2n ** 60n, -3n),
    int32: Int32Array.of(7, -3),
    int8: Int8Array.of(7, -3),
    uint8: Uint8Array.of(7, 250),
    bool: Uint8Array.of(1, 0),
  } as const;
  for (const [name, numbers] of Object.entries(values)) {
    const type = name as TensorType;
    const input = tensor("x", type, [2], numbers);
    const answer = await run(identityModel(type), [input]);
    expect(answer).toEqual({ outputs: [{ ...input, name: "y", bytes: Uint8Array.from(input.bytes) }] });
    const empty = { name: "x", type, dims: [0], bytes: new Uint8Array() };
    expect(await run(identityModel(type), [empty])).toEqual({ outputs: [{ ...empty, name: "y" }] });
  }
});

test("inputs that the model does not take are refused with what it takes, and the host keeps running", async () => {
  const { client, run } = await bed();
  const model = addingModel(1);
  expect(await run(model, [])).toMatchObject({
    failure: {
      class: "Refused",
      message: expect.stringContaining('It takes "x" (float32 [batch, 3])') as string,
    },
  });
  const { pid } = client;
  expect(await run(model, [tensor("z", "float32", [3], Float32Array.of(1, 2, 3))])).toMatchObject({
    failure: { class: "Refused", message: expect.stringContaining('no input "z"') as string },
  });
  for (const wrong of [
    tensor("x", "int64", [1, 3], BigInt64Array.of(1n, 2n, 3n)),
    tensor("x", "float32", [4], Float32Array.of(1, 2, 3, 4)),
  ])
    expect(await run(model, [wrong])).toMatchObject({ failure: { class: "Refused" } });
  expect(await run(model, [x(1, 2, 3)])).toMatchObject({ outputs: [{ name: "y" }] });
  expect(client.pid).toBe(pid);
});

test("an output of a type that cannot be passed on, or with too many bytes, is refused", async () => {
  const { run } = await bed();
  const shape = (length: bigint): NamedTensor => tensor("shape", "int64", [1], BigInt64Array.of(length));
  expect(await run(allocatingModel("all"), [shape(10n)])).toMatchObject({ outputs: [{ dims: [10] }] });
  expect(await run(allocatingModel("all"), [shape(9_000_000n)])).toMatchObject({
    failure: { class: "Refused", message: expect.stringContaining("too large") as string },
  });
});

test("what is not a model, is damaged, or names other files is not loaded", async () => {
  const { run, folder } = await bed();
  await writeFile(join(folder, "secret"), "SECRETSECRET");
  expect(await run(borrowingModel("secret"), [x(0, 0, 0)])).toMatchObject({
    failure: { class: "Unusable", message: expect.stringContaining("outside of its file") as string },
  });
  expect(await run(new Uint8Array(100), [])).toMatchObject({ failure: { class: "Unusable" } });
  expect(await run(addingModel(1), [x(0, 0, 0)], { sha256: "0".repeat(64) })).toMatchObject({
    failure: { class: "Damaged" },
  });
  expect(await run(addingModel(1), [x(0, 0, 0)], { file: join(folder, "none") })).toMatchObject({
    failure: { class: "Damaged" },
  });
});

test("a model that never ends ends only its host, and is not run again at once", async () => {
  const { client, run } = await bed({ limits: { tensorRunTimeoutMs: 1000 } });
  const endless = (): ReturnType<Infer> => run(endlessModel(), [one], { who: "dev.hostile" });
  expect(await run(addingModel(1), [x(1, 2, 3)])).toMatchObject({ outputs: [{ name: "y" }] });
  const { pid } = client;
  // Another agent's run waits meanwhile, and is answered by the next host.
  const [first, other] = await Promise.all([endless(), run(addingModel(2), [x(1, 2, 3)])]);
  expect(first).toMatchObject({
    failure: { class: "Timeout", message: 'The model "m" did not answer within 1 s.' },
  });
  expect(other).toMatchObject({ outputs: [{ name: "y" }] });
  expect(client.pid).not.toBe(pid);
  expect(await endless()).toMatchObject({
    failure: { class: "Timeout", message: expect.stringContaining("not run again for") as string },
  });
});

test("a model that takes more memory than there is is refused, and one that takes too much ends its host", async () => {
  const { client, prepared, run } = await bed({ limits: { maxTensorHostBytes: 500 * 1024 * 1024 } });
  const sum = await prepared(allocatingModel("sum"));
  const shape = (length: bigint): NamedTensor => tensor("shape", "int64", [1], BigInt64Array.of(length));
  // onnxruntime itself gives up, and the host stays.
  expect(await sum([shape(2n ** 45n)])).toMatchObject({ failure: { class: "Refused" } });
  const { pid } = client;
  expect(pid).not.toBe(null);
  expect(await sum([shape(10n)])).toMatchObject({ outputs: [{ name: "sum" }] });
  expect(client.pid).toBe(pid);
  if (process.platform !== "linux") return;
  expect(await sum([shape(500_000_000n)])).toMatchObject({ failure: { class: "Memory" } });
  expect(await run(addingModel(1), [x(1, 2, 3)])).toMatchObject({ outputs: [{ name: "y" }] });
});

test("a host that is killed fails the run, and one agent has few runs at once", async () => {
  const { client, prepared, run } = await bed({ limits: { loadAgainAfterMs: 0 } });
  const add = await prepared(addingModel(1));
  const first = run(endlessModel(), [one]);
  const pid = await until("a host", () => client.pid);
  const aborter = new AbortController();
  const waiting = [1, 2, 3].map(() =>
    add([x(1, 2, 3)], { signal: aborter.signal }).catch((error: unknown) => error),
  );
  expect(await add([x(1, 2, 3)])).toMatchObject({ failure: { class: "Busy" } });
  aborter.abort(new Error("enough"));
  for (const each of await Promise.all(waiting)) expect(each).toEqual(new Error("enough"));
  process.kill(pid, "SIGKILL");
  expect(await first).toMatchObject({ failure: { class: "Died" } });
  expect(await add([x(1, 2, 3)])).toMatchObject({ outputs: [{ name: "y" }] });
});

test("without onnxruntime the answer says what to install", async () => {
  const { run, folder } = await bed({ packagesOf: new URL("file:///nowhere/package.json").href });
  expect(folder).not.toBe("");
  expect(await run(addingModel(1), [x(1, 2, 3)])).toMatchObject({
    failure: {
      class: "Unusable",
      message: expect.stringContaining("npm install onnxruntime-node") as string,
    },
  });
});
