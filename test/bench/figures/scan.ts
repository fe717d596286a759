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

/** Returns the documents of this repository, repeated to this length. */
function prose(length: number): string {
  const texts = ["", "test", "schemas", "kernel", "extensions"].flatMap((folder) =>
    readdirSync(join(repository, folder))
      .filter((name) => name.endsWith(".md"))
      .map((name) => readFileSync(join(repository, folder, name), "utf8")),
  );
  const all = texts.join("\n");
  return all.repeat(Math.ceil(length / all.length)).slice(0, length);
}

/** Returns every beginning of a token and every name that the rules know, and nothing else. */
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

/** Texts that were made to be slow: beginnings of secrets that turn out to be none, as close together as they can be. */
const hostile: readonly (readonly [what: string, line: string])[] = [
  ["one name again and again", "token="],
  [
    "names with values that are none",
    `${["slack", "github", "okta", "jira"].map((name, at) => `${name}=a1b2c3d4e5f6g7h8example${at}`).join("&")}\n`,
  ],
  [
    "names in one long value",
    `password=${Array.from({ length: 12 }, (_, at) => `key${at}.token-a1B2=`).join("")} `,
  ],
  ["beginnings of tokens in one run", "sk-ant-sk-proj-eyJ0sk-"],
  ["one long run", "a1B2c3D4".repeat(1000)],
  ["headings of keys", `${"-".repeat(5)}BEGIN RSA PRIVATE KEY-----\nabc\n`],
  ["addresses", "https://user:pass@hooks.slack.com/services/"],
];

/** Megabytes in a second of processor time of one pass over the text in pieces, as a stream brings them; the median. */
function speedOf(text: string, rounds: number, pass: (piece: string) => void): number {
  const speeds: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const before = process.cpuUsage();
    for (let at = 0; at < text.length; at += pieceLength) pass(text.slice(at, at + pieceLength));
    const { user, system } = process.cpuUsage(before);
    speeds.push(text.length / megabyte / ((user + system) / 1_000_000));
  }
  return median(speeds);
}

export const scan: Figure = {
  name: "scan",
  title:
    "the scan for secrets, in megabytes of text for a second of processor time, in pieces of 64 Ki characters",
  run({ isShort, say }) {
    const scanner = shippedScanner();
    const length = (isShort ? 4 : 20) * megabyte;
    const rounds = isShort ? 3 : 7;
    const find = (piece: string): void => void scanner.find(piece);
    let sum = 0;
    const look = (piece: string): void => {
      for (let at = 0; at < piece.length; at++) sum += piece.charCodeAt(at);
    };
    const streamed = (): ((piece: string) => void) => {
      const stream = scanner.stream((rule) => `[secret: ${rule}]`);
      return (piece) => void stream.push(piece);
    };
    const rows: readonly (readonly [string, string, number, (piece: string) => void])[] = [
      ["prose", prose(length), 100, find],
      ["keywords only", keywords(length), 10, find],
      ["prose, as a stream", prose(length), 100, streamed()],
      ["keywords only, as a stream", keywords(length), 10, streamed()],
      ...hostile.map(
        ([what, line]) => [what, line.repeat(Math.ceil(length / 4 / line.length)), 10, find] as const,
      ),
    ];
    // The first pass compiles.
    for (const [, text, , pass] of rows) {
      speedOf(text, 1, pass);
      speedOf(text, 1, look);
    }
    const measured = rows.map(([what, text, atLeast, pass]) => {
      const before = process.memoryUsage().heapUsed;
      const value = speedOf(text, rounds, pass);
      const grownBytes = process.memoryUsage().heapUsed - before;
      say(`${what}: done`);
      return {
        what: `${Math.round(text.length / megabyte)} MB, ${what}`,
        value,
        unit: "MB/s" as const,
        target: { atLeast },
        samples: rounds,
        floor: { what: "reading each character", value: speedOf(text, rounds, look) },
        note: `the heap has ${(grownBytes / megabyte).toFixed(1)} MB more after ${Math.round((rounds * text.length) / megabyte)} MB; ${scanner.find(text.slice(0, megabyte)).length} findings in the first`,
      };
    });
    if (sum === 0) throw new Error("Nothing was read.");
    return Promise.resolve(measured);
  },
};
