import { expect, test } from "vitest";
import { neverAborted } from "../base/abort.ts";
import type { Question } from "../base/vocabulary/ask.ts";
import { ownAccord, type ProcessPrincipal } from "../base/vocabulary/principal.ts";
import { canonicalJson } from "../base/json.ts";
import { repeatQuestion } from "../minds/repeat-question.ts";
import { MindCalls } from "./mind-calls.ts";

const caller: ProcessPrincipal = {
  kind: "process",
  agent: "test.mind",
  process: "worker",
  conversation: "c",
  id: "p",
  lineage: ownAccord,
};

/** Returns what the person is asked before a call leaves the machine, which they deny. */
async function egressOf(args: unknown, foreign: readonly string[] = ["workspace"]): Promise<Question> {
  const asked: Question[] = [];
  const calls = new MindCalls({
    tools: {} as never,
    agents: { authorities: () => [{ extension: "test.web", hosts: ["web.test"] }] as never },
    actions: {} as never,
    asks: {
      isAllowed: async (question) => {
        asked.push(question);
        return false;
      },
    },
    tainted: {} as never,
    kindOf: () => null,
  });
  const options = { key: "k", signal: neverAborted, offered: ["test.web/get"], foreign };
  await calls.call(caller, "test.web/get", args, options);
  const [question] = asked;
  if (question === undefined) throw new Error("Nothing was asked.");
  return question;
}

const asked = {
  egress: (args: unknown) => egressOf(args),
  repeat: async (args: unknown) => repeatQuestion(caller, "test.web/get", args),
};
const pad = "a".repeat(10_000);

test.each<[keyof typeof asked, string, unknown, unknown]>([
  ["egress", "behind what is shown", { pad, url: "/one" }, { pad, url: "/two" }],
  ["egress", "by half of a character, which is shown alike", { a: "\ud800" }, { a: "\ud801" }],
  ["egress", "by nothing and null", undefined, null],
  ["repeat", "although they are no object", ["one"], ["two"]],
  ["repeat", "by a whole and an empty object", undefined, {}],
])("two calls have two questions: %s, arguments that differ %s", async (kind, _how, one, two) => {
  const [first, second] = await Promise.all([asked[kind](one), asked[kind](two)]);
  expect(first.facts["call_digest"]).not.toBe(second.facts["call_digest"]);
  expect(await asked[kind](one)).toEqual(first);
});

test("calls of other minds, conversations and tools have other questions", () => {
  const digests = [
    repeatQuestion(caller, "a/b", {}),
    repeatQuestion({ ...caller, agent: "test.other" }, "a/b", {}),
    repeatQuestion({ ...caller, conversation: "d" }, "a/b", {}),
    repeatQuestion(caller, "a/c", {}),
  ].map(({ facts }) => facts["call_digest"]);
  expect(new Set(digests).size).toBe(digests.length);
});

test("a question says how many characters of the arguments it leaves out", async () => {
  const { facts, reason } = await egressOf({ pad });
  expect(facts).toMatchObject({ arguments_left_out: JSON.stringify({ pad }).length - 4_000 });
  expect(reason).toContain("6,010 more characters are not shown.");
  const small = await egressOf({ pad: "a" });
  expect(small.facts).not.toHaveProperty("arguments_left_out");
  expect(small.reason).not.toContain("not shown");
});

test("arguments that are cut inside of a character can be asked about", async () => {
  const emoji = await egressOf({ pad: `${"a".repeat(3_991)}😀` });
  expect(() => canonicalJson(emoji)).not.toThrow();
  expect(emoji.facts["arguments"]).toBe(`{"pad":"${"a".repeat(3_991)}`);
});

test("an answer for the conversation covers no source that the question does not name", async () => {
  const sources = (count: number) => Array.from({ length: count }, (_, at) => `agent:a${at}`);
  expect((await egressOf({}, sources(16))).scopes).toEqual(["once", "conversation"]);
  const many = await egressOf({}, sources(17));
  expect(many.sources).toHaveLength(16);
  expect(many.sources.at(-1)).toBe("others");
  expect(many.scopes).toEqual(["once"]);
  expect((await egressOf({}, ["workspace", "others"])).scopes).toEqual(["once"]);
});

test("sources with names that look like several have another subject than those", async () => {
  const one = await egressOf({}, ["message:a, workspace"]);
  expect(one.about).not.toBe((await egressOf({}, ["message:a", "workspace"])).about);
});
