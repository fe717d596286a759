/** How a picture looks, in a form that nearly equal pictures share nearly. */
export interface Look {
  /** Sixteen hexadecimal digits: the signs of the 64 lowest frequencies, a row of eight in two digits. */
  readonly signs: string;
  /** The same for those that are large enough for their sign to mean something. */
  readonly sure: string;
  /** The mean colour, 0 to 255. */
  readonly colour: readonly [red: number, green: number, blue: number];
  /** The standard deviation of the tones, 0 to 128. */
  readonly contrast: number;
}

/** The picture is reduced to a square of this many pixels a side. */
const side = 32;
/** The lowest frequencies in each direction. */
const low = 8;
/** A frequency of less than this many of 255 tones may be the work of a compression. */
const certain = 0.2;
/** cosines[u][x] of the discrete cosine transform. */
const cosines = Array.from({ length: low }, (_, u) =>
  Float64Array.from({ length: side }, (_unused, x) => Math.cos(((2 * x + 1) * u * Math.PI) / (2 * side))),
);

/**
 * Returns the look of a picture of `width` × `height` pixels, four bytes each (red, green, blue, opacity); null if the bytes
 * are not that. A thumbnail is enough.
 */
export function lookOf(rgba: Uint8Array, width: number, height: number): Look | null {
  if (width < 1 || height < 1 || rgba.length !== width * height * 4) return null;
  const { tones, colour } = reduced(rgba, width, height);
  const frequencies = transformed(tones);
  let signs = "";
  let sure = "";
  for (let u = 0; u < low; u++) {
    let signsOfRow = 0;
    let sureOfRow = 0;
    for (let v = 0; v < low; v++) {
      const value = frequencies[u * low + v] ?? 0;
      // The first is the mean tone, whose sign says nothing.
      if (u === 0 && v === 0) continue;
      if (value > 0) signsOfRow |= 1 << v;
      if (Math.abs(value) >= certain) sureOfRow |= 1 << v;
    }
    signs += signsOfRow.toString(16).padStart(2, "0");
    sure += sureOfRow.toString(16).padStart(2, "0");
  }
  return { signs, sure, colour, contrast: contrastOf(tones) };
}

/** Averages the pixels into a square, whatever the picture's shape, so that a turned picture is its square turned. */
function reduced(
  rgba: Uint8Array,
  width: number,
  height: number,
): { readonly tones: Float64Array; readonly colour: Look["colour"] } {
  const tones = new Float64Array(side * side);
  let red = 0;
  let green = 0;
  let blue = 0;
  for (let y = 0; y < side; y++) {
    const top = Math.floor((y * height) / side);
    const bottom = Math.max(top + 1, Math.floor(((y + 1) * height) / side));
    for (let x = 0; x < side; x++) {
      const left = Math.floor((x * width) / side);
      const right = Math.max(left + 1, Math.floor(((x + 1) * width) / side));
      let r = 0;
      let g = 0;
      let b = 0;
      for (let row = top; row < bottom; row++)
        for (let at = (row * width + left) * 4; at < (row * width + right) * 4; at += 4) {
          // On white, where the picture is transparent.
          const opacity = (rgba[at + 3] ?? 255) / 255;
          const white = 255 * (1 - opacity);
          r += (rgba[at] ?? 0) * opacity + white;
          g += (rgba[at + 1] ?? 0) * opacity + white;
          b += (rgba[at + 2] ?? 0) * opacity + white;
        }
      const count = (bottom - top) * (right - left);
      tones[y * side + x] = (0.299 * r + 0.587 * g + 0.114 * b) / count;
      red += r / count;
      green += g / count;
      blue += b / count;
    }
  }
  const mean = (sum: number): number => Math.round(sum / (side * side));
  return { tones, colour: [mean(red), mean(green), mean(blue)] };
}

function contrastOf(tones: Float64Array): number {
  const mean = tones.reduce((sum, tone) => sum + tone, 0) / tones.length;
  const variance = tones.reduce((sum, tone) => sum + (tone - mean) ** 2, 0) / tones.length;
  return Math.round(Math.sqrt(variance) * 10) / 10;
}

/** The lowest frequencies of the square, row by row: the discrete cosine transform. */
function transformed(tones: Float64Array): Float64Array {
  const rows = new Float64Array(side * low);
  for (let y = 0; y < side; y++)
    for (let v = 0; v < low; v++) {
      let sum = 0;
      for (let x = 0; x < side; x++) sum += (tones[y * side + x] ?? 0) * (cosines[v]?.[x] ?? 0);
      rows[y * low + v] = sum;
    }
  const frequencies = new Float64Array(low * low);
  for (let u = 0; u < low; u++)
    for (let v = 0; v < low; v++) {
      let sum = 0;
      for (let y = 0; y < side; y++) sum += (rows[y * low + v] ?? 0) * (cosines[u]?.[y] ?? 0);
      frequencies[u * low + v] = (sum * 2) / (side * side);
    }
  return frequencies;
}
