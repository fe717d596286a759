import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import sharp, { type Sharp } from "sharp";
import { afterAll, describe, expect, it } from "vitest";
import { silentLog } from "../../kernel/src/base/log.ts";
import { Thumbnails } from "../../kernel/src/pictures/thumbnails.ts";
import { systemClock } from "../../kernel/src/platform/clock.ts";
import { duplicatesOf, looksSame, maxComparisons } from "./duplicates.ts";
import { lookOf, type Look } from "./look.ts";

const library = fileURLToPath(new URL("../../examples/library/photos/", import.meta.url));
const size = 240;

/** Returns numbers from 0 to 1 that are the same at every run. */
function randomOf(seed: number): () => number {
  let state = seed * 2_654_435_761;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A made-up scene: sky, ground and some things before them. */
function scene(seed: number): Sharp {
  const random = randomOf(seed);
  const colour = (): string => `rgb(${[0, 0, 0].map(() => Math.floor(random() * 256)).join(",")})`;
  const horizon = size * (0.25 + random() * 0.5);
  const things = Array.from({ length: 4 + Math.floor(random() * 8) }, () => {
    const [x, y, w, h] = [random() * size, random() * size, 10 + random() * 90, 10 + random() * 90];
    return random() < 0.5
      ? `<ellipse cx="${x}" cy="${y}" rx="${w / 2}" ry="${h / 2}" fill="${colour()}"/>`
      : `<rect x="${x}" y="${y}" width="${w}" height="${h}" transform="rotate(${random() * 90} ${x} ${y})" fill="${colour()}"/>`;
  });
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size * 0.75}">
    <linearGradient id="sky" x2="0" y2="1"><stop stop-color="${colour()}"/><stop offset="1" stop-color="${colour()}"/></linearGradient>
    <rect width="100%" height="100%" fill="url(#sky)"/><rect y="${horizon}" width="100%" height="100%" fill="${colour()}"/>${things.join("")}</svg>`;
  return sharp(Buffer.from(svg));
}

/** The same picture as somebody might have it a second time. */
const copies: readonly { readonly name: string; make(picture: Sharp): Sharp }[] = [
  { name: "half its size", make: (picture) => picture.resize({ width: size / 2 }).jpeg({ quality: 85 }) },
  {
    name: "a third of its size",
    make: (picture) => picture.resize({ width: size / 3 }).jpeg({ quality: 80 }),
  },
  { name: "compressed again", make: (picture) => picture.jpeg({ quality: 45 }) },
  { name: "compressed hard", make: (picture) => picture.jpeg({ quality: 20 }) },
  { name: "turned right", make: (picture) => picture.rotate(90).jpeg({ quality: 90 }) },
  { name: "turned round", make: (picture) => picture.rotate(180).jpeg({ quality: 80 }) },
  {
    name: "turned left, smaller, compressed",
    make: (picture) => picture.rotate(270).resize({ width: 150 }).jpeg({ quality: 50 }),
  },
  { name: "mirrored, as PNG", make: (picture) => picture.flop().png() },
  {
    name: "turned by its orientation",
    make: (picture) => picture.withMetadata({ orientation: 6 }).jpeg({ quality: 85 }),
  },
];

const thumbnails = new Thumbnails({ clock: systemClock, log: silentLog });
afterAll(() => thumbnails[Symbol.asyncDispose]());

/** The look of the thumbnail that the kernel makes of a picture. */
async function lookIn(file: Buffer): Promise<Look> {
  const { bytes, width, height } = await thumbnails.make({
    agent: "test.agent",
    path: "a picture",
    read: async () => ({ bytes: file, eof: true }),
    maxPx: 64,
    format: "rgba8",
    signal: new AbortController().signal,
  });
  const look = lookOf(bytes, width, height);
  if (look === null) throw new Error("no look");
  return look;
}

/** 200 pictures: parts of the example's real photos, none of which shows what another does, and made-up scenes. */
async function pictures(): Promise<Buffer[]> {
  const names = readdirSync(library, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".jpg") && !name.startsWith("imported"))
    .toSorted();
  const found: Buffer[] = [];
  for (const name of names) {
    const photo = sharp(join(library, name));
    const { width, height } = await photo.metadata();
    for (let top = 0; top + size <= height; top += size)
      for (let left = 0; left + size <= width; left += size)
        found.push(
          await photo
            .clone()
            .extract({ left, top, width: size, height: size })
            .jpeg({ quality: 92 })
            .toBuffer(),
        );
  }
  for (let seed = 1; found.length < 200; seed++)
    found.push(await scene(seed).jpeg({ quality: 92 }).toBuffer());
  return found.slice(0, 200);
}

describe("near-duplicates", () => {
  it("of 200 pairs, and of all that are none: precision and recall are at least 0.95", async () => {
    const originals = await pictures();
    const looks: { readonly path: string; readonly look: Look; readonly pair: number }[] = [];
    for (const [pair, original] of originals.entries()) {
      const made = copies[pair % copies.length];
      const copy = await made?.make(sharp(original)).toBuffer();
      looks.push({ path: `${pair} original`, look: await lookIn(original), pair });
      looks.push({ path: `${pair} ${made?.name}`, look: await lookIn(copy ?? original), pair });
    }
    const pairOf = new Map(looks.map(({ path, pair }) => [path, pair]));
    let right = 0;
    let wrong = 0;
    for (const group of duplicatesOf(looks))
      for (const [index, one] of group.entries())
        for (const other of group.slice(index + 1)) {
          if (pairOf.get(one) === pairOf.get(other)) right += 1;
          else wrong += 1;
        }
    expect(right / (right + wrong)).toBeGreaterThanOrEqual(0.95);
    expect(right / originals.length).toBeGreaterThanOrEqual(0.95);
  });

  it("the eight ways to turn and mirror a picture are one picture", async () => {
    const picture = await scene(7).jpeg({ quality: 92 }).toBuffer();
    const ways = [0, 90, 180, 270].flatMap((angle) => [
      sharp(picture).rotate(angle),
      sharp(picture).flop().rotate(angle),
    ]);
    const look = await lookIn(picture);
    for (const way of ways) expect(looksSame(look, await lookIn(await way.png().toBuffer()))).toBe(true);
    expect(looksSame(look, await lookIn(await scene(8).png().toBuffer()))).toBe(false);
  });

  it("pictures of one tone, and equal shapes in different colours, do not count as copies", () => {
    const plain = lookOf(new Uint8Array(32 * 32 * 4).fill(130), 32, 32);
    expect(plain && looksSame(plain, plain)).toBe(false);
    const look = { signs: "00ff00ff00ff00ff", sure: "ffffffffffffffff", contrast: 40 };
    const [red, blue] = [
      { ...look, colour: [200, 20, 20] },
      { ...look, colour: [20, 20, 200] },
    ] as const;
    expect(looksSame(red, red)).toBe(true);
    expect(looksSame(red, blue)).toBe(false);
  });

  it("of thousands of screenshots each is compared with a bounded number of others", () => {
    const look = (n: number, signs: string): Look => ({
      signs,
      sure: "ffffffffffffffff",
      colour: [240 + (n % 7), 240, 240],
      contrast: 40 + (n % 40) / 10,
    });
    const comparisonsOf = (
      count: number,
      signsOf: (n: number) => string,
    ): { most: number; groups: string[][] } => {
      const work = { comparisons: 0 };
      const photos = Array.from({ length: count }, (_, n) => ({ path: `${n}`, look: look(n, signsOf(n)) }));
      const groups = duplicatesOf(photos, work);
      return { most: work.comparisons / count, groups };
    };
    const random = randomOf(3);
    const digits = (): string =>
      Array.from({ length: 16 }, () => Math.floor(random() * 16).toString(16)).join("");
    // Nearly equal ones are one group, with hardly more comparisons than pictures.
    const alike = comparisonsOf(3000, (n) => `0123456789abcde${(n % 4).toString(16)}`);
    expect(alike.groups).toMatchObject([{ length: 3000 }]);
    expect(alike.most).toBeLessThan(3);
    expect(comparisonsOf(3000, digits).most).toBeLessThanOrEqual(maxComparisons);
    expect(comparisonsOf(6000, digits).most).toBeLessThanOrEqual(maxComparisons);
    // A copy is found among them: its contrast is the nearest.
    const signs = Array.from({ length: 3000 }, digits);
    const twins = Array.from({ length: 3000 }, (_, n) => ({ path: `${n}`, look: look(n, signs[n] ?? "") }));
    const copy = { path: "copy", look: { ...look(7, signs[7] ?? ""), contrast: 40.75 } };
    expect(duplicatesOf([...twins, copy])).toEqual([["7", "copy"]]);
  });

  it("the very same look is found among hundreds of one colour and contrast", () => {
    const random = randomOf(5);
    const signs = (): string =>
      Array.from({ length: 16 }, () => Math.floor(random() * 16).toString(16)).join("");
    const look = (own: string): Look => ({
      colour: [240, 240, 240],
      contrast: 30,
      signs: own,
      sure: "f".repeat(16),
    });
    const others = Array.from({ length: 400 }, (_, n) => ({
      path: `s/${String(n).padStart(4, "0")}.png`,
      look: look(signs()),
    }));
    const same = signs();
    const found = duplicatesOf([
      { path: "a/0.png", look: look(same) },
      ...others,
      { path: "z/9.png", look: look(same) },
    ]);
    expect(found.some((group) => group.includes("a/0.png") && group.includes("z/9.png"))).toBe(true);
  });

  it("bytes that do not fit the size have no look", () => {
    expect(lookOf(new Uint8Array(15), 2, 2)).toBe(null);
    expect(lookOf(new Uint8Array(), 0, 0)).toBe(null);
    expect(lookOf(new Uint8Array(4).fill(9), 1, 1)).toMatchObject({ colour: [246, 246, 246] });
  });

  it("groups of several, the largest first", () => {
    const look = (signs: string, red: number): Look => ({
      signs,
      sure: "ffffffffffffffff",
      colour: [red, 0, 0],
      contrast: 40,
    });
    const [one, other] = [look("0123456789abcdef", 10), look("fedcba9876543210", 200)];
    expect(
      duplicatesOf([
        { path: "a", look: other },
        { path: "b", look: one },
        { path: "c", look: other },
        { path: "d", look: one },
        { path: "e", look: one },
        { path: "f" },
      ]),
    ).toEqual([
      ["b", "d", "e"],
      ["a", "c"],
    ]);
  });
});
