import type { ParamsOf } from "../protocol.ts";
import type { Attached } from "../webviews/conversations/messages.ts";

/** Characters of a quotation. */
export const maxQuoted = 20_000;

type SentParts = NonNullable<ParamsOf<"lares/conversations/send">["parts"]>;

/** Returns a message as it is sent: quotations stand behind the text, files and pictures are parts of their own. */
export function partsOf(text: string, attached: readonly Attached[]): SentParts {
  const quotes = attached.flatMap((one) => (one.kind === "quote" ? [quoted(one)] : []));
  const whole = [text, ...quotes].filter((part) => part.trim() !== "").join("\n\n");
  return [
    ...(whole === "" ? [] : [{ type: "text" as const, text: whole }]),
    ...attached.flatMap((one): SentParts => {
      switch (one.kind) {
        case "file":
          return [{ type: "file", path: one.path, ...(one.range === undefined ? {} : { range: one.range }) }];
        case "picture":
          return [{ type: "image", media_type: one.mediaType, base64: one.base64 }];
        case "quote":
          return [];
      }
    }),
  ];
}

/** Fenced with more backticks than stand in it, so that nothing in it ends the fence. */
function quoted({ title, text }: Extract<Attached, { kind: "quote" }>): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${title}:\n\n${fence}\n${text}\n${fence}`;
}

/** Returns the lines of a selection as counted from 1, without a last line of which nothing is selected. */
export function selectedLines(
  start: { readonly line: number },
  end: { readonly line: number; readonly character: number },
): [number, number] {
  const last = end.character === 0 && end.line > start.line ? end.line - 1 : end.line;
  return [start.line + 1, last + 1];
}
