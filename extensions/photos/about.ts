import type { Entry } from "@lares/sdk";
import type { Context } from "./context.ts";
import { photoOf, type Photo } from "./photo.ts";

/** Reasons to leave a photo where it is. */
export interface About {
  readonly path: string;
  /** The albums that it is in; their pages show it by its path. */
  readonly albums: readonly string[];
}

/** Entries that are read at the same time. */
const readAtOnce = 10;
/** Albums that an answer names for one photo. */
const namedAlbums = 20;

/** Returns the photos that should stay where they are, with the reasons. Other photos and other files are left out. */
export async function aboutPhotos(ctx: Context, paths: readonly string[]): Promise<About[]> {
  const now = Date.now();
  const wanted = [...new Set(paths)];
  const found: About[] = [];
  for (let from = 0; from < wanted.length; from += readAtOnce) {
    const entries = await Promise.all(
      wanted.slice(from, from + readAtOnce).map((path) => ctx.vdfs.get(path)),
    );
    for (const entry of entries) {
      const about = entry === null || !isPicture(entry) ? null : aboutOf(photoOf(entry, now));
      if (about !== null) found.push(about);
    }
  }
  return found;
}

/** Returns the reasons to leave a photo where it is, or null if there are none. */
function aboutOf(photo: Photo): About | null {
  const albums = albumsOf(photo.tags);
  return albums.length === 0 ? null : { path: photo.path, albums: albums.slice(0, namedAlbums) };
}

function albumsOf(tags: readonly string[]): string[] {
  return tags.flatMap((tag) => {
    const name = /^#?album:(.+)$/is.exec(tag)?.[1]?.trim();
    return name === undefined || name === "" ? [] : [name];
  });
}

function isPicture({ kind, media }: Entry): boolean {
  return kind === "file" && media === "image";
}
