import type { MarkupContent } from "vscode-languageserver";
import { plainLine } from "../../base/plain-text.ts";
import type { Block, Explanation, Span } from "../../base/vocabulary/editing.ts";

/** Maximum length of one text of an explanation; some of it may be untrusted. */
const maxSpanCharacters = 4096;

/**
 * Returns an explanation in a form that the client can show. All texts are escaped, so only the kernel's own
 * paragraphs, lists and code count as Markdown.
 */
export function markup(explanation: Explanation, isMarkdown: boolean): MarkupContent {
  const value = explanation
    .map((block, index) => {
      const line = isMarkdown ? markdownLine(block) : plainBlock(block);
      const follows = block.kind === "item" && explanation[index - 1]?.kind === "item";
      return index === 0 ? line : `${follows ? "\n" : "\n\n"}${line}`;
    })
    .join("");
  return { kind: isMarkdown ? "markdown" : "plaintext", value };
}

function plainBlock({ kind, spans }: Block): string {
  const text = spans.map((span) => plain(typeof span === "string" ? span : span.code)).join("");
  return kind === "item" ? `- ${text}` : text;
}

function markdownLine({ kind, spans }: Block): string {
  // The first characters of a line could begin a heading, a list or a quotation.
  const text = spans
    .map(markdownSpan)
    .join("")
    .replace(/^(\s*\d*)([#+\-=.)])/, String.raw`$1\$2`);
  return kind === "item" ? `- ${text}` : text;
}

function markdownSpan(span: Span): string {
  if (typeof span !== "string") return codeSpan(plain(span.code));
  return (
    plain(span)
      .replace(/[\\`*_{}[\]<>&|~!$]/g, String.raw`\$&`)
      // Clients turn plain addresses into links.
      .replaceAll("://", String.raw`\://`)
      .replace(/\bwww\./gi, (start) => `${start.slice(0, -1)}\\.`)
      .replaceAll("@", String.raw`\@`)
  );
}

function codeSpan(text: string): string {
  const longest = Math.max(0, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  const space = longest > 0 || text.startsWith(" ") ? " " : "";
  return text === "" ? "" : `${fence}${space}${text}${space}${fence}`;
}

function plain(text: string): string {
  const line = plainLine(text.slice(0, maxSpanCharacters));
  return text.length > maxSpanCharacters ? `${line}…` : line;
}
