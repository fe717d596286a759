import { expect, test } from "vitest";
import { GuestBlobs } from "../../agents/calls/guest-blobs.ts";
import type { Caller } from "../../agents/ports.ts";
import { neverAborted } from "../../base/abort.ts";
import { type NamedTensor, tensorBounds } from "../../base/tensors.ts";
import type { GuestCallParams } from "../../protocol/guest/v1/calls.ts";
import { inferServices } from "./infer.ts";

type Input = GuestCallParams<"ai/infer">["inputs"][number];

const base64 = (bytes: number, value = 1): string => Buffer.alloc(bytes, value).toString("base64");
const x = (change: Partial<Input> = {}): Input => ({
  name: "x",
  type: "float32",
  dims: [1, 3],
  base64: base64(12),
  ...change,
});

/** The service, with a model that returns `outputs`. */
function bed(outputs: readonly NamedTensor[] = []) {
  const blobs = new GuestBlobs();
  const given: NamedTensor[][] = [];
  const { "ai/infer": infer } = inferServices({
    extensionModels: {
      infer: async ({ inputs }) => {
        given.push([...inputs]);
        return outputs;
      },
    },
  });
  const caller = { agent: "dev.test", blobs, signal: neverAborted } as unknown as Caller;
  return { blobs, given, run: (...inputs: Input[]) => infer(caller, { model: "m", inputs }) };
}

test("tensors reach the model with their bytes, from a message and from blobs", async () => {
  const { blobs, given, run } = bed();
  const blob = blobs.write(Uint8Array.of(1, 0, 1));
  const { base64: _none, ...shape } = x({ name: "mask", type: "bool", dims: [3] });
  await run(x(), { ...shape, blob }, x({ name: "one", dims: [], base64: base64(4) }));
  expect(given[0]?.map(({ name, bytes }) => [name, bytes.length])).toEqual([
    ["x", 12],
    ["mask", 3],
    ["one", 4],
  ]);
  // A dimension of no length has no bytes.
  await run(x({ dims: [0, 3], base64: "" }));
  expect(given[1]?.[0]?.bytes).toHaveLength(0);
});

test("tensors whose bytes do not fit type and dimensions are refused", async () => {
  const { blobs, given, run } = bed();
  const { base64: _none, ...bare } = x();
  const wrong: readonly Input[][] = [
    [x({ dims: [1, 4] })],
    [x({ dims: [1, 3], base64: base64(11) })],
    [x({ type: "float64" })],
    [x({ dims: [2 ** 31 - 1, 2 ** 31 - 1, 2 ** 31 - 1, 2 ** 31 - 1, 0, 5], base64: base64(3) })],
    [{ ...bare, blob: blobs.write(new Uint8Array(13)) }],
    // Neither, and both.
    [bare],
    [x({ blob: blobs.write(new Uint8Array(12)) })],
    [x(), x()],
    [x({ base64: "!".repeat(16) })],
    // Not the shortest form.
    [x({ type: "uint8", dims: [1], base64: "AR==" })],
    [x({ type: "bool", dims: [3], base64: base64(3, 2) })],
  ];
  for (const inputs of wrong)
    await expect(run(...inputs), JSON.stringify(inputs).slice(0, 200)).rejects.toMatchObject({
      code: "InvalidParams",
    });
  await expect(run({ ...bare, blob: "none" })).rejects.toMatchObject({ code: "NotFound" });
  expect(given).toEqual([]);
});

test("inputs that no memory could hold are refused by their dimensions alone", async () => {
  const { run } = bed();
  const huge = Array.from({ length: 8 }, () => tensorBounds.maxLength);
  await expect(run(x({ dims: huge }))).rejects.toMatchObject({ code: "LimitExceeded" });
  const half = (name: string): Input => ({ name, type: "float32", dims: [5_000_000], blob: "none" });
  await expect(run(half("a"), half("b"))).rejects.toMatchObject({ code: "LimitExceeded" });
});

test("outputs that do not fit a message come as blobs", async () => {
  const outputs = [
    { name: "large", type: "uint8", dims: [700_000], bytes: new Uint8Array(700_000).fill(7) },
    { name: "small", type: "uint8", dims: [2], bytes: Uint8Array.of(9, 1, 2, 9).subarray(1, 3) },
  ] as const;
  const { blobs, run } = bed(outputs);
  const answer = await run();
  const [large, small] = answer.outputs;
  expect(blobs.whole(large?.blob ?? "")).toEqual(outputs[0].bytes);
  expect(small).toEqual({ name: "small", type: "uint8", dims: [2], base64: "AQI=" });
  expect(JSON.stringify(answer).length).toBeLessThan(1_000_000);
});
