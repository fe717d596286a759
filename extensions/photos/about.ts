import type { Entry } from "@lares/sdk";
import type { Context, Remembered } from "./context.ts";
import { photoOf, type Photo } from "./photo.ts";

/** Reasons to leave a photo where it is. */
interface About {
  readonly path: string;
  /** The albums that it is in; their pages show it by its path. */
  readonly albums: readonly string[];
  /** The title of last Sunday's memory; its notification names the photo by its path. */
  readonly memory?: string;
}

/** Entries that are read at the same time. */
const readAtOnce = 10;
/** Albums that an answer names for one photo. */
const namedAlbums = 20;

/** Returns the photos that should stay where they are, with the reasons. Other photos and other files are left out. */
export async function aboutPhotos(ctx: Context, paths: readonly string[]): Promise<About[]> {
  const now = Date.now();
  const wanted = [...new Set(paths)];
  const { weekend } = await ctx.memory.plan.read();
  const found: About[] = [];
  for (let from = 0; from < wanted.length; from += readAtOnce) {
    const entries = await Promise.all(
      wanted.slice(from, from + readAtOnce).map((path) => ctx.vdfs.get(path)),
    );
    for (const entry of entries) {
      const about = entry === null || !isPicture(entry) ? null : aboutOf(photoOf(entry, now), weekend);
      if (about !== null) found.push(about);
    }
  }
  return found;
}

/** Returns the reasons to leave a photo where it is, or null if there are none. */
function aboutOf(photo: Photo, weekend: Remembered["weekend"]): About | null {
  const albums = albumsOf(photo.tags).slice(0, namedAlbums);
  const isTold = weekend?.photos.includes(photo.id) === true;
  if (albums.length === 0 && !isTold) return null;
  return { path: photo.path, albums, ...(isTold ? { memory: weekend.title } : {}) };
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
