import type { Moment } from "./moments.ts";
import type { Place } from "./places.ts";

/** Paths that an answer names of each place or moment. */
const namedPaths = 20;

/** Formats a time of the camera's clock: "2024-05-01T13:45:10". */
const clock = (time: number): string => new Date(time).toISOString().slice(0, 19);

export interface PlaceAnswer {
  readonly name: string;
  readonly country?: string;
  readonly lat: number;
  readonly lon: number;
  readonly photos: number;
  /** Some of them. */
  readonly paths: readonly string[];
}

export function answerOfPlace({ name, country, at, photos }: Place): PlaceAnswer {
  return {
    name,
    ...(country === undefined ? {} : { country }),
    lat: at[0],
    lon: at[1],
    photos: photos.length,
    paths: photos.slice(0, namedPaths).map(({ path }) => path),
  };
}

export interface MomentAnswer {
  readonly id: string;
  readonly title: string;
  readonly from: string;
  readonly to: string;
  readonly place?: string;
  readonly photos: number;
  readonly paths: readonly string[];
}

export function answerOfMoment({ id, title, from, to, place, photos }: Moment): MomentAnswer {
  return {
    id,
    title,
    from: clock(from),
    to: clock(to),
    ...(place === undefined ? {} : { place: place.name }),
    photos: photos.length,
    paths: photos.slice(0, namedPaths).map(({ path }) => path),
  };
}
