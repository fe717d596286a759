/** Turns "notes/grocery-list.md" into "Grocery list". */
export function headingFor(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1).replace(/\.[^.]*$/, "");
  const words = name.replace(/[-_\s]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Returns true if a note lacks a heading: it has words, and does not begin with a heading, front matter or HTML. */
export function wantsHeading(text: string): boolean {
  const [first = "", second = ""] = text
    .replace(/^\ufeff/, "")
    .trimStart()
    .split(/\r?\n/, 2);
  if (first === "" || /^(#|---|\+\+\+|<)/.test(first)) return false;
  return !/^(=+|-+)\s*$/.test(second);
}

/** Returns the note with a heading, with its own kind of line ends. */
export function withHeading(text: string, heading: string): string {
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  return `# ${heading}${end}${end}${text}`;
}
