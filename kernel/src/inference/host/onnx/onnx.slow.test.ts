import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { onTestFinished, expect, test } from "vitest";
import { temporaryFolder } from "../../../platform/testing/temporary-folder.ts";
import { UnusableModel } from "../../unusable.ts";
import type { OnnxEmbedder } from "./onnx.ts";
import { onnxEmbedder } from "../../testing/onnx-embedder.ts";
import { echoModel, poolingModel, tokenModel } from "../../testing/tiny-model.ts";

const vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "sea", "##side", "hill", "."];
/** The vectors of padding and marks are far from those of words, so that a wrong count is visible. */
const table = [
  [900, 900, 900],
  [0, 0, 9],
  [0, 0, 0],
  [0, 0, 0],
  [4, 0, 0],
  [0, 4, 0],
  [0, 8, 0],
  [0, 0, 0],
];

async function folderWith(files: Readonly<Record<string, string | Uint8Array>>): Promise<string> {
  const folder = await temporaryFolder();
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
  return join(folder, "model.onnx");
}

const beside = { "vocab.txt": `${vocabulary.join("\n")}\n` };

async function embedderOf(path: string, dimensions?: number): Promise<OnnxEmbedder> {
  const embedder = await onnxEmbedder(path, dimensions);
  onTestFinished(() => embedder[Symbol.asyncDispose]());
  return embedder;
}

async function shown(embedder: OnnxEmbedder, ...texts: string[]): Promise<string[]> {
  const vectors = await embedder.embed(texts);
  return vectors.map((vector) => [...vector].map((value) => value.toFixed(2)).join(" "));
}

test("the mean of a text's own tokens, of length 1, whatever is padded beside it", async () => {
  const embedder = await embedderOf(await folderWith({ "model.onnx": tokenModel(table), ...beside }));
  expect(embedder.dimensions).toBe(3);
  expect(embedder.name).toMatch(/^onnx\/model\.onnx@[0-9a-f]{12}\/3$/);
  expect(await shown(embedder, "Sea", "hill hill hill hill sea hill hill", "seaside.", "unheard")).toEqual([
    "1.00 0.00 0.00",
    "0.08 1.00 0.00",
    "0.71 0.71 0.00",
    "0.00 0.00 1.00",
  ]);
});

test("another model, other weights or another vocabulary at the same path has another name", async () => {
  const files = { "model.onnx": tokenModel(table), "model.onnx_data": "weights", ...beside };
  const name = async (changes: Readonly<Record<string, string | Uint8Array>>): Promise<string> =>
    (await embedderOf(await folderWith({ ...files, ...changes }))).name;
  const first = await name({});
  expect(await name({})).toBe(first);
  expect(await name({ "model_fp16.onnx": tokenModel(table.toReversed()) })).toBe(first);
  const others = await Promise.all([
    name({ "model.onnx": tokenModel(table.toReversed()) }),
    name({ "model.onnx_data": "other weights" }),
    name({ "vocab.txt": `${vocabulary.toReversed().join("\n")}\n` }),
    name({ "1_Pooling/config.json": '{ "pooling_mode_cls_token": true }' }),
  ]);
  expect(new Set([first, ...others]).size).toBe(5);
});

test("more texts than fit in one batch are returned in order", async () => {
  const embedder = await embedderOf(await folderWith({ "model.onnx": tokenModel(table), ...beside }));
  const texts = Array.from({ length: 40 }, (_, index) => (index % 3 === 0 ? "hill" : "sea sea sea"));
  const vectors = await shown(embedder, ...texts);
  expect(vectors).toEqual(texts.map((text) => (text === "hill" ? "0.00 1.00 0.00" : "1.00 0.00 0.00")));
});

test("race: calls made while another is under way each get their own", async () => {
  const embedder = await embedderOf(await folderWith({ "model.onnx": tokenModel(table), ...beside }));
  const both = await Promise.all([shown(embedder, "sea"), shown(embedder, "hill")]);
  expect(both).toEqual([["1.00 0.00 0.00"], ["0.00 1.00 0.00"]]);
});

test("race: closed while a call is under way: that one is answered, the next refused, closing twice is fine", async () => {
  const path = await folderWith({ "model.onnx": tokenModel(table), ...beside });
  const embedder = await onnxEmbedder(path);
  const before = shown(embedder, "sea");
  const closed = embedder[Symbol.asyncDispose]();
  const after = shown(embedder, "sea").catch((error: unknown) => String(error));
  expect(await before).toEqual(["1.00 0.00 0.00"]);
  expect(await after).toContain("closed");
  await closed;
  await embedder[Symbol.asyncDispose]();
});

test.each([
  ["sentence_embedding", "the model's own, padding and all", false],
  ["pooler_output", "the mean of the tokens: that output is made for something else", true],
])("of a model that has %s beside the tokens, %s", async (output, _, isIndifferentToPadding) => {
  const embedder = await embedderOf(
    await folderWith({ "model.onnx": poolingModel(table, output), ...beside }),
  );
  const [alone] = await shown(embedder, "sea");
  const [padded] = await shown(embedder, "sea", "hill hill hill");
  expect(padded === alone).toBe(isIndifferentToPadding);
});

test("the first token's vector if sentence-transformers' file says so", async () => {
  const marked = table.map((row, id) => (id === 2 ? [3, 0, 4] : row));
  const embedder = await embedderOf(
    await folderWith({
      "model.onnx": tokenModel(marked),
      ...beside,
      "1_Pooling/config.json": JSON.stringify({
        pooling_mode_cls_token: true,
        pooling_mode_mean_tokens: false,
      }),
    }),
  );
  expect(await shown(embedder, "hill")).toEqual(["0.60 0.00 0.80"]);
});

test("vectors are shortened where fewer dimensions are asked for", async () => {
  const embedder = await embedderOf(await folderWith({ "model.onnx": tokenModel(table), ...beside }), 2);
  expect(await shown(embedder, "seaside")).toEqual(["0.71 0.71"]);
});

test("tokenizer.json serves as well, in the folder above too", async () => {
  const vocab = Object.fromEntries(vocabulary.map((piece, id) => [piece, id]));
  const path = await folderWith({
    "onnx/model.onnx": tokenModel(table),
    "tokenizer.json": JSON.stringify({
      normalizer: { lowercase: true },
      model: { type: "WordPiece", vocab },
    }),
  });
  const embedder = await embedderOf(join(dirname(path), "onnx", "model.onnx"));
  expect(await shown(embedder, "SEA")).toEqual(["1.00 0.00 0.00"]);
});

const model = { "model.onnx": tokenModel(table) };
test.each<[string, Readonly<Record<string, string | Uint8Array>>, RegExp, number?]>([
  ["no model", beside, /There is no model at/u],
  ["an empty model", { ...beside, "model.onnx": "" }, /not a model that onnxruntime can load/u],
  [
    "zeros for a model",
    { ...beside, "model.onnx": new Uint8Array(4_096) },
    /not a model that onnxruntime can load/u,
  ],
  [
    "half a model",
    { ...beside, "model.onnx": tokenModel(table).subarray(0, 150) },
    /not a model that onnxruntime can load/u,
  ],
  [
    "a model that wants pictures",
    { ...beside, "model.onnx": tokenModel(table, ["input_ids", "pixel_values"]) },
    /wants pixel_values/u,
  ],
  ["a model that makes no vectors", { ...beside, "model.onnx": echoModel() }, /makes int64\[1, 3\]/u],
  [
    "a vocabulary larger than the model's",
    {
      "vocab.txt": ["[CLS]", "[SEP]", ...Array.from({ length: 20 }, (_, id) => `w${id}`), "[UNK]"].join("\n"),
      ...model,
    },
    /could not be run/u,
  ],
  ["no vocabulary", model, /neither vocab.txt nor tokenizer.json/u],
  ["a vocabulary without marks", { ...model, "vocab.txt": "sea\nhill\n" }, /has no \[UNK\]/u],
  [
    "a tokenizer of another kind",
    { ...model, "tokenizer.json": '{"model":{"type":"BPE","vocab":{}}}' },
    /not of the kind WordPiece/u,
  ],
  ["a tokenizer that is no JSON", { ...model, "tokenizer.json": "{" }, /not JSON/u],
  ["more dimensions than there are", { ...model, ...beside }, /3 dimensions, not 4/u, 4],
])("%s is told, and for good", async (_, files, message, dimensions) => {
  const path = await folderWith(files);
  const error = (await embedderOf(path, dimensions).then(
    () => expect.unreachable("it was made"),
    (error: unknown) => error,
  )) as Error;
  expect(error.message).toMatch(message);
  expect(error).toBeInstanceOf(UnusableModel);
});
