/** Handlers in the manifest's program. */
const handlerNames = Array.from({ length: 24 }, (_, index) => `handler${index}`);

export const program = `import { defineAgent } from "@lares/sdk";
export default defineAgent({
  hooks: { ${handlerNames.map((name) => `async ${name}() {}`).join(", ")} },
  tools: { async search() {} },
});
`;

export type Format = "yaml" | "toml";

/** Returns a typical manifest of at least this many lines, in two pieces, between which text is typed. */
export function longManifest(format: Format, lines: number): { before: string; after: string } {
  const text = format === "yaml" ? yamlPieces : tomlPieces;
  const body: string[] = [];
  // A hook for each tool, because filters cost most.
  for (let index = 0; body.join("").split("\n").length < lines - 12; index++)
    body.push(text.hook(index), text.tool(index));
  const hooks = body.filter((_, index) => index % 2 === 0);
  const tools = body.filter((_, index) => index % 2 === 1);
  const half = Math.ceil(hooks.length / 2);
  return {
    before: text.head + text.hooks + hooks.slice(0, half).join(""),
    after: hooks.slice(half).join("") + text.tools + tools.join(""),
  };
}

/** The text that is typed, character by character: a hook with a filter. */
export const typed: Readonly<Record<Format, string>> = {
  yaml: '    - on: EntryCreated\n      filter: entry.isImage() && entry.size > 1024 && entry.name.endsWith(".jpg")\n      handler: handler3\n',
  toml: '[[extension.hooks]]\non = "EntryCreated"\nfilter = \'entry.isImage() && entry.size > 1024 && entry.name.endsWith(".jpg")\'\nhandler = "handler3"\n',
};

interface Pieces {
  readonly head: string;
  readonly hooks: string;
  readonly tools: string;
  hook(index: number): string;
  tool(index: number): string;
}

const filterOf = (index: number): string =>
  `entry.kind == 'file' && entry.size > ${index} && (entry.path.startsWith('photos/${index}') || entry.isDocument())`;
const handlerOf = (index: number): string => handlerNames[index % handlerNames.length] ?? "";

const yamlPieces: Pieces = {
  head: "extension:\n  id: dev.bench.language\n  name: Language\n  version: 1.0.0\n  permissions:\n    read_entries: true\n    write_tags: true\n",
  hooks: "  hooks:\n",
  tools: "  tools:\n",
  hook: (index) =>
    `    - on: EntryModified\n      filter: "${filterOf(index)}"\n      handler: ${handlerOf(index)}\n`,
  tool: (index) =>
    `    - name: search_${index}\n      description: Finds what was asked for, the newest first\n      handler: search\n      parameters:\n        type: object\n        required: [text]\n        properties:\n          text: { type: string, minLength: 1 }\n          limit: { type: integer, minimum: 1, maximum: 1000 }\n`,
};

const tomlPieces: Pieces = {
  head: '[extension]\nid = "dev.bench.language"\nname = "Language"\nversion = "1.0.0"\n[extension.permissions]\nread_entries = true\nwrite_tags = true\n',
  hooks: "",
  tools: "",
  hook: (index) =>
    `[[extension.hooks]]\non = "EntryModified"\nfilter = "${filterOf(index)}"\nhandler = "${handlerOf(index)}"\n`,
  tool: (index) =>
    `[[extension.tools]]\nname = "search_${index}"\ndescription = "Finds what was asked for, the newest first"\nhandler = "search"\n[extension.tools.parameters]\ntype = "object"\nrequired = ["text"]\nproperties.text = { type = "string", minLength = 1 }\nproperties.limit = { type = "integer", minimum = 1, maximum = 1000 }\n`,
};
