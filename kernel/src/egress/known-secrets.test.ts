import { expect, test } from "vitest";
import { ExactSecrets } from "./known-secrets.ts";

const value = 'sk-Ünicode/+"v~ 0123456789';
const secrets = new ExactSecrets([
  { name: "key", value },
  { name: "short", value: "1234567" },
]);
const mark = (name: string): string => `[secret: ${name}]`;

const forms: readonly (readonly [string, string])[] = [
  ["as it is", value],
  ["in JSON", JSON.stringify({ value })],
  ["in a query", `?a=${encodeURIComponent(value)}`],
  ["in a form", new URLSearchParams({ a: value }).toString().replaceAll("%7E", "~")],
  [
    "with every byte escaped",
    [...Buffer.from(value)].map((byte) => `%${byte.toString(16).toUpperCase()}`).join(""),
  ],
  ["as hex", Buffer.from(value).toString("hex")],
  ["as hex in capitals", Buffer.from(value).toString("hex").toUpperCase()],
  ...["", "a", "ab", "abc"].flatMap((before) =>
    (["base64", "base64url"] as const).map(
      (encoding) =>
        [
          `${encoding} after "${before}"`,
          Buffer.from(`${before}${value}: and more`).toString(encoding),
        ] as const,
    ),
  ),
];

test.each(forms)("a known secret is found and replaced: %s", (_, text) => {
  expect(secrets.find(Buffer.from(`x ${text} y`))).toBe("key");
  const redacted = secrets.redactText(`x ${text} y`, mark);
  expect(redacted).toContain("[secret: key]");
  expect(secrets.find(Buffer.from(redacted))).toBe(null);
});

test("a value of fewer than eight bytes, and another text, are not found", () => {
  const text = Buffer.from("1234567 and sk-unicode");
  expect(secrets.find(text)).toBe(null);
  expect(secrets.redact(text, mark)).toBe(text);
});
