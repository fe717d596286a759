import { distanceKm, type Position } from "./geo.ts";
import type { Photo } from "./photo.ts";
import type { Place, Places } from "./places.ts";
import { titleOf } from "./titles.ts";

/** A photo with a time. */
export type DatedPhoto = Photo & { readonly time: number };

export interface Moment {
  /** The time of its first photo and the beginning of that photo's id. */
  readonly id: string;
  readonly title: string;
  /** By the camera's clock. */
  readonly from: number;
  readonly to: number;
  /** Where most of its photos with a position were taken. */
  readonly place?: Place;
  /** In order of time. */
  readonly photos: readonly DatedPhoto[];
}

const hourMs = 60 * 60 * 1000;
export const dayMs = 24 * hourMs;
/** After a pause as long as this, something else begins. */
const pauseMs = 4 * hourMs;
/** So does it this far away. */
const apartKm = 30;
/** Days in one place follow each other if the pause between them is shorter. */
const nightMs = 36 * hourMs;
/** Home is the place with photos from the most days, if these are at least so many. Days at home are not a journey. */
const homeDays = 20;

/** Returns what the photos with a time are of, in order of time: what was taken at about the same time, in about the same place. */
export function momentsOf(photos: readonly Photo[], places: Places): Moment[] {
  const dated = photos
    .filter((photo): photo is DatedPhoto => photo.time !== undefined)
    .toSorted((one, other) => one.time - other.time || (one.path < other.path ? -1 : 1));
  const sittings: DatedPhoto[][] = [];
  let lastAt: Position | undefined;
  for (const photo of dated) {
    const current = sittings.at(-1);
    const before = current?.at(-1);
    const isFar = photo.at !== undefined && lastAt !== undefined && distanceKm(photo.at, lastAt) > apartKm;
    if (current === undefined || before === undefined || photo.time - before.time > pauseMs || isFar)
      sittings.push([photo]);
    else current.push(photo);
    // The last position is that of this sitting: photos without one were taken where those around them were.
    if (sittings.at(-1)?.length === 1) lastAt = photo.at;
    else lastAt = photo.at ?? lastAt;
  }
  const home = homeOf(dated, places);
  const merged: { photos: DatedPhoto[]; place: Place | undefined }[] = [];
  for (const sitting of sittings) {
    const place = placeOf(sitting, places);
    const before = merged.at(-1);
    if (before !== undefined && isContinued(before, { photos: sitting, place }, home))
      before.photos.push(...sitting);
    else merged.push({ photos: [...sitting], place });
  }
  return merged.map((one) => momentOf(one.photos, one.place));
}

interface Sitting {
  readonly photos: readonly DatedPhoto[];
  readonly place: Place | undefined;
}

/** True if a sitting belongs to the journey before it. */
function isContinued(before: Sitting, { photos, place }: Sitting, home: Place | undefined): boolean {
  if (place === undefined || place !== before.place) return false;
  const last = before.photos.at(-1)?.time ?? 0;
  const first = photos[0]?.time ?? 0;
  if (first - last > nightMs) return false;
  return place !== home || dayOf(first) === dayOf(last);
}

function momentOf(photos: readonly DatedPhoto[], place: Place | undefined): Moment {
  const from = photos[0]?.time ?? 0;
  const to = photos.at(-1)?.time ?? from;
  const id = `${new Date(from).toISOString().slice(0, 19)}-${photos[0]?.id.slice(-6) ?? ""}`;
  return {
    id,
    title: titleOf({ from, to, photos, placeName: place?.name }),
    from,
    to,
    ...(place === undefined ? {} : { place }),
    photos,
  };
}

function placeOf(photos: readonly DatedPhoto[], { of }: Places): Place | undefined {
  const counts = new Map<Place, number>();
  for (const { id } of photos) {
    const place = of.get(id);
    if (place !== undefined) counts.set(place, (counts.get(place) ?? 0) + 1);
  }
  return [...counts].toSorted(([, one], [, other]) => other - one)[0]?.[0];
}

function homeOf(dated: readonly DatedPhoto[], { of }: Places): Place | undefined {
  const days = new Map<Place, Set<number>>();
  for (const { id, time } of dated) {
    const place = of.get(id);
    if (place === undefined) continue;
    const seen = days.get(place) ?? new Set();
    days.set(place, seen.add(dayOf(time)));
  }
  const [most] = [...days].toSorted(([, one], [, other]) => other.size - one.size);
  return most !== undefined && most[1].size >= homeDays ? most[0] : undefined;
}

/** Days since 1970 by the camera's clock. */
export function dayOf(time: number): number {
  return Math.floor(time / dayMs);
}
