import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { silentLog } from "../../base/log.ts";
import { canonicalJson } from "../../base/json.ts";
import { systemClock } from "../../platform/clock.ts";
import { temporaryFolder } from "../../platform/testing/temporary-folder.ts";
import { createOnnxEmbedder } from "../../store/embedding/onnx.ts";
import { testStore } from "../../store/testing/test-store.ts";
import { onnxEmbedder } from "../testing/onnx-embedder.ts";
import { tokenModel } from "../testing/tiny-model.ts";
import { until } from "../../../../test/support/until.ts";
import { InferenceClient } from "./inference-client.ts";

const vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "sea", "hill"];
const table = [
  [0, 0, 0],
  [0, 0, 9],
  [0, 0, 0],
  [0, 0, 0],
  [4, 0, 0],
  [0, 4, 0],
];

async function model(rows: readonly (readonly number[])[] = table) {
  const folder = await temporaryFolder();
  const path = join(folder, "model.onnx");
  await writeFile(path, tokenModel(rows));
  await writeFile(join(folder, "model.onnx_data"), "weights");
  await writeFile(join(folder, "vocab.txt"), `${vocabulary.join("\n")}\n`);
  return { kind: "onnx", path } as const;
}

function opened(): InferenceClient {
  const packagesOf = new URL("../../../../test/models/package.json", import.meta.url).href;
  const client = new InferenceClient({ clock: systemClock, log: silentLog, packagesOf });
  onTestFinished(() => client[Symbol.asyncDispose]());
  return client;
}

test("the host's vectors and name are those of the same model in this process", async () => {
  const client = opened();
  const { path, kind } = await model();
  await using here = await onnxEmbedder(path);
  await using there = await createOnnxEmbedder({ path, kind }, (...call) => client.embed(...call));
  expect([there.name, there.dimensions]).toEqual([here.name, here.dimensions]);
  const texts = Array.from({ length: 150 }, (_, at) => (at % 3 === 0 ? "hill" : "sea hill sea"));
  expect(await there.embed(texts, "item")).toEqual(await here.embed(texts));
});

test("a model that was replaced is not taken for the one before it", async () => {
  const client = opened();
  const { path, kind } = await model();
  const open = () => createOnnxEmbedder({ path, kind }, (...call) => client.embed(...call));
  await using before = await open();
  await writeFile(path, tokenModel(table.toReversed()));
  expect(await before.embed(["sea"], "item")).toEqual([Float32Array.of(1, 0, 0)]);
  await using after = await open();
  expect(after.name).not.toBe(before.name);
  await expect(before.embed(["sea"], "item")).rejects.toThrow(/has changed: it is/u);
});

test("a memory's items get their vectors by a model outside of the state folder", async () => {
  const client = opened();
  const embedder = await model();
  const { store, journal } = await testStore(undefined, { embedHere: (...call) => client.embed(...call) });
  const data = canonicalJson({ variant: "Fact", data: {}, text: "sea" });
  for (const id of ["one", "other"]) journal.append({ operation: "store", kind: "knowledge", id, data });
  const memory = { ...journal.memory, settings: { ...journal.memory.settings, embedder } };
  await until("both items have a vector", async () => {
    const { vectors } = await store.request("stats", memory, {});
    return vectors.count === 2;
  });
  const { embedder: served } = await store.request("stats", memory, {});
  expect(served).toMatch(/^onnx\/model\.onnx@[0-9a-f]{12}\/3$/u);
});

test("a file that is not a model is reported by the host, which keeps running", async () => {
  const client = opened();
  const broken = await model();
  await writeFile(broken.path, new Uint8Array(4096));
  expect(await client.embed(broken, [])).toEqual({
    failure: expect.stringContaining("is not a model that onnxruntime can load") as string,
    isRetryable: false,
  });
  expect(await client.embed(await model(), ["sea"])).toMatchObject({ dimensions: 3 });
});
