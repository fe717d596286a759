import type { Entry } from "@lares/sdk";
import cities from "./cities.json" with { type: "json" };
import type { Context } from "./context.ts";
import { Gazetteer } from "./gazetteer.ts";
import { momentsOf, type Moment } from "./moments.ts";
import { photoOf, type Photo } from "./photo.ts";
import { placesOf, type Places } from "./places.ts";
import { settingsOf } from "./settings.ts";

/** Entries per query: an answer stays well below the size limit of one message. */
const pageSize = 250;

const gazetteer = new Gazetteer(cities.towns);

/** Returns every picture that the agent may see. */
export async function everyPicture(ctx: Context): Promise<Entry[]> {
  const entries: Entry[] = [];
  let cursor: string | undefined;
  do {
    const page = await ctx.vdfs.query({
      kind: "file",
      media: "image",
      limit: pageSize,
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const entry of page.items) if (!isHidden(entry.path)) entries.push(entry);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return entries;
}

export async function everyPhoto(ctx: Context): Promise<Photo[]> {
  const now = Date.now();
  return (await everyPicture(ctx)).map((entry) => photoOf(entry, now));
}

export interface Library {
  readonly photos: readonly Photo[];
  readonly places: Places;
  readonly moments: readonly Moment[];
}

/** Returns the photos with their places and moments, computed from the current fields, so that they follow every move and deletion. */
export async function libraryOf(ctx: Context): Promise<Library> {
  const photos = await everyPhoto(ctx);
  const { place_km: km, place_photos: least } = settingsOf(ctx.config);
  const places = placesOf(photos, gazetteer, { km, least });
  return { photos, places, moments: momentsOf(photos, places) };
}

/** Pictures in hidden folders belong to some program. */
function isHidden(path: string): boolean {
  return path.split("/").some((part) => part.startsWith("."));
}
