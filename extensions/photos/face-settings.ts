/** How pixels are given to a model: one input, a number per pixel and colour. */
export interface InputForm {
  /** The input's name. */
  readonly input: string;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** The order of the dimensions: n (always 1), c (the three colours), h, w. */
  readonly layout: "nchw" | "nhwc" | "chw" | "hwc";
  readonly colours: "rgb" | "bgr";
  readonly type: "float32" | "uint8";
  /** A value is (0 to 255 − mean) × scale, for red, green and blue. With `uint8` it stays 0 to 255. */
  readonly mean: Colours;
  readonly scale: Colours;
}

type Colours = readonly [red: number, green: number, blue: number];

/** What the person says under `faces` of the config about the models that they named. */
export interface FaceSettings extends InputForm {
  /** Outputs: N × 4 (left, top, right, bottom), N, and N × D. */
  readonly boxes: string;
  readonly scores: string;
  readonly embeddings: string;
  /** Whether boxes are in pixels of the input, or from 0 to 1. */
  readonly coordinates: "auto" | "pixels" | "relative";
  /** Outputs of a detector that marks the centres of faces on a map; its sizes and offsets. Absent: it gives boxes. */
  readonly heatmap?: { readonly heatmap: string; readonly sizes: string; readonly offsets: string };
  readonly leastScore: number;
  /** The cosine similarity from which two faces are of one person. */
  readonly samePerson: number;
  readonly embedding: InputForm & {
    readonly output: string;
    /** How much of its side is added to a face on each side. */
    readonly margin: number;
  };
}

type Given = Readonly<Record<string, unknown>>;

/** Reads `config.faces`; what is missing or makes no sense has its default. */
export function faceSettingsOf(config: Given): FaceSettings {
  const given = objectIn(config["faces"]);
  const ofFace = objectIn(given["embedding"]);
  const heatmap = textIn(given["heatmap"], "");
  return {
    ...inputForm(given, { width: 640, height: 640, mean: 0, scale: 1 / 255 }),
    boxes: textIn(given["boxes"], "boxes"),
    scores: textIn(given["scores"], "scores"),
    embeddings: textIn(given["embeddings"], "embeddings"),
    coordinates: oneOf(given["coordinates"], ["auto", "pixels", "relative"]),
    ...(heatmap === ""
      ? {}
      : {
          heatmap: {
            heatmap,
            sizes: textIn(given["sizes"], "scale"),
            offsets: textIn(given["offsets"], "offset"),
          },
        }),
    leastScore: within(given["least_score"], 0.01, 1, 0.6),
    samePerson: within(given["same_person"], 0.1, 0.99, 0.5),
    embedding: {
      ...inputForm(ofFace, { width: 112, height: 112, mean: 127.5, scale: 1 / 127.5 }),
      output: textIn(ofFace["output"], "embedding"),
      margin: within(ofFace["margin"], 0, 1, 0.1),
    },
  };
}

/**
 * Returns a short text that differs where faces have to be looked for again: another model, or other settings of how it is run.
 */
export function readingKey(settings: FaceSettings, digests: readonly string[]): string {
  const { samePerson: _samePerson, ...others } = settings;
  return hashOf(JSON.stringify([digests, others]));
}

/** Returns twelve hexadecimal digits that are nearly always others for another text (FNV-1a, twice). */
export function hashOf(text: string): string {
  let one = 0x811c9dc5;
  let other = 0x01000193;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    one = Math.imul(one ^ unit, 0x01000193);
    other = Math.imul(other ^ unit ^ (one >>> 13), 0x85ebca6b);
  }
  return (hex(one) + hex(other)).slice(2, 14);
}

const hex = (bits: number): string => (bits >>> 0).toString(16).padStart(8, "0");

function inputForm(
  given: Given,
  defaults: {
    readonly width: number;
    readonly height: number;
    readonly mean: number;
    readonly scale: number;
  },
): InputForm {
  return {
    input: textIn(given["input"], "input"),
    width: Math.round(within(given["width"], 16, 1024, defaults.width)),
    height: Math.round(within(given["height"], 16, 1024, defaults.height)),
    layout: oneOf(given["layout"], ["nchw", "nhwc", "chw", "hwc"]),
    colours: oneOf(given["colours"], ["rgb", "bgr"]),
    type: oneOf(given["type"], ["float32", "uint8"]),
    mean: coloursIn(given["mean"], defaults.mean),
    scale: coloursIn(given["scale"], defaults.scale),
  };
}

function coloursIn(value: unknown, otherwise: number): Colours {
  const all: readonly unknown[] = Array.isArray(value) ? value : [value, value, value];
  const [red, green, blue] = all;
  const areNumbers = all.length === 3 && all.every((one) => typeof one === "number" && Number.isFinite(one));
  return areNumbers ? [Number(red), Number(green), Number(blue)] : [otherwise, otherwise, otherwise];
}

function objectIn(value: unknown): Given {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Given) : {};
}

function textIn(value: unknown, otherwise: string): string {
  // A name such as 537 is a number in YAML.
  const text = typeof value === "number" ? String(value) : value;
  return typeof text === "string" && text !== "" && text.length <= 256 ? text : otherwise;
}

function oneOf<Value extends string>(value: unknown, values: readonly [Value, ...Value[]]): Value {
  return values.find((one) => one === value) ?? values[0];
}

function within(value: unknown, least: number, most: number, otherwise: number): number {
  return typeof value === "number" && value >= least && value <= most ? value : otherwise;
}
