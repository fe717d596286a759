/** `schemas/documents.md`. Pure: schemas and examples in, Markdown out. */
import { codes } from "../../src/documents/text/codes.ts";
import { Lares } from "../../src/documents/schema/lares.ts";
import { Manifest } from "../../src/documents/schema/manifest.ts";
import { FieldRenderer, type Schema, sentence } from "./fields.ts";
import { generated, page } from "./page.ts";

/** The example documents, by their path beneath `schemas/examples/`. */
export type ExampleDocuments = Readonly<Record<(typeof exampleDocuments)[number], string>>;

export const exampleDocuments = ["lares.yaml", "user/lares.yaml", "extension.yaml"] as const;

export function documentsPage(introduction: string, examples: ExampleDocuments): string {
  const lares = plain(Lares);
  const extension = plain(Manifest).properties?.["extension"] ?? {};
  return page([
    "# The documents, version 1",
    "",
    generated,
    "",
    introduction.trim(),
    "",
    "A `?` behind a field's name says that the field may be left out. The machine-readable forms are [`lares.schema.json`](lares.schema.json) and [`extension.schema.json`](extension.schema.json).",
    "",
    "- [`lares.yaml`](#laresyaml)",
    "- [`extension.yaml`](#extensionyaml)",
    "- [Faults](#faults)",
    "",
    "## `lares.yaml`",
    "",
    "At the root of a workspace. With every field that a workspace's document may have:",
    "",
    ...yaml(examples["lares.yaml"]),
    "",
    "What only counts in a user's document:",
    "",
    ...yaml(examples["user/lares.yaml"]),
    "",
    ...topFields(lares),
    "## `extension.yaml`",
    "",
    "In an extension's folder, beside its program. With every field:",
    "",
    ...yaml(examples["extension.yaml"]),
    "",
    `All fields are in \`extension\`: ${sentence(extension.description)}`,
    "",
    ...topFields(extension),
    "## Faults",
    "",
    "An error keeps the document from being used; a warning does not.",
    "",
    "| code | severity | meaning |",
    "| --- | --- | --- |",
    ...Object.entries(codes).map(
      ([code, { severity, explanation }]) => `| \`${code}\` | ${severity} | ${explanation} |`,
    ),
    "",
  ]);
}

/** Lists fields without nested fields, and gives all others headings. */
function topFields(schema: Schema): string[] {
  const fields = new FieldRenderer({});
  const entries = Object.entries(schema.properties ?? {});
  const isPlain = (field: Schema): boolean => fields.list(field).length === 0;
  const required = schema.required ?? [];
  const only = (names: readonly [string, Schema][]): Schema => ({
    properties: Object.fromEntries(names),
    required,
  });
  return [
    ...fields.list(only(entries.filter(([, field]) => isPlain(field)))),
    "",
    ...entries
      .filter(([, field]) => !isPlain(field))
      .flatMap(([name, field]) => [
        `### \`${name}\``,
        "",
        `${sentence(field.description)} (${fields.type(field)})`,
        "",
        ...fields.list(field),
        "",
      ]),
  ];
}

/** Removes TypeBox's own markers. */
function plain(schema: object): Schema {
  return JSON.parse(JSON.stringify(schema)) as Schema;
}

function yaml(text: string): string[] {
  return ["```yaml", text.trim(), "```"];
}
