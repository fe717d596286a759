import { expect, test } from "vitest";
import { documentKind } from "./names.ts";

for (const [file, kind] of [
  ["lares.yaml", "lares"],
  ["/a/b/lares.toml", "lares"],
  ["C:\\x\\extension.yml", "manifest"],
  ["extension.toml", "manifest"],
  ["my-extension.toml", undefined],
  ["lares.json", undefined],
] as const) {
  test(`${file} is ${kind ?? "neither"}`, () => expect(documentKind(file)).toBe(kind));
}
