import { readFile } from "node:fs/promises";
import { transform } from "esbuild";
import { expect, test } from "vitest";

test("the executable parses on a Node that is too old, to be able to say so", async () => {
  const source = await readFile(new URL("../../bin/lares.js", import.meta.url), "utf8");
  // Newer syntax that esbuild cannot express in ES5 is an error; what it can would change the text.
  const options = { minify: true, charset: "utf8" } as const;
  const old = await transform(source, { ...options, target: "es5" });
  const current = await transform(source, {
    ...options,
    target: "esnext",
    supported: { "template-literal": false },
  });
  expect(old.code).toBe(current.code);
});
