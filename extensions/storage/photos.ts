import type { Context } from "./context.ts";
import type { Group } from "./groups.ts";

/** The tool that says which albums photos are in, with its agent. */
export const photosTool = "dev.lares.photos/about_photos";
/** Paths of one call, as the tool's parameters allow. */
const maxPaths = 200;
/** Calls while one set of groups is proposed. */
const maxCalls = 50;
/** An agent that does not answer must not hold up proposals for long. */
export const patienceMs = 20_000;
const picture = /\.(jpe?g|png|webp|heic|heif|avif|tiff?)$/i;
const maxNameLength = 60;

/** The photos agent's answer about the photos of one group. */
interface Standing {
  /** The album of each photo that is in one. */
  readonly albums: ReadonlyMap<string, string>;
  /** Why nothing is known, as a sentence for the proposal; null if the photos agent answered or need not be asked. */
  readonly unknown: string | null;
}

const nothing: Standing = { albums: new Map(), unknown: null };

/** Asks the photos agent, for several groups with one call, and not again after it failed. */
export class Standings {
  readonly #ctx: Context;
  readonly #albums = new Map<string, string>();
  readonly #asked = new Set<string>();
  #unknown: string | null = null;
  #calls = 0;

  constructor(ctx: Context) {
    this.#ctx = ctx;
  }

  /** `ahead` are the groups that will be asked about next; null if too many calls were made already. */
  async of(group: Group, ahead: () => readonly Group[]): Promise<Standing | null> {
    const own = picturesOf(group);
    if (own.length === 0) return nothing;
    if (this.#unknown === null && own.some((path) => !this.#asked.has(path))) {
      if (this.#calls >= maxCalls) return null;
      this.#calls += 1;
      await this.#ask(together(own, ahead(), this.#asked));
    }
    const isKnown = own.every((path) => this.#asked.has(path));
    return { albums: this.#albums, unknown: isKnown ? null : this.#unknown };
  }

  async #ask(paths: readonly string[]): Promise<void> {
    const { tools, trace, signal } = this.#ctx;
    try {
      const answer: unknown = await tools.call(
        photosTool,
        { paths },
        { signal: AbortSignal.timeout(patienceMs) },
      );
      const known = albumsIn(answer, new Set(paths));
      for (const [path, album] of known) this.#albums.set(path, album);
      for (const path of paths) this.#asked.add(path);
    } catch (error) {
      signal.throwIfAborted();
      const { sentence, isUsual } = whyUnknown(error);
      this.#unknown = sentence;
      if (isUsual) trace.info(sentence);
      else trace.warn(sentence, { error: error instanceof Error ? error.message : String(error) });
    }
  }
}

/** Returns the paths of these pictures and, as far as one call has room, those of whole groups that come next. */
function together(own: readonly string[], ahead: readonly Group[], asked: ReadonlySet<string>): string[] {
  const paths = new Set(own.filter((path) => !asked.has(path)));
  for (const group of ahead) {
    const next = picturesOf(group).filter((path) => !asked.has(path));
    if (paths.size + next.length > maxPaths) break;
    for (const path of next) paths.add(path);
  }
  return [...paths].slice(0, maxPaths);
}

function picturesOf({ keep, extra }: Group): string[] {
  return [keep, ...extra].filter(isPicture);
}

/** True for the path of a file that the photos agent may know. */
export function isPicture(path: string): boolean {
  return picture.test(path);
}

/** Another agent's answer may be anything: only what was asked is taken from it. Throws if it has another shape. */
function albumsIn(answer: unknown, asked: ReadonlySet<string>): Map<string, string> {
  if (!Array.isArray(answer)) throw new Error("The answer is not a list.");
  const albums = new Map<string, string>();
  for (const one of answer.slice(0, maxPaths) as readonly unknown[]) {
    if (typeof one !== "object" || one === null)
      throw new Error("The answer lists something other than photos.");
    const { path, albums: names } = one as { readonly path?: unknown; readonly albums?: unknown };
    if (typeof path !== "string" || !asked.has(path) || !Array.isArray(names)) continue;
    const [name] = names as readonly unknown[];
    if (typeof name === "string") albums.set(path, shown(name));
  }
  return albums;
}

/** Returns a name as one line in a sentence: without characters that hide or turn round what follows them. */
export function shown(name: string): string {
  const plain = name
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}"]+/gu, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
  return plain.length > maxNameLength ? `${plain.slice(0, maxNameLength - 1)}…` : plain;
}

/** Returns why the photos agent said nothing, and whether a person arranged it so. */
export function whyUnknown(error: unknown): { readonly sentence: string; readonly isUsual: boolean } {
  const because = (reason: string): string => `Whether photos are in an album was not asked: ${reason}.`;
  switch (error instanceof Error && "code" in error ? error.code : undefined) {
    case "NotFound":
      return { sentence: because("the agent Photos (dev.lares.photos) is not installed"), isUsual: true };
    case "PermissionDenied":
      return { sentence: because(`the tool ${photosTool} is not granted`), isUsual: true };
    default:
      return {
        sentence: "Whether photos are in an album is not known: the agent Photos failed.",
        isUsual: false,
      };
  }
}

/**
 * Applies the answer about the photos: those in an album stay, because its page shows them by their path. If the one that
 * would be kept is in no album and another is, that one is kept instead. Without extra copies nothing is left to propose.
 */
export function heeding(group: Group, { albums, unknown }: Standing): Group {
  const inAlbums = group.extra.filter((path) => albums.has(path));
  const words = unknown === null || picturesOf(group).length === 0 ? {} : { note: unknown };
  const album = albums.get(group.keep);
  if (inAlbums.length === 0)
    return album === undefined
      ? { ...group, ...words }
      : { ...group, because: `${inAlbum(album)}, and ${group.because}` };
  const [first = group.keep] = inAlbums;
  const stay = new Set(inAlbums);
  const others = group.extra.filter((path) => !stay.has(path));
  const also = (count: number): object =>
    count === 0
      ? {}
      : { note: `${count === 1 ? "Another copy stays" : `${count} other copies stay`} in an album, too.` };
  if (album !== undefined)
    return {
      ...group,
      because: `${inAlbum(album)}, and ${group.because}`,
      extra: others,
      ...also(stay.size),
    };
  return {
    ...group,
    keep: first,
    because: inAlbum(albums.get(first) ?? ""),
    extra: [...others, group.keep].toSorted(),
    ...also(stay.size - 1),
  };
}

function inAlbum(name: string): string {
  return name === "" ? "it is in an album" : `it is in the album "${name}"`;
}
