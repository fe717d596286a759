import { expect, test } from "vitest";
import { stripTypes } from "../../sandbox/bundle/transform.ts";
import { readInput } from "./input.ts";

/** Runs an input as the agent does. */
async function result(source: string, ctx: object = {}): Promise<unknown> {
  const input = await readInput(source, stripTypes);
  if (input.kind !== "code") return input;
  const modules = { "@lares/sdk/cel": { compileCel: (text: string) => `compiled ${text}` } };
  // oxlint-disable-next-line typescript/no-implied-eval -- what the playground's agent does in the sandbox
  const run = new Function(`return (${input.code})`)() as (...given: object[]) => Promise<unknown>;
  return run(ctx, modules);
}

test.each<[string, unknown]>([
  ["1 + 1", 2],
  ["1 + 1; // two", 2],
  ["{ a: 1 }", { a: 1 }],
  ["await Promise.resolve(3)", 3],
  ["const x: number = 2;\nx * 2;", 4],
  ["const x = [1, 2]\nx.map(\n  (n) => n + 1,\n);", [2, 3]],
  ["const x = 1;", undefined],
  ["for (const x of [1]) x;", undefined],
  ["interface A { b: number }\nconst a: A = { b: 4 };\n(a as A).b", 4],
  ['import { compileCel as c, type CelError } from "@lares/sdk/cel";\nc("a")', "compiled a"],
  ['import type { Entry } from "@lares/sdk";\n5', 5],
])("%j results in %j", async (source, expected) => {
  expect(await result(source)).toEqual(expected);
});

test.each(["foo(", "{", "const a = [\n1,", "`text", "if (true) {\n  foo();", "foo(1,\n  2,"])(
  "%j needs more lines",
  async (source) => {
    expect(await result(source)).toEqual({ kind: "unfinished" });
  },
);

test("a fault has its line", async () => {
  expect(await result("const a = 1;\nconst b = ;\n")).toEqual({
    kind: "fault",
    fault: 'Unexpected ";"',
    line: 2,
  });
});
