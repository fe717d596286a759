import { describe, expect, it } from "vitest";
import { inExtensionHost } from "./support/extension-host.ts";
import type { TestResult } from "./suite/index.ts";

const results = await inExtensionHost<TestResult[]>(
  "suite",
  {},
  {
    read: async (results) => results as TestResult[],
  },
);

describe("in the extension host", () => {
  it("there are tests", () => expect(results).not.toEqual([]));
  for (const { title, error } of results)
    it(title, () => {
      if (error !== undefined) throw new Error(error);
    });
});
