import { dayMs, dayOf, type DatedPhoto, type Moment } from "./moments.ts";

/** Photos of the same weekend in an earlier year. */
export interface WeekendMemory {
  readonly yearsAgo: number;
  /** "On this weekend 3 years ago: 14 photos in Rome" */
  readonly title: string;
  readonly photos: readonly DatedPhoto[];
  readonly placeName?: string;
}

/** Fewer photos are not worth telling. */
const leastPhotos = 3;
const mostYears = 60;

/** Returns the Sunday that it is, or was: nine o'clock on a Sunday is still Saturday in UTC where the sun rises first. */
export function sundayOf(now: number): number {
  const weekday = new Date(now).getUTCDay();
  return (dayOf(now) + (weekday === 6 ? 1 : -weekday)) * dayMs;
}

/**
 * Returns the memory for a Sunday, given in milliseconds since 1970: the earlier year with the most photos from the dates of
 * that weekend, or null if no year has enough.
 */
export function weekendMemory(moments: readonly Moment[], sunday: number): WeekendMemory | null {
  let best: WeekendMemory | null = null;
  for (let yearsAgo = 1; yearsAgo <= mostYears; yearsAgo++) {
    const last = dayOf(yearsBefore(sunday, yearsAgo));
    const days = [last - 1, last];
    const found = moments.flatMap((moment) => {
      const photos = moment.photos.filter(({ time }) => days.includes(dayOf(time)));
      return photos.length === 0 ? [] : [{ moment, photos }];
    });
    const photos = found.flatMap((one) => one.photos);
    if (photos.length < leastPhotos || photos.length <= (best?.photos.length ?? 0)) continue;
    const [most] = found.toSorted((one, other) => other.photos.length - one.photos.length);
    const placeName = most?.moment.place?.name;
    best = {
      yearsAgo,
      title: `On this weekend ${yearsAgo === 1 ? "a year" : `${yearsAgo} years`} ago: ${photos.length} photos${where(placeName)}`,
      photos,
      ...(placeName === undefined ? {} : { placeName }),
    };
  }
  return best;
}

function where(placeName: string | undefined): string {
  if (placeName === undefined) return "";
  return placeName.startsWith("near ") ? ` ${placeName}` : ` in ${placeName}`;
}

/** The same date of an earlier year; 29 February becomes 28 February in other years. */
function yearsBefore(now: number, years: number): number {
  const date = new Date(now);
  const month = date.getUTCMonth();
  date.setUTCFullYear(date.getUTCFullYear() - years);
  return date.getUTCMonth() === month ? date.getTime() : date.getTime() - dayMs;
}
