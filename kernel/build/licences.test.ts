import { expect, test } from "vitest";
import { licencesOf } from "./licences.ts";

test("a package without a licence text has that of its scope under the same licence", () => {
  const own = licencesOf(["@ai-sdk/provider"]).split("\n\n").slice(1);
  const [title, ...text] = licencesOf(["@ai-sdk/provider-utils"]).split("\n\n");
  expect(title).toMatch(/^@ai-sdk\/provider-utils \d+\.\d+\.\d+ \(Apache-2\.0\)$/);
  expect(text).toEqual(own);
});
