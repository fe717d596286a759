import type { Photo } from "./photo.ts";

interface Described {
  /** By the camera's clock. */
  readonly from: number;
  readonly to: number;
  readonly photos: readonly Pick<Photo, "path" | "tags" | "keywords">[];
  readonly placeName?: string | undefined;
}

/** Words in folders and tags that say what photos are of, and what that is called: for a day, and for several. */
const occasions: readonly { readonly words: RegExp; readonly day: string; readonly days: string }[] = [
  {
    words: /\b(beach|beaches|strand|plage|playa|spiaggia|seaside)\b/,
    day: "Beach day",
    days: "Days at the beach",
  },
  { words: /\b(wedding|hochzeit|mariage|boda)\b/, day: "Wedding", days: "Wedding" },
  { words: /\b(birthday|geburtstag|anniversaire)\b/, day: "Birthday", days: "Birthday" },
  { words: /\b(hike|hiking|trek|wanderung)\b/, day: "Hike", days: "Days of hiking" },
  { words: /\b(ski|skiing)\b/, day: "Ski day", days: "Days of skiing" },
  { words: /\b(concert|festival)\b/, day: "Concert", days: "Festival" },
  { words: /\b(christmas|weihnachten|noel)\b/, day: "Christmas", days: "Christmas" },
];
const numbers = ["", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten"];
const months = "January February March April May June July August September October November December".split(
  " ",
);
const dayMs = 24 * 60 * 60 * 1000;
/** A day begins at five: what is earlier belongs to the night before. */
const nightMs = 5 * 60 * 60 * 1000;
/** Photos over a longer time are of a day, not of its morning. */
const partMs = 6 * 60 * 60 * 1000;

/** Returns the title of a moment: "Afternoon in Rome", "Three days in Lisbon", "Beach day". */
export function titleOf({ from, to, photos, placeName }: Described): string {
  const days = Math.floor((to - nightMs) / dayMs) - Math.floor((from - nightMs) / dayMs) + 1;
  const where =
    placeName === undefined ? "" : placeName.startsWith("near ") ? ` ${placeName}` : ` in ${placeName}`;
  const occasion = occasionOf(photos);
  if (occasion !== undefined) return `${days > 1 ? occasion.days : occasion.day}${where}`;
  const when = where === "" ? ` of ${dateOf(from)}` : where;
  if (days === 2 && new Date(from - nightMs).getUTCDay() === 6) return `Weekend${when}`;
  if (days > 1) return `${numbers[days] ?? days} days${where === "" ? ` from ${dateOf(from)}` : where}`;
  return `${to - from > partMs ? "Day" : partOf(from + (to - from) / 2)}${when}`;
}

function partOf(time: number): string {
  const hour = new Date(time).getUTCHours();
  if (hour < 5 || hour >= 22) return "Night";
  if (hour < 12) return "Morning";
  return hour < 18 ? "Afternoon" : "Evening";
}

/** Formats a time of the camera's clock: "3 May 2024". */
export function dateOf(time: number): string {
  const date = new Date(time);
  return `${date.getUTCDate()} ${months[date.getUTCMonth()] ?? ""} ${date.getUTCFullYear()}`;
}

/** Returns the occasion that the folders and tags of most photos name. */
function occasionOf(photos: Described["photos"]): (typeof occasions)[number] | undefined {
  const words = photos.map(({ path, tags, keywords = [] }) =>
    [path.slice(0, path.lastIndexOf("/") + 1), ...tags, ...keywords]
      .join(" ")
      .toLowerCase()
      .replaceAll(/[_\d]+/g, " "),
  );
  return occasions.find((one) => words.filter((text) => one.words.test(text)).length * 2 > photos.length);
}
