/** "notes/grocery-list.md" → "Grocery list" */
export function headingFor(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1).replace(/\.[^.]*$/, "");
  const words = name.replace(/[-_\s]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Whether a note wants a heading: it has words, and begins neither with one, nor with front matter, nor with HTML. */
export function wantsHeading(text: string): boolean {
  const [first = "", second = ""] = text
    .replace(/^\ufeff/, "")
    .trimStart()
    .split(/\r?\n/, 2);
  if (first === "" || /^(#|---|\+\+\+|<)/.test(first)) return false;
  return !/^(=+|-+)\s*$/.test(second);
}

/** The note under its heading, with the line ends it has. */
export function withHeading(text: string, heading: string): string {
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  return `# ${heading}${end}${end}${text}`;
}
