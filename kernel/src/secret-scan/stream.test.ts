import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { seeded } from "../../../test/support/seed.ts";
import { SecretScanner } from "./scanner.ts";
import { shippedRules } from "./shipped-rules.ts";
import { corpus } from "./testing/corpus.ts";

const scanner = new SecretScanner({
  ...shippedRules,
  patterns: [{ name: "acme key", keywords: ["acme_"], pattern: "acme_[a-z0-9]{8}" }],
});
const mark = (rule: string): string => `[secret: ${rule}]`;

function redacted(pieces: readonly string[]): string {
  const stream = scanner.stream(mark);
  return pieces.map((piece) => stream.push(piece)).join("") + stream.end();
}

function cut(text: string, lengths: readonly number[]): string[] {
  const pieces: string[] = [];
  for (let at = 0, turn = 0; at < text.length; turn++) {
    const length = Math.max(1, lengths[turn % lengths.length] ?? 1);
    pieces.push(text.slice(at, at + length));
    at += length;
  }
  return pieces;
}

const cases = corpus(seeded());
const words = [
  ...shippedRules.tokens.flatMap(({ begins }) => begins),
  ...Object.values(shippedRules.named).flat(),
  ...shippedRules.blocks.flatMap(({ begins, holds, ends }) => [begins, `${holds}-----\n`, `\n${ends}X-----`]),
  ...shippedRules.addresses.flatMap(({ begins }) => begins),
  "acme_a1b2c3d4",
  "://",
];
const characters = "abcXYZ0189_-.:=/+@\"'`, \n\\[](){}é😀";
const piece = fc.oneof(
  fc.constantFrom(...words),
  fc.constantFrom(...cases.map(({ text }) => text)),
  fc.constantFrom("=", ": ", '"', "@", ":", " value = ", "\n", "Bearer ", "aB3dE6gH9jK2mN5pQ8".repeat(40)),
  fc.string({ unit: fc.constantFrom(...characters.split("")), maxLength: 40 }),
  fc.lorem({ maxCount: 5 }),
);

describe("however a text is cut", () => {
  test("the same comes out as of the whole text", () => {
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 25 }),
        fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 8 }),
        (parts, lengths) => {
          const text = parts.join("");
          expect(redacted(cut(text, lengths))).toBe(scanner.replace(text, mark));
        },
      ),
      { numRuns: 1500 },
    );
  });

  test("every secret of the corpus that is found in a whole text is found in it character by character", () => {
    for (const { text } of cases) expect(redacted(text.split(""))).toBe(scanner.replace(text, mark));
  });

  test.each([
    ["a token", `ghp_${"a1B2c3D4e5F6".repeat(3)}`],
    [
      "a token longer than what is held back",
      `eyJ${"aB3dE5fG6".repeat(4)}.${"eF6hJ7kL8mN9".repeat(1000)}.${"iJ9k".repeat(9)}`,
    ],
    [
      "a key of many lines",
      `-----BEGIN RSA PRIVATE KEY-----\n${"MIIE1234abcd\n".repeat(2000)}-----END RSA PRIVATE KEY-----`,
    ],
    ["a key that ends in the middle", `-----BEGIN RSA PRIVATE KEY-----\n${"MIIE1234abcd\n".repeat(700)}`],
  ])("%s is held back within the bound, and its end is found", (_, secret) => {
    const text = `Here it is: ${secret} (and so on)`;
    const stream = scanner.stream(mark);
    let out = "";
    for (const character of text) {
      out += stream.push(character);
      expect(stream.held).toBeLessThanOrEqual(4096);
    }
    out += stream.end();
    expect(out).toBe(scanner.replace(text, mark));
    expect(out).toMatch(/^Here it is: \[secret: [^\]]+\]/);
  });
});

test("what cannot be a secret is passed on at once", () => {
  const stream = scanner.stream(mark);
  expect(stream.push("The weather is fine today. ")).toBe("The weather is fine today. ");
  expect(stream.push("The password of success: ")).toBe("The ");
  expect(stream.push("work (hard)")).toBe("password of success: work (hard)");
});

describe("after too long a wait", () => {
  test("what is held back is passed on, and what still comes of the secret is marked", () => {
    const stream = scanner.stream(mark);
    const token = `ghp_${"a1B2c3D4e5F6".repeat(3)}`;
    let out = stream.push(`see ${token.slice(0, 10)}`);
    expect(out).toBe("see ");
    out += stream.flush();
    expect(out).toBe(`see ${token.slice(0, 10)}`);
    out += stream.push(`${token.slice(10)} there`) + stream.end();
    expect(out).toBe(`see ${token.slice(0, 10)}[secret: github token] there`);
  });

  test("a secret that is complete by then is marked, once, with what still belongs to it", () => {
    const stream = scanner.stream(mark);
    let out = stream.push(`see ghp_${"a1B2c3D4e5F6".repeat(3)}`);
    out += stream.flush() + stream.push("c3D4") + stream.flush() + stream.push(" there") + stream.end();
    expect(out).toBe("see [secret: github token] there");
  });

  test("wherever that is, nothing of a secret comes twice and nothing else is lost", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(piece, fc.boolean()), { maxLength: 12 }),
        fc.integer({ min: 1, max: 20 }),
        (parts, length) => {
          const stream = scanner.stream(mark);
          const text = parts.map(([part]) => part).join("");
          let out = "";
          for (const [at, each] of cut(text, [length]).entries())
            out += stream.push(each) + (parts[at % parts.length]?.[1] === true ? stream.flush() : "");
          out += stream.end();
          // What is left of the text, in order, is a part of it.
          let from = 0;
          for (const kept of out.split(/\[secret: [^\]]+\]/u)) {
            const found = text.indexOf(kept, from);
            expect(found).toBeGreaterThanOrEqual(from);
            from = found + kept.length;
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});

test("the memory of a long text stays that of a short one", () => {
  const stream = scanner.stream(mark);
  const line = `The token of this line is in order, and "key-word" too; see https://a.example/b?c=1.\n`;
  let passed = 0;
  for (let at = 0; at < 20_000; at++) {
    passed += stream.push(line).length;
    expect(stream.held).toBeLessThan(line.length);
  }
  expect(passed + stream.end().length).toBe(20_000 * line.length);
});
