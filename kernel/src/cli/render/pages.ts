/** Lines of a card that are shown at first, and each time that more is asked for. */
export const firstLines = 80;
export const pageLines = 1000;

/** What is shown next of so many lines, of which `shown` are already. */
export function nextPage(lines: number, shown: number): { readonly end: number; readonly left: number } {
  const end = Math.min(lines, shown + (shown === 0 ? firstLines : pageLines));
  return { end, left: lines - end };
}

/** "1,204 more lines" */
export function moreLines(count: number): string {
  return `${count.toLocaleString("en")} more ${count === 1 ? "line" : "lines"}`;
}
