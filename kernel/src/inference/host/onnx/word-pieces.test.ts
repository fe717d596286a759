import { expect, test } from "vitest";
import { wordPieces } from "./word-pieces.ts";

const pieces = [
  "[PAD]",
  "[UNK]",
  "[CLS]",
  "[SEP]",
  "un",
  "##aff",
  "##able",
  "caf",
  "##e",
  "café",
  "日",
  "本",
  "!",
  "x",
];
const ids = new Map(pieces.map((piece, id) => [piece, id]));
const encoded = (text: string, { isLowerCase = true, limit = 20 } = {}): string =>
  wordPieces({ ids, isLowerCase }, "here")
    .encode(text, limit)
    .map((id) => pieces[id])
    .join(" ");

test.each([
  ["unaffable", "[CLS] un ##aff ##able [SEP]"],
  ["UNAFFABLE!", "[CLS] un ##aff ##able ! [SEP]"],
  ["Café", "[CLS] caf ##e [SEP]"],
  ["日本!!", "[CLS] 日 本 ! ! [SEP]"],
  ["unaffordable x", "[CLS] [UNK] x [SEP]"],
  ["x\u0000x\tx\u00a0x", "[CLS] [UNK] x x [SEP]"],
  ["un\u00adaf\u200bfable\ufeff", "[CLS] un ##aff ##able [SEP]"],
  ["日\u2f0a本", "[CLS] 日 [UNK] 本 [SEP]"],
  ["x\u2f0ax", "[CLS] [UNK] [SEP]"],
  ["x\u0378x", "[CLS] [UNK] [SEP]"],
  ["[SEP]", "[CLS] [UNK] [UNK] [UNK] [SEP]"],
  ["", "[CLS] [SEP]"],
  ["x".repeat(101), "[CLS] [UNK] [SEP]"],
])("%j", (text, tokens) => {
  expect(encoded(text)).toBe(tokens);
});

test("a vocabulary that knows case keeps it, and the marks on letters", () => {
  expect(encoded("café", { isLowerCase: false })).toBe("[CLS] café [SEP]");
  expect(encoded("X", { isLowerCase: false })).toBe("[CLS] [UNK] [SEP]");
});

test("never more than the limit, the end marked all the same, also for 10 MB", () => {
  expect(encoded("x ".repeat(5_000_000), { limit: 5 })).toBe("[CLS] x x x [SEP]");
  expect(encoded("unaffable unaffable", { limit: 4 })).toBe("[CLS] un ##aff [SEP]");
});
