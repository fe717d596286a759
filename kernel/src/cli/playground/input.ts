import type { CliPorts } from "../ports.ts";

export type StripTypes = CliPorts["stripTypes"];

type Input =
  | { readonly kind: "code"; readonly code: string }
  /** More lines have to follow. */
  | { readonly kind: "unfinished" }
  | { readonly kind: "fault"; readonly fault: string; readonly line: number };

const head = "const run = async (ctx, modules) =>";
const imports = /^import\s+(type\s+)?\{([^}]*)\}\s+from\s+"([^"]*)";?[ \t]*$/gm;

/** The last expression of an input has at most this many lines. */
const maxLastLines = 20;

/**
 * Returns an input as the text of a function of a context and the SDK's modules. Its result is the input, if that is an
 * expression, or else its last lines, if they are one.
 */
export async function readInput(source: string, stripTypes: StripTypes): Promise<Input> {
  const lines = source.replace(imports, importedAs).trimEnd().split("\n");
  const statements = await stripTypes(`${head} {\n${lines.join("\n")}\n};`);
  const first = Math.max(0, lines.length - maxLastLines);
  // An expression such as an object may be no statement, so that all of it is tried in any case.
  const tried = "code" in statements ? lines.keys().toArray().slice(first).toReversed() : [0];
  for (const at of tried) {
    const last = withoutSemicolon(lines.slice(at).join("\n"));
    const before = lines.slice(0, at).join("\n");
    const found = await stripTypes(`${head} {\n${before}\nreturn (\n${last}\n);\n};`);
    if ("code" in found) return { kind: "code", code: functionOf(found.code) };
  }
  if ("code" in statements) return { kind: "code", code: functionOf(statements.code) };
  // The fault is only that the input is incomplete: the wrapping function ends too early.
  if (statements.line > lines.length + 1) return { kind: "unfinished" };
  return { kind: "fault", fault: statements.fault, line: statements.line - 1 };
}

/** Returns a text without the semicolon at its end, which a comment on the last line may follow. */
function withoutSemicolon(text: string): string {
  const lastLine = text.lastIndexOf("\n") + 1;
  const found = [...text.matchAll(/;\s*(?=\/\/)/g), ...text.matchAll(/;\s*$/g)];
  const end = found.find(({ index, 0: { length } }) => index + length >= lastLine);
  return end === undefined ? text : text.slice(0, end.index) + text.slice(end.index + end[0].length);
}

/** Only the SDK can be imported. Keeps the number of lines. */
function importedAs(whole: string, isType: string | undefined, names: string, module: string): string {
  const lines = "\n".repeat(whole.split("\n").length - 1);
  if (isType !== undefined) return lines;
  const values = names
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && !name.startsWith("type "));
  return `const { ${values.map((name) => name.replace(/(?<!\s)\s+as\s+/, ": ")).join(", ")} } = modules[${JSON.stringify(module)}];${lines}`;
}

const functionOf = (code: string): string =>
  code
    .trim()
    .replace(/^const run = /, "")
    .replace(/;$/, "");
