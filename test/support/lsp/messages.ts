import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Messages of the LSP as TypeScript: the source text of each params and result type, by method. */
export interface MessageTypes {
  readonly params: ReadonlyMap<string, string>;
  readonly results: ReadonlyMap<string, string>;
}

/** Types of JSON-RPC and progress; the package has them as generics. */
const general: readonly [string, string][] = [
  ["$/cancelRequest", "{ id: integer | string }"],
  [
    "$/progress",
    "{ token: ProgressToken; value: WorkDoneProgressBegin | WorkDoneProgressReport | WorkDoneProgressEnd }",
  ],
];

/** Added in 3.18; proposals in 3.17.5. */
const later: ReadonlySet<string> = new Set([
  "textDocument/inlineCompletion",
  "textDocument/rangesFormatting",
  "workspace/foldingRange/refresh",
]);

/** Reads `namespace XRequest { const method: "…"; const type: ProtocolRequestType<Params, Result, …> }`. */
export function readMessageTypes(packageFolder: string): MessageTypes {
  const params = new Map(general);
  const results = new Map<string, string>();
  const folder = join(packageFolder, "lib/common");
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".d.ts"))) {
    for (const [, body = ""] of readFileSync(join(folder, file), "utf8").matchAll(
      /namespace \w+ \{([\s\S]*?)\n\}/g,
    )) {
      const method = /const method: ['"`]([^'"`]+)['"`]/.exec(body)?.[1];
      const type = /const type: (?:\w+\.)?Protocol(RequestType0?|NotificationType)</.exec(body);
      if (method === undefined || type === null || later.has(method)) continue;
      const [first = "", second = ""] = typeArguments(body.slice(type.index + type[0].length));
      if (type[1] !== "RequestType0") params.set(method, first);
      if (type[1] === "RequestType") results.set(method, second);
      if (type[1] === "RequestType0") results.set(method, first);
    }
  }
  return { params, results };
}

/** Returns the arguments up to the closing `>`. */
function typeArguments(text: string): string[] {
  const found: string[] = [];
  let depth = 0;
  let from = 0;
  for (const { index, 0: sign } of text.matchAll(/[<({[\]})>,]/g)) {
    if ("<({[".includes(sign)) depth++;
    else if (sign !== ",") depth--;
    if (depth > 0 || (depth === 0 && sign !== ",")) continue;
    found.push(
      text
        .slice(from, index)
        .trim()
        .replace(/^void$/, "null"),
    );
    from = index + 1;
    if (depth < 0) break;
  }
  return found;
}
