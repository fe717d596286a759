import { folderOfPath, joinPath } from "../../platform/files/data-files.ts";
import { namesIn } from "../../platform/files/document-files.ts";
import { inferenceBounds as bounds } from "../bounds.ts";

/** Other files that determine a model's vectors, in the model's folder or its parent. */
const besides = ["vocab.txt", "tokenizer.json", "tokenizer_config.json", "1_Pooling/config.json"] as const;

/**
 * Returns the paths of everything that determines a model's vectors: the model, its weights where they are files of their
 * own (`model.onnx_data`, `model.weights`), its vocabulary, and how it pools. The order is that of its digest.
 */
export async function modelFiles(path: string): Promise<string[]> {
  const folder = folderOfPath(path);
  const name = path.slice(folder.length).replace(/^[\\/]/u, "");
  const stem = name.replace(/(?<=.)\.[^.]*$/u, "");
  // Not "model_fp16.onnx" beside "model.onnx": that is another model.
  const own = (await namesIn(folder)).filter((each) => each.startsWith(`${stem}.`));
  const around = [folder, folderOfPath(folder)];
  return [
    ...new Set([...own.slice(0, bounds.maxModelFiles).map((each) => joinPath(folder, each)), path]),
    ...around.flatMap((where) => besides.map((each) => joinPath(where, each))),
  ];
}
