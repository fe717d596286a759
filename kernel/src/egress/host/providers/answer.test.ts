import { expect, test } from "vitest";
import { AnswerBuilder } from "./answer.ts";

const builder = (): AnswerBuilder =>
  new AnswerBuilder({ model: "lab/m", messages: [] }, { provider: "lab", model: "m", key: null }, false);
const argumentsOf = (json: string): unknown => {
  const made = builder();
  made.add(made.beginCall("c", "files_read"), json);
  const end = made.end("tool_calls", {});
  if (end.type !== "done") throw new Error(JSON.stringify(end));
  return end.parts.map((part) => (part.type === "tool_call" ? part.arguments : null))[0];
};

test("arguments that are not JSON, or that nest deeper than a stack holds, stay the text that the model wrote", () => {
  const nested = (levels: number): string => `{"path":${"[".repeat(levels)}1${"]".repeat(levels)}}`;
  expect(argumentsOf('{"path":["a"]}')).toEqual({ path: ["a"] });
  expect(argumentsOf(" ")).toEqual({});
  expect(argumentsOf("{broken")).toBe("{broken");
  expect(argumentsOf(nested(200))).toEqual(JSON.parse(nested(200)));
  for (const levels of [256, 10_000, 1_000_000]) expect(argumentsOf(nested(levels))).toBe(nested(levels));
  expect(argumentsOf(JSON.stringify("[".repeat(1_000)))).toBe("[".repeat(1_000));
});
