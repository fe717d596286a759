import { cp, mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeSchema } from "../../kernel/src/cli/schema-file.ts";
import { allDocuments, inToml } from "./support/documents.ts";
import { hasTombi, startTaplo, startTombi, startYaml, type Validator } from "./support/validators.ts";

/**
 * Every document of this repository, those that people start from among them, goes through the tools that are not
 * Lares', by its modeline alone: as it is through the one for YAML, and in TOML through the two for that.
 */
const documents = await allDocuments();
const yamlDocuments = documents.filter(({ path }) => !path.endsWith(".toml"));
const tomlDocuments = documents.map((document) => inToml(document));
/** Below its first line, which names the schema, and above all tables, where there are any. */
const withFault = (text: string, line: string): string => text.replace("\n", `\n${line}\n`);

let folder: string;
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "lares schemas – ")));
  await cp(fileURLToPath(new URL("../../schemas", import.meta.url)), join(folder, "schemas"), {
    recursive: true,
  });
  // As the starters bring them along.
  await writeSchema(folder, "lares.schema.json");
  await writeSchema(folder, "extension.schema.json");
  await writeSchema(join(folder, "in-vscode"), "lares.schema.json");
  // Tombi goes from folder to folder to what a modeline names.
  for (const { path } of documents) await mkdir(join(folder, dirname(path)), { recursive: true });
});
afterAll(() => rm(folder, { recursive: true }));

describe.each([
  { tool: "yaml-language-server", start: startYaml, given: yamlDocuments, fault: "not_a_field: 1" },
  { tool: "Taplo", start: startTaplo, given: tomlDocuments, fault: "not_a_field = 1" },
  { tool: "Tombi", start: startTombi, given: tomlDocuments, fault: "not_a_field = 1", isHere: hasTombi },
])("$tool", ({ start, given, fault, isHere = true }) => {
  let validator: Validator;
  beforeAll(async () => {
    if (isHere) validator = await start(folder);
  });
  afterAll(() => validator?.[Symbol.asyncDispose]());

  test.skipIf(!isHere).each(given)(
    "finds nothing in $path, and a field in it that there is not",
    async ({ path, text }) => {
      expect(await validator.faultsIn(path, text)).toEqual([]);
      const faults = await validator.faultsIn(path, withFault(text, fault));
      expect(faults.join("\n")).toContain("not_a_field");
    },
  );
});
