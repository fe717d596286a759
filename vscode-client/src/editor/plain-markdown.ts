import { MarkdownString } from "vscode";

/**
 * Returns paragraphs in which nothing is interpreted as Markdown, HTML, an icon or a link. The editor's own escaping
 * makes each space non-breaking, which breaks lines inside words; here only the first space of a line is, which keeps
 * `1. ` from starting a list.
 */
export function plainMarkdown(...paragraphs: readonly string[]): MarkdownString {
  const markdown = new MarkdownString("", false);
  markdown.isTrusted = false;
  markdown.supportHtml = false;
  return markdown.appendMarkdown(paragraphs.map(escaped).join("\n\n"));
}

function escaped(text: string): string {
  return new MarkdownString().appendText(text).value.split("\n").map(withPlainSpaces).join("\n");
}

/** Returns a line with its single blanks as spaces, except the first: it may be all that keeps the line from being code. */
function withPlainSpaces(line: string): string {
  const first = line.indexOf("&nbsp;");
  return line.replace(/(?<!&nbsp;)&nbsp;(?!&nbsp;)/g, (blank, at: number) => (at === first ? blank : " "));
}
