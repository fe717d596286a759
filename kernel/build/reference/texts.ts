/** Everything that is generated into `schemas/`, by file name. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Examples, readExamples } from "./examples.ts";
import { publishedDocumentSchemas } from "../../src/documents/published.ts";
import { publishedSchemas } from "../../src/protocol/published/published.ts";
import { publishedPackageSchemas } from "../../src/packages/published.ts";
import { documentsPage, type ExampleDocuments, exampleDocuments } from "./documents.ts";
import { guestPage, protocolPage } from "./wires.ts";

export const schemasFolder = join(import.meta.dirname, "..", "..", "..", "schemas");

export async function generatedTexts(): Promise<Record<string, string>> {
  const schemas = Object.entries({
    ...publishedDocumentSchemas(),
    ...publishedSchemas(),
    ...publishedPackageSchemas(),
  }).map(([name, schema]) => [name, `${JSON.stringify(schema, null, 2)}\n`] as const);
  return {
    ...Object.fromEntries(schemas),
    "protocol.md": await wirePage("protocol", protocolPage),
    "guest-abi.md": await wirePage("guest-abi", guestPage),
    "documents.md": documentsPage(await introductionOf("documents"), await readExampleDocuments()),
  };
}

export async function readExampleDocuments(): Promise<ExampleDocuments> {
  const texts = exampleDocuments.map(
    async (path) => [path, await readFile(join(schemasFolder, "examples", path), "utf8")] as const,
  );
  return Object.fromEntries(await Promise.all(texts)) as ExampleDocuments;
}

function introductionOf(name: string): Promise<string> {
  return readFile(join(schemasFolder, "introductions", `${name}.md`), "utf8");
}

async function wirePage(
  name: "protocol" | "guest-abi",
  render: (introduction: string, examples: Examples) => string,
): Promise<string> {
  return render(await introductionOf(name), await readExamples(name));
}
