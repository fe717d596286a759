import { join, resolve } from "node:path";
import type { Configuration, MemoryConfiguration } from "../../documents/configuration.ts";
import { knownModels, modelPath } from "../../memory-contract/known-models.ts";
import type { EmbedderSpec } from "../../memory-contract/store-settings.ts";
import type { StoreSettings } from "../../memory-contract/store-settings.ts";
import { modelsFolder } from "../../platform/files/state-folder.ts";

/** The variable that holds the API key of a remote embedder. Keys are not written in documents. */
const embedderKeyVariable = "LARES_EMBEDDER_KEY";

interface MemorySettingsContext {
  readonly configuration: Configuration;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Models named in the person's own document lie relative to it. */
  readonly userFolder: string;
}

/** Returns how the memory of one extension is stored; null stands for a memory that no single extension owns. */
export function memorySettings(
  extension: string | null,
  maxVectors: number,
  { configuration, environment, userFolder }: MemorySettingsContext,
): StoreSettings {
  const { extensions, ...all } = configuration.memory;
  const own = extension !== null && Object.hasOwn(extensions, extension) ? extensions[extension] : undefined;
  const { embedder, vectors }: MemoryConfiguration = { ...all, ...own };
  return { vectors, embedder: embedderSpec(embedder, environment, userFolder), maxVectors };
}

function embedderSpec(
  embedder: MemoryConfiguration["embedder"],
  environment: MemorySettingsContext["environment"],
  userFolder: string,
): EmbedderSpec {
  if (embedder === "hash") return { kind: "hash" };
  if (typeof embedder === "string")
    return {
      kind: "onnx",
      path: join(modelsFolder(environment), modelPath(embedder, knownModels[embedder])),
      fetchedAs: embedder,
    };
  switch (embedder.kind) {
    case "onnx":
      return { ...embedder, path: resolve(userFolder, embedder.path) };
    case "openai-compatible": {
      const key = environment[embedderKeyVariable];
      return { ...embedder, ...(key === undefined || key === "" ? {} : { key }) };
    }
  }
}
