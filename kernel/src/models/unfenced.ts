/**
 * Returns what a model wrote without the code block that models like to put around JSON, trimmed. The block's language is
 * none or one of these. The text is untrusted and may be megabytes of line breaks, so it is read without patterns, which
 * would try each of them as the block's beginning and end.
 */
export function unfenced(text: string, languages: readonly string[]): string {
  const trimmed = text.trim();
  const lineEnd = trimmed.indexOf("\n");
  if (lineEnd === -1 || !trimmed.startsWith(fence) || !trimmed.endsWith(fence)) return trimmed;
  const language = trimmed.slice(fence.length, lineEnd).trim();
  if (language !== "" && !languages.includes(language)) return trimmed;
  return trimmed.slice(lineEnd + 1, -fence.length).trim();
}

const fence = "```";
