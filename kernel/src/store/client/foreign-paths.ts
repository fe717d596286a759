import { joinPath } from "../../platform/files/data-files.ts";
import type { StoreMemory } from "../../memory-contract/store-port.ts";

/** What is read beside a model (`embedding/onnx/`), in its folder or the one above. */
const besideModel = [
  "vocab.txt",
  "tokenizer.json",
  "tokenizer_config.json",
  "1_Pooling/config.json",
] as const;

/** Absolute paths outside the state folder that a memory's host has to read: its journal's, its model's. */
export function foreignPathsOf({ journalFolder, settings }: StoreMemory, stateFolder: string): string[] {
  const { embedder } = settings;
  const paths = embedder.kind === "onnx" ? [journalFolder, ...modelPaths(embedder.path)] : [journalFolder];
  const inside = joinPath(stateFolder, "/");
  return paths.filter((path) => !path.startsWith(inside));
}

function modelPaths(path: string): string[] {
  const folders = [joinPath(path, ".."), joinPath(path, "../..")];
  return [path, ...folders.flatMap((folder) => besideModel.map((name) => joinPath(folder, name)))];
}
