import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { readMessageTypes, type MessageTypes } from "./messages.ts";

export interface LspSchema {
  readonly definitions: Record<string, object>;
}

/** Counted up when what is made here changes. */
const edition = 1;

const packageFile = createRequire(import.meta.url).resolve("lsp-3.17/package.json");
const cache = fileURLToPath(new URL("../../../node_modules/.cache/lares-lsp", import.meta.url));

/** Definitions `Params` and `Results` with a property for each method, and all that they name. */
export async function lspSchema(): Promise<LspSchema> {
  const { version } = JSON.parse(readFileSync(packageFile, "utf8")) as { version: string };
  const file = join(cache, `lsp-${version}-${edition}.json`);
  try {
    return JSON.parse(readFileSync(file, "utf8")) as LspSchema;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  const schema = await generate(join(cache, `messages-${process.pid}.ts`));
  const own = `${file}.${process.pid}`;
  writeFileSync(own, JSON.stringify(schema));
  // Several test files may be here at once.
  renameSync(own, file);
  return schema;
}

async function generate(source: string): Promise<LspSchema> {
  const folder = dirname(packageFile);
  mkdirSync(cache, { recursive: true });
  writeFileSync(source, sourceOf(readMessageTypes(folder), join(folder, "lib/common/api.js")));
  const { createGenerator } = await import("ts-json-schema-generator");
  const generator = createGenerator({
    path: source,
    type: "Messages",
    expose: "all",
    additionalProperties: false,
    skipTypeCheck: true,
    jsDoc: "none",
  });
  const definitions = generator.createSchema("Messages").definitions as Record<string, object>;
  rmSync(source);
  // TypeScript has one kind of number.
  const [smallest, largest] = [-(2 ** 31), 2 ** 31 - 1];
  return {
    definitions: {
      ...definitions,
      integer: { type: "integer", minimum: smallest, maximum: largest },
      uinteger: { type: "integer", minimum: 0, maximum: largest },
    },
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
