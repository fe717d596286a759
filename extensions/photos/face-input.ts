import type { TensorInput, Thumbnail } from "@lares/sdk";
import type { InputForm } from "./face-settings.ts";

/** A part of a picture in its pixels; it may reach over the picture's edges. */
export interface Region {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/**
 * Returns a whole picture as a model's input: at the top left, pixel by pixel, and black where the picture ends. It must not be
 * larger than the input.
 */
export function wholeInput(picture: Thumbnail, form: InputForm): TensorInput {
  return inputOf(
    picture,
    form,
    (x, y) => (x < picture.width && y < picture.height ? y * picture.width + x : -1),
    {
      width: Math.min(picture.width, form.width),
      height: Math.min(picture.height, form.height),
    },
  );
}

/** Returns a part of a picture as a model's input, made as large as that is; black outside of the picture. */
export function regionInput(picture: Thumbnail, region: Region, form: InputForm): TensorInput {
  const pixelAt = (x: number, y: number): number => {
    const column = Math.floor(region.left + ((x + 0.5) * region.width) / form.width);
    const row = Math.floor(region.top + ((y + 0.5) * region.height) / form.height);
    const isInside = column >= 0 && row >= 0 && column < picture.width && row < picture.height;
    return isInside ? row * picture.width + column : -1;
  };
  return inputOf(picture, form, pixelAt, form);
}

/** `pixelAt`: maps a pixel of the input to the picture's; -1 outside the picture. */
function inputOf(
  { bytes }: Thumbnail,
  { input, width, height, layout, colours, type, mean, scale }: InputForm,
  pixelAt: (x: number, y: number) => number,
  filled: { readonly width: number; readonly height: number },
): TensorInput {
  const data = type === "uint8" ? new Uint8Array(width * height * 3) : new Float32Array(width * height * 3);
  const isPlanar = layout.endsWith("chw");
  const pixelStep = isPlanar ? 1 : 3;
  const colourStep = isPlanar ? width * height : 1;
  const values = valuesOf(type, mean, scale);
  const [first, , last] = colours === "rgb" ? [0, 1, 2] : [2, 1, 0];
  const black = values.map((ofColour) => ofColour[0] ?? 0);
  if (type === "float32" && black.some((value) => value !== 0))
    fill(data, black, { first, last, pixelStep, colourStep });
  const [reds = empty, greens = empty, blues = empty] = values;
  for (let y = 0; y < filled.height; y++) {
    for (let x = 0; x < filled.width; x++) {
      const from = pixelAt(x, y) * 4;
      if (from < 0) continue;
      const at = (y * width + x) * pixelStep;
      data[at + first * colourStep] = reds[bytes[from] ?? 0] ?? 0;
      data[at + colourStep] = greens[bytes[from + 1] ?? 0] ?? 0;
      data[at + last * colourStep] = blues[bytes[from + 2] ?? 0] ?? 0;
    }
  }
  const picture = isPlanar ? [3, height, width] : [height, width, 3];
  return { name: input, dims: layout.startsWith("n") ? [1, ...picture] : picture, data };
}

const empty = new Float32Array();

/** The value of each of the 256 tones, by colour: a table is faster than the sum for each pixel. */
function valuesOf(
  type: InputForm["type"],
  mean: InputForm["mean"],
  scale: InputForm["scale"],
): Float32Array[] {
  return [0, 1, 2].map((colour) =>
    Float32Array.from({ length: 256 }, (_, tone) =>
      type === "uint8" ? tone : (tone - (mean[colour] ?? 0)) * (scale[colour] ?? 1),
    ),
  );
}

function fill(
  data: Float32Array | Uint8Array,
  [red = 0, green = 0, blue = 0]: readonly number[],
  {
    first,
    last,
    pixelStep,
    colourStep,
  }: {
    readonly first: number;
    readonly last: number;
    readonly pixelStep: number;
    readonly colourStep: number;
  },
): void {
  if (pixelStep === 1) {
    data.fill(first === 0 ? red : blue, 0, colourStep);
    data.fill(green, colourStep, 2 * colourStep);
    data.fill(first === 0 ? blue : red, 2 * colourStep);
    return;
  }
  for (let at = 0; at < data.length; at += 3) {
    data[at + first] = red;
    data[at + 1] = green;
    data[at + last] = blue;
  }
}
