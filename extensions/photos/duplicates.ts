import type { Look } from "./look.ts";

interface Seen {
  readonly path: string;
  readonly look?: Look;
}

/** The share of signs that may differ between two pictures that count as the same, of those that both are sure of. */
const maxDifferent = 0.1;
/** Pictures that share fewer signs than this, such as two of a clear sky, are alike without being copies. */
const leastShared = 14;
/** The share of its sure signs that each has to share with the other. */
const leastOverlap = 0.7;
/** How far a mean colour may differ: saving a picture again moves it by two or three. */
const maxColour = 6;
/** How far the contrast may differ. Turning does not change it, so that most pairs need no closer comparison. */
const maxContrast = 4;
/** A picture is compared with this many at most, so that a thousand screenshots of nearly one colour take no minutes. */
export const maxComparisons = 300;
/** Pictures of one cell that are considered for one picture. */
const maxOfCell = 100;

/** Two halves of 64 bits. */
type Bits = readonly [number, number];
/** The signs of a picture turned in some way, and which of them are sure. */
interface Turned {
  readonly signs: Bits;
  readonly sure: Bits;
}

/**
 * Returns the paths of pictures that look the same, turned or mirrored ones included: groups of at least two, the largest first.
 * Counts in `work` how many pairs it compared: at most {@link maxComparisons} for each picture.
 */
export function duplicatesOf(photos: readonly Seen[], work = { comparisons: 0 }): string[][] {
  const seen: {
    readonly path: string;
    readonly look: string;
    readonly colour: Look["colour"];
    readonly contrast: number;
    readonly turned: readonly Turned[];
    /** The number of its sure signs, however it is turned. */
    readonly known: number;
  }[] = [];
  for (const { path, look } of photos) {
    if (look === undefined) continue;
    const picture = { signs: bitsOf(look.signs), sure: bitsOf(look.sure) };
    const known = count(picture.sure);
    if (known >= leastShared)
      seen.push({
        path,
        look: `${look.signs} ${look.sure}`,
        colour: look.colour,
        contrast: look.contrast,
        turned: turnedOf(picture),
        known,
      });
  }
  // The very same look is next to itself, however many have its contrast.
  seen.sort(
    (one, other) =>
      one.contrast - other.contrast || compared(one.look, other.look) || compared(one.path, other.path),
  );

  const joined = seen.map((_, index) => index);
  const rootOf = (index: number): number => {
    let root = index;
    while (joined[root] !== root) root = joined[root] ?? root;
    return (joined[index] = root);
  };
  // Only pictures of nearly the same mean colour are compared: those of one cell and of the cells around it. A cell lists them
  // in order of contrast, so that the likeliest copies come first and the search ends with those that differ too much.
  const cells = new Map<string, number[]>();
  for (const [index, { colour, contrast, turned, known }] of seen.entries()) {
    const upright = turned[0];
    let left = maxComparisons;
    for (const cell of around(colour)) {
      const members = cells.get(cell) ?? [];
      const end = Math.max(0, members.length - maxOfCell);
      for (let at = members.length - 1; at >= end && left > 0; at--) {
        const other = members[at] ?? index;
        const before = seen[other];
        if (before === undefined || upright === undefined || contrast - before.contrast > maxContrast) break;
        if (!isNear(colour, before.colour)) continue;
        const least = leastOverlap * Math.max(known, before.known);
        if (Math.min(known, before.known) < least || rootOf(index) === rootOf(other)) continue;
        left -= 1;
        work.comparisons += 1;
        if (before.turned.some((one) => areAlike(one, upright, least))) joined[rootOf(index)] = rootOf(other);
      }
    }
    const own = colour.map(cellOf).join(" ");
    const members = cells.get(own);
    if (members === undefined) cells.set(own, [index]);
    else members.push(index);
  }
  const groups = new Map<number, string[]>();
  for (const [index, { path }] of seen.entries()) {
    const root = rootOf(index);
    const paths = groups.get(root);
    if (paths === undefined) groups.set(root, [path]);
    else paths.push(path);
  }
  return [...groups.values()]
    .filter((paths) => paths.length > 1)
    .map((paths) => paths.toSorted())
    .toSorted((one, other) => other.length - one.length || ((one[0] ?? "") < (other[0] ?? "") ? -1 : 1));
}

/** True if two pictures look the same, in whichever of the eight ways one of them is turned or mirrored. */
export function looksSame(one: Look, other: Look): boolean {
  return (
    duplicatesOf([
      { path: "one", look: one },
      { path: "other", look: other },
    ]).length > 0
  );
}

const cellOf = (part: number): number => Math.floor(part / maxColour);

function around([red, green, blue]: Look["colour"]): string[] {
  const found: string[] = [];
  for (let r = -1; r <= 1; r++)
    for (let g = -1; g <= 1; g++)
      for (let b = -1; b <= 1; b++) found.push(`${cellOf(red) + r} ${cellOf(green) + g} ${cellOf(blue) + b}`);
  return found;
}

function isNear(one: Look["colour"], other: Look["colour"]): boolean {
  return one.every((part, channel) => Math.abs(part - (other[channel] ?? 0)) <= maxColour);
}

/** The signs that both are sure of have to be the same, but for a few. */
function areAlike(one: Turned, other: Turned, least: number): boolean {
  const top = one.sure[0] & other.sure[0];
  const bottom = one.sure[1] & other.sure[1];
  const shared = ones(top) + ones(bottom);
  if (shared < leastShared || shared < least) return false;
  const differing =
    ones((one.signs[0] ^ other.signs[0]) & top) + ones((one.signs[1] ^ other.signs[1]) & bottom);
  return differing <= maxDifferent * shared;
}

function bitsOf(digits: string): Bits {
  return [Number.parseInt(digits.slice(0, 8), 16) | 0, Number.parseInt(digits.slice(8), 16) | 0];
}

/** Mirroring changes the signs of the odd frequencies in one direction. Each byte is a row. */
const mirrored = ({ signs: [top, bottom], sure }: Turned): Turned => ({
  signs: [top ^ 0xaaaaaaaa, bottom ^ 0xaaaaaaaa],
  sure,
});
const upended = ({ signs: [top, bottom], sure }: Turned): Turned => ({
  signs: [top ^ 0x00ff00ff, bottom ^ 0x00ff00ff],
  sure,
});

/** Swaps rows and columns: the picture mirrored at its diagonal. */
function transposed([top, bottom]: Bits): Bits {
  const row = (u: number): number => ((u < 4 ? top : bottom) >>> (24 - (u % 4) * 8)) & 255;
  const halves: [number, number] = [0, 0];
  for (let u = 0; u < 8; u++) {
    let byte = 0;
    for (let v = 0; v < 8; v++) byte |= ((row(v) >>> u) & 1) << v;
    halves[u < 4 ? 0 : 1] |= byte << (24 - (u % 4) * 8);
  }
  return halves;
}

/** Returns a picture in the eight ways it can be turned and mirrored, as it is first. */
function turnedOf(picture: Turned): Turned[] {
  const diagonal = { signs: transposed(picture.signs), sure: transposed(picture.sure) };
  return [picture, diagonal].flatMap((one) => [one, mirrored(one), upended(one), upended(mirrored(one))]);
}

function count([top, bottom]: Bits): number {
  return ones(top) + ones(bottom);
}

/** The number of bits that are set. */
function ones(bits: number): number {
  let sum = bits - ((bits >>> 1) & 0x55555555);
  sum = (sum & 0x33333333) + ((sum >>> 2) & 0x33333333);
  return Math.imul((sum + (sum >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

function compared(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1;
}
