/** Formats sizes for a summary. */
export function sizeChange(before: number | null, after: number): string {
  return before === null ? bytesText(after) : `${bytesText(before)} → ${bytesText(after)}`;
}

export function bytesText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const units = ["KiB", "MiB", "GiB", "TiB"];
  let value = bytes / 1024;
  let unit = 0;
  for (; value >= 1024 && unit < units.length - 1; unit++) value /= 1024;
  return `${value.toFixed(1)} ${units[unit]}`;
}
