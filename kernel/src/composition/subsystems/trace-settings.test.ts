import { describe, expect, test } from "vitest";
import { createRedact } from "../../trace/entry.ts";
import { readTraceSettings } from "./trace-settings.ts";

const { redactions } = await readTraceSettings({
  trace: { keepMs: 1 },
} as Parameters<typeof readTraceSettings>[0]);

/** For each rule: what it is there for, and what it must leave alone. */
const examples: Readonly<Record<string, { readonly secret: string; readonly harmless: string }>> = {
  "private key": {
    secret: `-----BEGIN RSA PRIVATE KEY-----\n${"MIIE".repeat(20)}\n-----END RSA PRIVATE KEY-----`,
    harmless: "-----BEGIN CERTIFICATE-----",
  },
  "github token": { secret: `ghp_${"a1B2".repeat(9)}`, harmless: "ghp_short" },
  "aws access key": { secret: "AKIAIOSFODNN7EXAMPLE", harmless: "AKIA and ASIA" },
  "api key": { secret: `sk-proj-${"a1-_".repeat(6)}`, harmless: "sk-short" },
  "slack token": { secret: "xoxb-1234567890-abcdef", harmless: "xoxb-1" },
  "json web token": {
    secret: "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
    harmless: "eyJ.eyJ.eyJ",
  },
  "bearer token": { secret: "Bearer 0123456789abcdef==", harmless: "a bearer of news" },
};

describe("the rules of manifests/redaction.yaml", () => {
  test("each have an example here", () => {
    expect(Object.keys(examples)).toEqual(redactions.map(({ name }) => name));
  });

  for (const rule of redactions) {
    const { secret = "", harmless = "" } = examples[rule.name] ?? {};
    test(`${rule.name}: taken out alone and inside a sentence, and nothing else is`, () => {
      const redact = createRedact([rule]);
      expect(redact(secret)).toBe(`[redacted: ${rule.name}]`);
      expect(redact(`got ${secret} twice: ${secret}`)).toBe(
        `got [redacted: ${rule.name}] twice: [redacted: ${rule.name}]`,
      );
      expect(redact(harmless)).toBe(harmless);
    });
  }

  test("take out a private key whose end is cut off", () => {
    expect(createRedact(redactions)("-----BEGIN PRIVATE KEY-----\nMIIE")).toBe("[redacted: private key]");
  });
});
