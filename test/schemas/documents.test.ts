import { cp, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeSchema } from "../../kernel/src/cli/schema-file.ts";
import { stringify } from "yaml";
import { TemporaryFolder } from "../support/temporary-folder.ts";
import { allDocuments, inToml, type Document } from "./support/documents.ts";
import { hasTombi, startTaplo, startTombi, startYaml, type Validator } from "./support/validators.ts";

/**
 * Every document of this repository, including templates, is checked by other tools, by its modeline alone: YAML by
 * one, TOML by two.
 */
const documents = await allDocuments();
const yamlDocuments = documents.filter(({ path }) => !path.endsWith(".toml"));
const tomlDocuments = documents.map((document) => inToml(document));
/** Manifests of Zed, Firebase, Dynatrace and Omniverse Kit, which have our documents' names. */
const foreign = [
  {
    id: "gleam",
    name: "Gleam",
    version: "0.0.1",
    schema_version: 1,
    grammars: { gleam: { rev: "58b7cac" } },
  },
  { name: "resize-images", version: "0.2.0", specVersion: "v1beta", resources: [{ name: "resize" }] },
  { name: "custom:one", version: "1.0.0", minDynatraceVersion: "1.213", author: { name: "One" } },
  { package: { version: "1.0.0", title: "One" }, dependencies: { kit: {} } },
];
/** Inserted below the first line, which names the schema, and before all tables, if there are any. */
const withFault = (text: string, line: string): string => text.replace("\n", `\n${line}\n`);

let temporary: TemporaryFolder;
let folder: string;
beforeAll(async () => {
  temporary = await TemporaryFolder.create("lares schemas – ");
  folder = temporary.path;
  await cp(fileURLToPath(new URL("../../schemas", import.meta.url)), join(folder, "schemas"), {
    recursive: true,
  });
  // The files that the starters bring along.
  await writeSchema(folder, "lares.schema.json");
  await writeSchema(folder, "extension.schema.json");
  await writeSchema(join(folder, "in-vscode"), "lares.schema.json");
  // Tombi resolves a modeline's path folder by folder.
  for (const { path } of documents) await mkdir(join(folder, dirname(path)), { recursive: true });
});
afterAll(() => temporary[Symbol.asyncDispose]());

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

  /** A document at the folder's top, in the tool's language. */
  const at = (name: "lares" | "extension", value: object): Document => {
    const schema = `schemas/${name}.schema.json`;
    const text = `# yaml-language-server: $schema=${schema}\n${stringify(value)}`;
    const document = { path: `${name}.yaml`, text };
    return given === yamlDocuments ? document : inToml(document);
  };
  const faultsOf = ({ path, text }: Document): Promise<string[]> => validator.faultsIn(path, text);

  test.skipIf(!isHere).each(foreign)(
    "has nothing to say of another product's manifest, and of one without its table",
    async (manifest) => {
      expect(await faultsOf(at("extension", manifest))).toEqual([]);
      const ours = { id: "dev.example.one", name: "One", version: "1.0.0" };
      expect((await faultsOf(at("extension", ours))).join("\n")).toContain("extension");
      const both = { ...manifest, extension: ours };
      expect((await faultsOf(at("extension", both))).join("\n")).toContain(Object.keys(manifest).at(-1));
    },
  );

  test.skipIf(!isHere)("says once which words there are, where a word is none of them", async () => {
    const faults = await faultsOf(at("lares", { version: 1, trace: { level: "loud" } }));
    expect(faults).toEqual([expect.stringMatching(/"debug".*"info".*"warn".*"error"/)]);
  });
});
