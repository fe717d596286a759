/** The number of lines of a card that are shown at first, and each time more is requested. */
const firstLines = 80;
export const pageLines = 1000;

/** Returns the next page when `shown` lines are already visible. */
export function nextPage(lines: number, shown: number): { readonly end: number; readonly left: number } {
  const end = Math.min(lines, shown + (shown === 0 ? firstLines : pageLines));
  return { end, left: lines - end };
}

/** Returns "1,204 more lines". */
export function moreLines(count: number): string {
  return `${count.toLocaleString("en")} more ${count === 1 ? "line" : "lines"}`;
}
