const units = ["B", "KiB", "MiB", "GiB", "TiB"] as const;

/** Formats `312 B`, `4.2 MiB`: the same in trees and on pages, in powers of 1024, as limits are. */
export function size(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  const scaled = bytes / 1024 ** power;
  return `${power === 0 || scaled >= 100 ? Math.round(scaled) : scaled.toFixed(1)} ${units[power] ?? "B"}`;
}
