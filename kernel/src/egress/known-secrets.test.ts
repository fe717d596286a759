import { expect, test } from "vitest";
import { finished } from "../base/steps.ts";
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
  ["in JSON of Python", String.raw`{"a": "sk-\u00dcnicode/+\"v~ 0123456789"}`],
  ["in JSON of PHP", String.raw`{"a":"sk-\u00dcnicode\/+\"v~ 0123456789"}`],
  ["in JSON of .NET", String.raw`{"a":"sk-\u00DCnicode/\u002B\u0022v~ 0123456789"}`],
  ["in HTML", "<p>sk-Ünicode/+&quot;v~ 0123456789</p>"],
  ["in an attribute of Go", "<p title='sk-Ünicode/+&#34;v~ 0123456789'>"],
  ["in JSON that is a text in JSON", JSON.stringify(JSON.stringify({ value }))],
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

test("of a text that was cut, its end is left out, however much shorter the marks before it are", () => {
  const echoes = Buffer.from(`${value} `.repeat(20));
  const start = value.slice(0, 3);
  for (let length = 300; length < 400; length++)
    for (const most of [10, 200, 1_000]) {
      const cut = finished(secrets.redacting(echoes.subarray(0, length), () => "*", { isCut: true, most }));
      expect(String(cut)).not.toContain(start);
      expect(cut.length).toBeLessThanOrEqual(most);
    }
  const whole = finished(secrets.redacting(echoes, () => "*", { isCut: false, most: 5 }));
  expect(String(whole)).toBe("* * *");
});

test("a long text, and one of nothing but secrets, are searched in many steps", () => {
  const long = Buffer.alloc(1024 * 1024, 0x61);
  const full = Buffer.from(value.repeat(5_000));
  for (const bytes of [long, full])
    expect([...secrets.redacting(bytes, mark, { isCut: false, most: bytes.length })].length).toBeGreaterThan(
      4,
    );
  expect(secrets.redact(long, mark)).toBe(long);
  expect(String(secrets.redact(full, mark))).toBe("[secret: key]".repeat(5_000));
});

test("a secret is found across the borders of steps", () => {
  for (const shift of [-value.length - 1, -3, 0, 1]) {
    const at = 256 * 1024 + shift;
    const bytes = Buffer.from(`${"x".repeat(at)}${value}${"y".repeat(1000)}`);
    expect(secrets.find(bytes)).toBe("key");
    expect(String(secrets.redact(bytes, mark))).toBe(`${"x".repeat(at)}[secret: key]${"y".repeat(1000)}`);
  }
});
