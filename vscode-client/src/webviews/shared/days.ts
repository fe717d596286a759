/** UTC days: the kernel counts by them, so people in different zones see the same figures. */

const dayMs = 86_400_000;

function dayAt(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** Returns the midnight at which a day ends. */
export function endOf(day: string): string {
  return `${dayAt(Date.parse(`${day}T00:00:00Z`) + dayMs)}T00:00:00.000Z`;
}

/** Consecutive days and their total count. */
export interface Bin {
  /** Its first day. */
  readonly from: string;
  /** Its last day, inclusive. */
  readonly to: string;
  readonly count: number;
}

/**
 * Groups counts by day into at most `maxBins` consecutive bars without gaps: a bar stands for one day, or for as many
 * as necessary.
 */
export function binsOf(groups: Readonly<Record<string, number>>, maxBins: number): Bin[] {
  const counted = Object.entries(groups).flatMap(([name, count]) => {
    const atMs = Date.parse(`${name.slice(0, 10)}T00:00:00Z`);
    return Number.isNaN(atMs) ? [] : [{ day: Math.floor(atMs / dayMs), count }];
  });
  if (counted.length === 0) return [];
  const first = counted.reduce((least, { day }) => Math.min(least, day), Infinity);
  const last = counted.reduce((most, { day }) => Math.max(most, day), -Infinity);
  const width = Math.ceil((last - first + 1) / maxBins);
  const bins = Array.from({ length: Math.ceil((last - first + 1) / width) }, (_, index) => ({
    from: dayAt((first + index * width) * dayMs),
    to: dayAt((first + (index + 1) * width - 1) * dayMs),
    count: 0,
  }));
  for (const { day, count } of counted) {
    const bin = bins[Math.floor((day - first) / width)];
    if (bin !== undefined) bin.count += count;
  }
  return bins;
}
