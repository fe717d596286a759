import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { shippedScanner } from "../../../kernel/src/secret-scan/redact.ts";
import { shippedRules } from "../../../kernel/src/secret-scan/shipped-rules.ts";
import type { Figure } from "../figure.ts";
import { median } from "../statistics.ts";

const repository = fileURLToPath(new URL("../../../", import.meta.url));
const megabyte = 1_000_000;
const pieceLength = 64 * 1024;

/** The documents of this repository, one after the other, again and again. */
function prose(length: number): string {
  const texts = ["", "test", "schemas", "kernel", "extensions"].flatMap((folder) =>
    readdirSync(join(repository, folder))
      .filter((name) => name.endsWith(".md"))
      .map((name) => readFileSync(join(repository, folder, name), "utf8")),
  );
  const all = texts.join("\n");
  return all.repeat(Math.ceil(length / all.length)).slice(0, length);
}

/** Every beginning of a token and every name that the rules know, and nothing else. */
function keywords(length: number): string {
  const { tokens, named, blocks, addresses } = shippedRules;
  const words = [
    ...tokens.flatMap(({ begins }) => begins),
    ...Object.values(named).flat(),
    ...blocks.map(({ begins }) => begins),
    ...addresses.flatMap(({ begins }) => begins),
  ].join(" ");
  return `${words} `.repeat(Math.ceil(length / words.length)).slice(0, length);
}

/** Megabytes a second of one pass over the text in pieces, as a stream brings them; the median of the rounds. */
function speedOf(text: string, rounds: number, pass: (piece: string) => void): number {
  const speeds: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const began = performance.now();
    for (let at = 0; at < text.length; at += pieceLength) pass(text.slice(at, at + pieceLength));
    speeds.push(text.length / megabyte / ((performance.now() - began) / 1000));
  }
  return median(speeds);
}

export const scan: Figure = {
  name: "scan",
  title:
    "the scan for secrets, over prose and over a text made of its keywords, in pieces of 64 Ki characters",
  run({ isShort, say }) {
    const scanner = shippedScanner();
    const length = (isShort ? 4 : 20) * megabyte;
    const rounds = isShort ? 3 : 7;
    const find = (piece: string): void => void scanner.find(piece);
    let sum = 0;
    const look = (piece: string): void => {
      for (let at = 0; at < piece.length; at++) sum += piece.charCodeAt(at);
    };
    const rows = [
      ["prose", prose(length), 100],
      ["keywords only", keywords(length), 10],
    ] as const;
    // The first pass compiles.
    for (const [, text] of rows) {
      speedOf(text, 1, find);
      speedOf(text, 1, look);
    }
    const measured = rows.map(([what, text, atLeast]) => {
      const before = process.memoryUsage().heapUsed;
      const value = speedOf(text, rounds, find);
      const grownBytes = process.memoryUsage().heapUsed - before;
      say(`${what}: done`);
      return {
        what: `a text of ${length / megabyte} MB, ${what}`,
        value,
        unit: "MB/s" as const,
        target: { atLeast },
        samples: rounds,
        floor: { what: "reading each character", value: speedOf(text, rounds, look) },
        note: `the heap has ${(grownBytes / megabyte).toFixed(1)} MB more after ${(rounds * length) / megabyte} MB; ${scanner.find(text.slice(0, megabyte)).length} findings in the first`,
      };
    });
    if (sum === 0) throw new Error("Nothing was read.");
    return Promise.resolve(measured);
  },
};
