import { expect, test } from "vitest";
import { sha256 } from "../platform/files/hash.ts";
import { digestOfBundle } from "./bundle-digest.ts";

test("the digest of a bundle is over its manifest and each file's path and bytes, in any order", () => {
  const one = { path: "prompts/a.md", hash: sha256("a") };
  const other = { path: "skills/b.md", hash: sha256("b") };
  const digest = digestOfBundle("manifest", [one, other]);
  expect(digestOfBundle("manifest", [other, one])).toBe(digest);
  const different = [
    digestOfBundle("another", [one, other]),
    digestOfBundle("manifest", [one]),
    digestOfBundle("manifest", [one, { ...other, path: "skills/c.md" }]),
    digestOfBundle("manifest", [one, { ...other, hash: one.hash }]),
  ];
  expect(new Set([digest, ...different]).size).toBe(5);
});
