/**
 * Returns the length of the longest piece that ends `text` and begins `next`. Takes time in proportion to the two,
 * also where they repeat themselves.
 */
export function overlapOf(text: string, next: string): number {
  if (next.startsWith(text)) return text.length;
  const most = Math.min(text.length, next.length);
  /** For each end of `next`'s beginning, how much of the beginning it repeats. */
  const repeats = new Uint32Array(most);
  let common = 0;
  for (let place = 1; place < most; place++) {
    while (common > 0 && next.charCodeAt(place) !== next.charCodeAt(common)) common = repeats[common - 1]!;
    if (next.charCodeAt(place) === next.charCodeAt(common)) common++;
    repeats[place] = common;
  }
  common = 0;
  for (let place = text.length - most; place < text.length; place++) {
    while (common > 0 && text.charCodeAt(place) !== next.charCodeAt(common)) common = repeats[common - 1]!;
    if (text.charCodeAt(place) === next.charCodeAt(common)) common++;
  }
  return common;
}
