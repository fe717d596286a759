/**
 * `npm run build:lsp`: writes `lsp-3.17.schema.json`, which is committed. Its definitions `Params` and `Results` have a
 * property for each method of the LSP; it contains all types that these name.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { installNested, lspGenerator } from "../../../kernel/build/nested-package.ts";
import { type MessageTypes, readMessageTypes } from "./messages.ts";

/** The part of `ts-json-schema-generator` that is used; only this script installs it. */
interface SchemaGenerator {
  createGenerator(options: object): {
    createSchema(type: string): { readonly definitions: Record<string, object> };
  };
}

const target = fileURLToPath(new URL("lsp-3.17.schema.json", import.meta.url));
const resolve = installNested(lspGenerator);
const types = dirname(resolve("vscode-languageserver-protocol/package.json"));
const folder = mkdtempSync(join(dirname(types), ".lares-"));
try {
  const source = join(folder, "messages.ts");
  writeFileSync(source, sourceOf(readMessageTypes(types), join(types, "lib/common/api.js")));
  const definitions = await generate(source);
  writeFileSync(target, `${JSON.stringify({ definitions }, null, 1)}\n`);
  console.log("test/support/lsp/lsp-3.17.schema.json is built");
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function generate(source: string): Promise<Record<string, object>> {
  const module: unknown = await import(pathToFileURL(resolve("ts-json-schema-generator")).href);
  const { createGenerator } = module as SchemaGenerator;
  const generator = createGenerator({
    path: source,
    type: "Messages",
    expose: "all",
    additionalProperties: false,
    skipTypeCheck: true,
    jsDoc: "none",
  });
  const { definitions } = generator.createSchema("Messages");
  // TypeScript has one kind of number.
  const [smallest, largest] = [-(2 ** 31), 2 ** 31 - 1];
  return {
    ...definitions,
    integer: { type: "integer", minimum: smallest, maximum: largest },
    uinteger: { type: "integer", minimum: 0, maximum: largest },
  };
}

function sourceOf({ params, results }: MessageTypes, api: string): string {
  const types = [...params.values(), ...results.values()];
  const names = new Set(types.flatMap((type) => type.match(/\b(?:[A-Z]\w+|integer|uinteger)\b/g) ?? []));
  const members = (map: ReadonlyMap<string, string>): string =>
    [...map].map(([method, type]) => `${JSON.stringify(method)}: ${type};`).join("\n");
  return [
    `import type { ${[...names].join(", ")} } from ${JSON.stringify(api)};`,
    `export interface Params { ${members(params)} }`,
    `export interface Results { ${members(results)} }`,
    "export interface Messages { params: Params; results: Results }",
  ].join("\n");
}
