import { readdir } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { sha256File, sha256Hex } from "../../../platform/files/hash.ts";

/** What else decides a model's vectors, in the model's folder or in the one above. */
const besides = ["vocab.txt", "tokenizer.json", "tokenizer_config.json", join("1_Pooling", "config.json")];
/** Tells a person's models apart, and is still short enough to read. */
const digestCharacters = 12;

/**
 * 12 hexadecimal digits that change with anything that changes the model's vectors: the model, its weights where they
 * are files of their own (`model.onnx_data`, `model.weights`), its vocabulary, and how it pools. Node's own errors
 * where the model cannot be read.
 */
export async function modelDigest(path: string): Promise<string> {
  const folder = dirname(path);
  const stem = basename(path, extname(path));
  // Not "model_fp16.onnx" beside "model.onnx": that is another model.
  const own = (await readdir(folder)).filter((name) => name.startsWith(`${stem}.`)).toSorted();
  const candidates = [
    ...own.map((name) => join(folder, name)),
    ...[folder, dirname(folder)].flatMap((around) => besides.map((name) => join(around, name))),
  ];
  const sums: string[] = [];
  for (const candidate of candidates) {
    const isModel = candidate === path;
    sums.push(
      await sha256File(candidate).catch((error: unknown) => (isModel ? Promise.reject(error) : "none")),
    );
  }
  return sha256Hex(sums.join("\n")).slice(0, digestCharacters);
}
