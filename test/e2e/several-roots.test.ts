import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { TestResult } from "./suite/index.ts";
import { inExtensionHost } from "./support/extension-host.ts";

const titles = ".lares/extensions/titles";
const fixture = (path: string): string => readFileSync(new URL(`workspace/${path}`, import.meta.url), "utf8");
const extension = (id: string): string =>
  fixture(`${titles}/extension.yaml`).replace("com.example.titles", id);

const results = await inExtensionHost<TestResult[]>(
  "roots",
  {
    roots: ["one", "two"],
    files: {
      "one/lares.yaml": `version: 1
extensions:
  - id: com.example.titles
    grants: { locations: ["one/notes"] }
  - id: com.example.second
    grants: { locations: ["two/notes"] }
`,
      [`one/${titles}/extension.yaml`]: extension("com.example.titles"),
      [`one/${titles}/agent.ts`]: fixture(`${titles}/agent.ts`),
      "one/notes/first.md": "# first\n",
      "two/lares.yaml": "version: 1\n",
      "two/.lares/extensions/second/extension.yaml": extension("com.example.second"),
      "two/.lares/extensions/second/agent.ts": fixture(`${titles}/agent.ts`),
      "two/notes/other.md": "# other\n",
    },
  },
  { read: async (results) => results as TestResult[] },
);

describe("in the extension host, with two folders", () => {
  it("there are tests", () => expect(results).not.toEqual([]));
  for (const { title, error } of results)
    it(title, () => {
      if (error !== undefined) throw new Error(error);
    });
});
