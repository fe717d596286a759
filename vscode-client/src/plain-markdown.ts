import { MarkdownString } from "vscode";

/**
 * Paragraphs of text that stays text: nothing in it is read as Markdown, HTML, an icon or a link. The editor's own way
 * makes each space one that no line breaks at, so that words would be torn apart; here only a line's first one is, which
 * keeps `1. ` from making a list.
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
