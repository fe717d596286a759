import type { ActionContext, ActionPlan, EffectInput } from "@lares/sdk";
import type { Memory } from "./context.ts";
import { libraryOf, type Library } from "./library.ts";
import type { Photo } from "./photo.ts";
import { settingsOf } from "./settings.ts";
import { pageOf, pathOf } from "./album-page.ts";

interface Wanted {
  readonly name: string;
  readonly photos?: readonly string[];
  readonly moment?: string;
  readonly place?: string;
}

/** Larger albums would make an action that nobody can read. */
const maxPhotos = 1000;

/** Returns the page of an album and the tags of its photos. */
export async function createAlbum(wanted: Wanted, ctx: ActionContext<Memory>): Promise<ActionPlan> {
  const photos = chosen(wanted, await libraryOf(ctx));
  if (photos.length > maxPhotos)
    throw new Error(`An album has at most ${maxPhotos} photos; these are ${photos.length}. Choose fewer.`);
  const { albums } = settingsOf(ctx.config);
  const path = pathOf(wanted.name, albums);
  if ((await ctx.vdfs.get(path)) !== null)
    throw new Error(`There is an album "${wanted.name}" already (${path}). Choose another name.`);
  return {
    ...albumOf(wanted.name, photos, albums),
    reason: `${photos.length === 1 ? "One photo" : `${photos.length} photos`}. The page is ${path}; no photo is moved.`,
  };
}

/** The effects of an album. */
export function albumOf(
  name: string,
  photos: readonly Photo[],
  folder: string,
): { readonly effects: readonly (EffectInput & { readonly path: string })[] } {
  const path = pathOf(name, folder);
  const content = pageOf(
    name,
    photos.map((photo) => photo.path),
    path,
  );
  return {
    effects: [
      { kind: "file.write", path, content, expected: null },
      ...photos.map((photo) => ({ kind: "tag.add" as const, path: photo.path, tag: `album:${name.trim()}` })),
    ],
  };
}

function chosen({ photos, moment, place }: Wanted, library: Library): readonly Photo[] {
  const ways = [photos, moment, place].filter((way) => way !== undefined);
  if (ways.length !== 1) throw new Error("Say which photos: give one of photos, moment or place.");
  if (moment !== undefined) {
    const found = library.moments.find(({ id }) => id === moment);
    if (found === undefined)
      throw new Error(`There is no moment "${moment}". The tool moments has their ids.`);
    return found.photos;
  }
  if (place !== undefined) {
    const name = place.toLowerCase();
    const found = library.places.all.find((one) => one.name.toLowerCase() === name);
    if (found === undefined)
      throw new Error(`There is no place "${place}". The tool places has their names.`);
    return found.photos;
  }
  const byPath = new Map(library.photos.map((photo) => [photo.path, photo]));
  return [...new Set(photos)].map((path) => {
    const photo = byPath.get(path);
    if (photo === undefined) throw new Error(`There is no photo "${path}".`);
    return photo;
  });
}
