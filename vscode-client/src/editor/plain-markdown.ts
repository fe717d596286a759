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
  return new MarkdownString()
    .appendText(text)
    .value.replace(/(?<=&nbsp;[^\n]+)(?<!&nbsp;)&nbsp;(?!&nbsp;)/g, " ");
}
