import { expect, test } from "vitest";
import { checkLares } from "./lares.ts";
import { usableLeakRules } from "./leak-rules.ts";
import { marked } from "./testing/marked.ts";

const rule = (pattern: string): string =>
  `egress: { leak_rules: [{ name: acme key, keywords: [acme_], pattern: ${pattern} }] }\n`;

test.each([
  [rule("«'acme_('»"), /The pattern of "acme key" is not used: RE2 cannot read it \(missing closing \)/],
  [rule("«'(?=acme)x'»"), /RE2 cannot read it/],
  [rule("«'[a-z]{900}{900}'»"), /it repeats too much/],
  [rule("«'[a-z]*'»"), /matches a text without characters/],
])("%s is a warning at its place, and the document stays in force", async (source, message) => {
  const { text, range } = marked(source);
  const { diagnostics, usable, value } = await checkLares(text, "lares.yaml", { layer: "user" });
  expect(diagnostics).toMatchObject([{ code: "leak-rule-unused", severity: "warning", range }]);
  expect(diagnostics[0]?.message).toMatch(message);
  expect(usable).toBe(true);
  expect(usableLeakRules(value?.egress ?? {})).toEqual([]);
});

test.each([
  ["egress: { leak_rules: [{ «nam»: x, keywords: [acme_], pattern: a }] }\n", /did you mean "name"/],
  ["egress: { leak_rules: [{ name: x, keywords: [«ab»], pattern: a }] }\n", /./],
  ["egress: { leak_rules: [{ name: «'[x]'», keywords: [acme_], pattern: a }] }\n", /./],
])("%s does not fit the schema", async (source, message) => {
  const { text, range } = marked(source);
  const { diagnostics } = await checkLares(text, "lares.yaml", { layer: "user" });
  expect(diagnostics.find((each) => JSON.stringify(each.range) === JSON.stringify(range))?.message).toMatch(
    message,
  );
});

test("a good rule is used; a workspace's are ignored, which it says", async () => {
  const text = rule("'acme_[a-z0-9]{20}'");
  const { diagnostics, value } = await checkLares(text, "lares.yaml", { layer: "user" });
  expect(diagnostics).toEqual([]);
  expect(usableLeakRules(value?.egress ?? {})).toEqual([
    { name: "acme key", keywords: ["acme_"], pattern: "acme_[a-z0-9]{20}" },
  ]);
  const ofWorkspace = await checkLares(text, "lares.yaml", { layer: "workspace" });
  expect(ofWorkspace.diagnostics).toMatchObject([{ code: "user-only" }]);
});
