import { Clusters } from "./clusters.ts";
import type { Gazetteer } from "./gazetteer.ts";
import { degreeKm, distanceKm, middleOf, type Position } from "./geo.ts";
import type { Photo } from "./photo.ts";

export interface Place {
  /** "Rome", "near Tivoli", or the position if no town is near. */
  readonly name: string;
  /** Two letters, where a town is near. */
  readonly country?: string;
  readonly at: Position;
  readonly photos: readonly Photo[];
}

/** Where photos were taken, and which place each belongs to. */
export interface Places {
  readonly all: readonly Place[];
  readonly of: ReadonlyMap<string, Place>;
}

/** Positions within this share of the distance are clustered as one, so that a place has a bounded number of them. */
const share = 1 / 8;
/** Clusters of one town, such as two quarters, are one place if they are within this distance. */
const townKm = 40;

/**
 * Returns the places of photos: clusters in which each has neighbours within `km`, of at least `least` photos, named by the
 * nearest town. The place with the most photos comes first.
 */
export function placesOf(
  photos: readonly Photo[],
  gazetteer: Gazetteer,
  { km, least }: { readonly km: number; readonly least: number },
): Places {
  const sorted = spotsOf(photos, km);
  const clusters = new Clusters(km, least);
  for (const spot of sorted) clusters.add(spot.at, spot.photos.length);
  const found: Place[] = [];
  for (const group of clusters.groups()) {
    const members = group.flatMap((index) => sorted[index]?.photos ?? []);
    const at = middleOf(positionsOf(members));
    const named = nameOf(at, gazetteer);
    const same = found.findIndex(
      (place) =>
        place.name === named.name && place.country === named.country && distanceKm(place.at, at) <= townKm,
    );
    const merged = [...(found[same]?.photos ?? []), ...members];
    const place = { ...named, at: middleOf(positionsOf(merged)), photos: merged };
    if (same === -1) found.push(place);
    else found[same] = place;
  }
  const all = found.toSorted((one, other) => other.photos.length - one.photos.length);
  return { all, of: new Map(all.flatMap((place) => place.photos.map(({ id }) => [id, place] as const))) };
}

interface Spot {
  readonly at: Position;
  readonly photos: readonly Photo[];
}

/** Returns the photos with a position by the squares of a grid, in an order that does not depend on the photos' order. */
export function spotsOf(photos: readonly Photo[], km: number): Spot[] {
  const height = (km * share) / degreeKm;
  const spots = new Map<string, { readonly at: Position; readonly photos: Photo[] }>();
  for (const photo of photos) {
    if (photo.at === undefined) continue;
    const latitude = Math.round(photo.at[0] / height) * height;
    // Degrees of longitude are shorter towards the poles.
    const width = height / Math.max(0.02, Math.cos((latitude * Math.PI) / 180));
    const at: Position = [Math.max(-90, Math.min(90, latitude)), Math.round(photo.at[1] / width) * width];
    const key = at.join(" ");
    const spot = spots.get(key);
    if (spot === undefined) spots.set(key, { at, photos: [photo] });
    else spot.photos.push(photo);
  }
  return [...spots.values()].toSorted((one, other) => one.at[0] - other.at[0] || one.at[1] - other.at[1]);
}

/** Returns the name of a position. */
export function nameOf(
  at: Position,
  gazetteer: Gazetteer,
): { readonly name: string; readonly country?: string } {
  const town = gazetteer.townAt(at);
  if (town === null) return { name: `${degrees(at[0], "N", "S")} ${degrees(at[1], "E", "W")}` };
  return { name: town.isNear ? `near ${town.name}` : town.name, country: town.country };
}

function degrees(value: number, positive: string, negative: string): string {
  return `${Math.abs(value).toFixed(2)}° ${value < 0 ? negative : positive}`;
}

/** Returns the photos within `km` of a position, the nearest first. */
export function photosAround(
  photos: readonly Photo[],
  position: Position,
  km: number,
): { readonly photo: Photo; readonly km: number }[] {
  return photos
    .flatMap((photo) => (photo.at === undefined ? [] : [{ photo, km: distanceKm(photo.at, position) }]))
    .filter((one) => one.km <= km)
    .toSorted((one, other) => one.km - other.km || (one.photo.path < other.photo.path ? -1 : 1));
}

function positionsOf(photos: readonly Photo[]): Position[] {
  return photos.flatMap(({ at }) => (at === undefined ? [] : [at]));
}
