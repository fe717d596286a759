import { expect, test } from "vitest";
import { anAsk } from "../testing/fake-kernel.ts";
import { isNamed } from "../prompts/pick-by-key.ts";
import { answerByKey, answersTo } from "./question-keys.ts";

type Scopes = ReturnType<typeof anAsk>["scopes"];

test.each<[Scopes, string]>([
  [["always", "once"], "a once, s always, r deny"],
  [["once", "conversation"], "a once, s conversation, r deny"],
  [["once", "conversation", "always"], "a once, 2 conversation, s always, r deny"],
  [["once"], "a once, r deny"],
  [["always"], "a always, r deny"],
])("the keys of a question with the scopes %j", (scopes, keys) => {
  const answers = answersTo(anAsk("q", { scopes }));
  expect(answers.map(({ key, allow, remember }) => `${key} ${allow ? remember : "deny"}`).join(", ")).toBe(
    keys,
  );
});

test("earlier keys mean what they meant, and others nothing", () => {
  const ask = anAsk("q", { scopes: ["always", "once"] });
  expect(answerByKey(ask, "d")).toMatchObject({ allow: false });
  expect(answerByKey(ask, "1")).toEqual({ allow: true, remember: "always" });
  expect(answerByKey(ask, "2")).toEqual({ allow: true, remember: "once" });
  for (const key of ["3", "y", "A", ""]) expect(answerByKey(ask, key)).toBeUndefined();
});

test("a written answer is the key or the first word", () => {
  const choice = { key: "r", words: "reject", value: 1 } as const;
  for (const answer of ["r", "reject"]) expect(isNamed(choice, answer)).toBe(true);
  for (const answer of ["", "re", "a"]) expect(isNamed(choice, answer)).toBe(false);
  expect(isNamed({ key: "Enter", words: "more", value: 1 }, "")).toBe(true);
});
