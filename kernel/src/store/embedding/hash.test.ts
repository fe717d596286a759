import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { isLaresError } from "../../base/errors.ts";
import { createHashEmbedder } from "./hash.ts";
import { maxHashedCharacters, wordsOf } from "./hash-words.ts";
import { EmbeddingError } from "./port.ts";

const embedder = createHashEmbedder({});
const embedded = async (text: string, purpose: "item" | "query" = "item"): Promise<Float32Array> =>
  (await embedder.embed([text], purpose))[0] ?? new Float32Array();
const dot = (one: Float32Array, other: Float32Array): number =>
  one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0);
const likeness = async (one: string, other: string): Promise<number> =>
  dot(await embedded(one), await embedded(other));
const words = (text: string): string[] => wordsOf(text).map(({ text: word }) => word);

/** If one of these vectors changes, the version in the embedder's name has to change. */
test.each([
  ["The quick brown fox jumps over the lazy dog.", "df8f0fca7e4c5707"],
  ["Größe Ähnlichkeit naïve café ΟΔΥΣΣΕΥΣ ИЗБУШКА", "7af2f589e2ebc4b7"],
  ["東京に住んでいます 🌊🏖️ ภาษาไทย עִבְרִית العَرَبِيَّة", "64553647d9f32a11"],
  ["...", "6bbe017f35661dff"],
])("the same vector on every machine: %s", async (text, digest) => {
  const vector = await embedded(text);
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  expect(createHash("sha256").update(bytes).digest("hex").slice(0, 16)).toBe(digest);
  expect(embedder.name).toBe("hash/1/384");
});

test("whatever a text says, its vector has length 1 and only finite numbers", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: "binary" }),
      fc.constantFrom("item", "query"),
      async (text, purpose) => {
        fc.pre(/\S/u.test(text));
        const vector = await embedded(text, purpose);
        expect(vector.length).toBe(384);
        expect(dot(vector, vector)).toBeCloseTo(1, 5);
      },
    ),
  );
});

test.each([
  ["Straße", "STRASSE"],
  ["café", "cafe"],
  ["ﬁle ①", "file 1"],
  ["Anna's house", "Anna house"],
  ["❤️ you", "❤ you"],
  ["שָׁלוֹם", "שלום"],
  ["ΟΔΟΣ", "οδος"],
])("%s is the same as %s", async (one, other) => {
  expect(await likeness(one, other)).toBeCloseTo(1, 5);
});

test.each([
  ["we went running on the beach", "she runs at beaches", "the invoice is overdue"],
  ["her favourite restaurant", "favorite restaurants", "train timetable"],
  ["Donaudampfschifffahrt", "Dampfschiff", "Kirschbaum"],
  ["東京に住んでいます", "東京の天気", "大阪で働く"],
  ["🏖️ holiday", "🏖️", "🏭"],
])("%s is nearer to %s than to %s", async (text, near, far) => {
  expect(await likeness(text, near)).toBeGreaterThan((await likeness(text, far)) + 0.1);
});

test("only scripts without spaces are cut into characters and pairs", () => {
  expect(words("東京都 Tokyo ไทย")).toEqual([
    "東",
    "東京",
    "京",
    "京都",
    "都",
    "tokyo",
    "ไ",
    "ไท",
    "ท",
    "ทย",
    "ย",
  ]);
});

test.each(["", " ", "\n\t\u00a0\u2003"])(
  "a blank text %j is refused for good, and the error names its position",
  async (blank) => {
    const error = await embedder.embed(["words", blank], "item").catch((error: unknown) => error);
    expect(error).toBeInstanceOf(EmbeddingError);
    expect(error).toMatchObject({
      isRetryable: false,
      message: expect.stringContaining("Text 2 of 2 is blank"),
    });
  },
);

test("only the beginning of a text of 10 MB is read", async () => {
  const beginning = "what counts ".repeat(Math.ceil(maxHashedCharacters / 12));
  expect(await likeness(beginning + "and not this ".repeat(800_000), beginning)).toBeCloseTo(1, 5);
});

test("rare words weigh more in queries, and items' vectors do not change", async () => {
  const learned = createHashEmbedder({});
  const texts = Array.from({ length: 50 }, (_, index) => `meeting about topic${index} alpha`);
  const [before] = await learned.embed(["meeting about zebras"], "item");
  for (const text of texts) learned.statistics?.add(text);
  const [after] = await learned.embed(["meeting about zebras"], "item");
  expect(after).toEqual(before);
  const [query, rare, common] = [
    ...(await learned.embed(["meeting zebras"], "query")),
    ...(await learned.embed(["zebras", "meeting"], "item")),
  ] as [Float32Array, Float32Array, Float32Array];
  expect(dot(query, rare)).toBeGreaterThan(2 * dot(query, common));
});

test("a query for an item's own text is nearest to that item, and not far from it, among hundreds like it", async () => {
  const learned = createHashEmbedder({});
  const texts = Array.from(
    { length: 500 },
    (_, index) => `Anna told me about holiday number ${index} in town ${index % 7}`,
  );
  for (const text of texts) learned.statistics?.add(text);
  const [query] = await learned.embed([texts[123] ?? ""], "query");
  const items = await learned.embed(texts, "item");
  const best = items
    .map((item, index) => ({ index, near: dot(item, query ?? item) }))
    .toSorted((a, b) => b.near - a.near)[0];
  expect(best?.index).toBe(123);
  expect(best?.near).toBeGreaterThan(0.5);
});

test.each([0, 31, 4097, 1.5, Number.NaN])("%d dimensions are refused", (dimensions) => {
  expect(() => createHashEmbedder({ dimensions })).toThrow(/32 to 4096/u);
  try {
    createHashEmbedder({ dimensions });
  } catch (error) {
    expect(isLaresError(error, "InvalidParams")).toBe(true);
  }
});
