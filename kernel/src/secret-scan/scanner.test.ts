import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { SecretRules } from "./rules.ts";
import { SecretScanner } from "./scanner.ts";
import { shippedRules } from "./shipped-rules.ts";

const rules = parse(
  readFileSync(new URL("../../../manifests/secrets.yaml", import.meta.url), "utf8"),
) as SecretRules;
test("the module is what the document says; otherwise run: npm run build:secrets", () => {
  expect({ version: 1, ...shippedRules }).toEqual(rules);
});

const scanner = new SecretScanner(rules);
const secretsIn = (text: string): string[] =>
  scanner.find(text).map(({ start, end }) => text.slice(start, end));

/** Returns a text that looks random and is the same in each run, so that this file contains no complete token. */
function random(length: number, characters: string, seed = 7): string {
  let state = seed;
  let text = "";
  while (text.length < length) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    text += characters[Math.floor(state / 65_536) % characters.length] ?? "";
  }
  return text;
}
const alphabets: Readonly<Record<string, string>> = {
  hex: "0123456789abcdef",
  lower: "abcdefghijklmnopqrstuvwxyz0123456789",
  upper: "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
};
const alnum = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
/** Contains a digit, as most tokens do. */
const body = (length: number, alphabet: string): string =>
  `${random(length - 1, alphabets[alphabet] ?? alnum)}7`;

describe("a token", () => {
  const kinds = rules.tokens.flatMap((rule) => rule.begins.map((begins) => ({ ...rule, begins })));

  test.each(kinds.map((kind) => [kind.begins, kind] as const))(
    "that begins with %s is found alone, in quotes and in a sentence",
    (begins, { alphabet, length: [least], dots }) => {
      const parts = dots === undefined ? 1 : dots + 1;
      const token =
        begins + Array.from({ length: parts }, () => body(Math.ceil(least / parts), alphabet)).join(".");
      for (const text of [token, `"${token}"`, `see ${token} there`, `key=${token}\n`])
        expect(scanner.find(text), text).toHaveLength(1);
    },
  );

  test("that is too short, repeats one character, or has no digit is not found", () => {
    const prefix = "ghp_";
    for (const text of [prefix + body(20, "alnum"), prefix + "x".repeat(36), prefix + "abcdefghij".repeat(4)])
      expect(secretsIn(text)).toEqual([]);
  });

  test("joined to a word is found only if its prefix is unmistakable", () => {
    const long = "github_pat_" + body(40, "alnum");
    expect(secretsIn(`prefix${long}`)).toEqual([long]);
    expect(secretsIn(`task-sk-${body(30, "alnum")}`.replace("task-", "de"))).toEqual([]);
  });
});

describe("a value after a name", () => {
  const value = random(24, alnum);

  test.each([
    `OKTA_TOKEN=${value}`,
    `"apiKey": "${value}"`,
    `api-key: ${value}`,
    `const accessKey = '${value}';`,
    `<authToken>\n    ${value}\n</authToken>`,
    `token: string = "${value}"`,
    `Authorization: Bearer ${value}`,
    `name: SLACK_TOKEN\n  value: "${value}"`,
    `$token .= "${value}"`,
    `algolia => "${value}"`,
  ])("is found, and only the value: %s", (text) => {
    expect(secretsIn(text)).toEqual([value]);
  });

  test.each(["password: hunter2", 'passwd="correct!horse#"', "client_secret: Zq3~9bTr"])(
    "that is short is found after a strong name: %s",
    (text) => expect(scanner.find(text)).toHaveLength(1),
  );

  test.each([
    "password: required",
    "password: ${PASSWORD}",
    "password: process.env.PASSWORD_2",
    "token: <your-token-1234>",
    "the token of version v1.2.3-beta.4",
    "token = nextToken(cursor2)",
    "secret: ./config/secret2.json",
    "tokens: 128000 of 200000",
    "api_key: xxxxxxxxxxxx1234",
    "oauth2 token: readable-name-2",
    'alt="1Password"',
    'secretName: "^[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?$"',
    "[secret: 1password key]",
    'rocktable = "0a1b2c3d4e5f6g7h8i9j"',
  ])("is not found if it is a word, a variable, a path or a placeholder: %s", (text) => {
    expect(secretsIn(text)).toEqual([]);
  });
});

describe("other rules", () => {
  test("a private key is found as a whole, also if it is escaped or cut off", () => {
    const heading = "-----BEGIN RSA PRIVATE KEY-----";
    const end = "-----END RSA PRIVATE KEY-----";
    const lines = `${random(64, alnum)}\n${random(30, alnum)}`;
    for (const key of [`${heading}\n${lines}\n${end}`, `${heading}\\n${lines.replace("\n", "\\n")}\\n${end}`])
      expect(secretsIn(`a ${key} b`)).toEqual([key]);
    expect(secretsIn(`${heading}\n${lines}`)).toEqual([`${heading}\n${lines}`]);
    expect(secretsIn(`"${heading}" opens a key`)).toEqual([]);
    expect(secretsIn("-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----")).toEqual([]);
  });

  test("the password in a URL is found, a placeholder is not", () => {
    expect(secretsIn("postgres://app:s3cret-word@db:5432/x")).toEqual(["s3cret-word"]);
    for (const text of ["https://user:password@host/", "https://host:8080/a@b", "see https://a/b:c@d"])
      expect(secretsIn(text)).toEqual([]);
  });

  test("the last part of a webhook is found", () => {
    expect(secretsIn("https://hooks.slack.com/services/" + random(40, alnum))).toHaveLength(1);
  });

  test("an added rule is RE2, and applies with the others", () => {
    const withPattern = (pattern: string): SecretScanner =>
      new SecretScanner({ ...rules, patterns: [{ name: "ours", keywords: ["acme"], pattern }] });
    const own = withPattern("\\d{4}-[a-z]");
    const marked = (text: string): string => own.replace(text, (rule) => `[${rule}]`);
    expect(marked("1234-a ACME: 1234-a, Acme 5678-b")).toBe("1234-a ACME: [ours], Acme [ours]");
    // It is tried at each keyword, in linear time, up to 1,024 characters behind it.
    expect(marked(`acme${" ".repeat(1000)}1234-a`)).toContain("[ours]");
    expect(marked(`acme${" ".repeat(1100)}1234-a`)).not.toContain("[ours]");
    expect(marked(`${"acme ".repeat(300)}1234-a`)).toContain("[ours]");
    expect(() => withPattern("(a)\\1")).toThrow();
  });
});

test("findings are ordered, disjoint and within the text; a text without secrets is not changed", () => {
  const words = [...rules.tokens.flatMap(({ begins }) => begins), ...rules.named.weak, "://", "-----BEGIN "];
  const piece = fc.oneof(
    fc.constantFrom(...words),
    fc.string({ maxLength: 30 }),
    fc.constantFrom("=", ": ", '"', "@", ":"),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const text = pieces.join("");
      const found = scanner.find(text);
      let last = 0;
      for (const { start, end } of found) {
        expect(start).toBeGreaterThanOrEqual(last);
        expect(end).toBeGreaterThan(start);
        last = end;
      }
      expect(last).toBeLessThanOrEqual(text.length);
      if (found.length === 0) expect(scanner.replace(text, () => "!")).toBe(text);
    }),
    { numRuns: 500 },
  );
});
