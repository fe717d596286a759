import { LaresError, type EffectInput, type Entry } from "@lares/sdk";
import { readExif } from "@lares/sdk/exif";
import { embeddedXmp, readXmp } from "@lares/sdk/xmp";
import type { Context, Job } from "./context.ts";
import { everyPicture } from "./library.ts";
import { lookOf } from "./look.ts";
import { fitting } from "./names.ts";
import { namespace, photoOf, stateOf, type Photo, type StoredFacts, type StoredLook } from "./photo.ts";

/** Photos of one action and one checkpoint. */
export const batchSize = 50;
/** Photos that are read at the same time. */
const readAtOnce = 10;
/** EXIF is at the beginning of a file. */
const headBytes = 128 * 1024;

/** One pass over the photos, which computes one custom field of each. */
export interface Stage {
  readonly field: "facts" | "look" | "sidecar" | "faces";
  readonly title: (count: number) => string;
  /** The trace at its beginning. */
  readonly begins: string;
  /** Photos of one batch; default {@link batchSize}. */
  readonly batch?: number;
  /** Photos that are read at the same time; default {@link readAtOnce}. */
  readonly atOnce?: number;
  needs(photo: Photo): boolean;
  /** Returns the value of the field; undefined: it stays as it is. */
  read(entry: Entry, ctx: Job): Promise<unknown>;
  /** Further effects that belong to the value. */
  also?(entry: Entry): EffectInput[];
  /** True if the rest has to wait for another job. */
  isStopped?(): boolean;
}

export const factsStage: Stage = {
  field: "facts",
  title: (count) => `Note time and place of ${count === 1 ? "a photo" : `${count} photos`}`,
  begins: "reading photos",
  needs: ({ needsFacts }) => needsFacts,
  async read(entry, ctx): Promise<StoredFacts> {
    const head = await ctx.vdfs.read(entry.path, { length: headBytes });
    return { of: stateOf(entry), ...readExif(head), ...namesIn(head) };
  },
};

/** Bytes of the names in one photo as JSON: its fields have to fit a page with those of others. */
const maxNamesBytes = 500;

/** Returns the keywords and people in a photo's own XMP; nothing if it has none, as most. */
function namesIn(head: Uint8Array): Pick<StoredFacts, "people" | "keywords"> {
  const xmp = embeddedXmp(head);
  if (xmp === undefined) return {};
  const said = readXmp(xmp);
  if (said.people.length + said.keywords.length === 0) return {};
  return fitting(said.people, said.keywords, maxNamesBytes);
}

/** Pictures that are compared need not be large. */
const thumbnailPx = 64;

export const lookStage: Stage = {
  field: "look",
  title: (count) => `Note how ${count === 1 ? "a photo looks" : `${count} photos look`}`,
  begins: "looking at photos",
  needs: ({ needsLook }) => needsLook,
  async read(entry, ctx): Promise<StoredLook> {
    const of = stateOf(entry);
    try {
      const options = { maxPx: thumbnailPx, format: "rgba8" } as const;
      const { width, height, bytes } = await ctx.vdfs.thumbnail(entry.path, options);
      const look = lookOf(bytes, width, height);
      return { of, ...(look === null ? {} : { look }) };
    } catch (error) {
      if (isUndecodable(error)) return { of };
      throw error;
    }
  },
};

/** True for a picture that is damaged, too large, or of a format that the kernel does not decode: not tried again before it changes. */
export function isUndecodable(error: unknown): boolean {
  const isBusy = error instanceof LaresError && error.facts["limit"] === "thumbnails";
  return !isBusy && (codeOf(error) === "InvalidParams" || codeOf(error) === "LimitExceeded");
}

/**
 * Runs a stage for all photos that need it, in batches. Each batch is one action and then a checkpoint; what is done is known
 * by the photos' own fields, so that a job that starts again, or another one, continues with what is left.
 */
export async function inBatches(ctx: Job, stage: Stage): Promise<number> {
  const now = Date.now();
  const needing = (await everyPicture(ctx)).filter((entry) => stage.needs(photoOf(entry, now)));
  if (needing.length > 0) ctx.trace.info(stage.begins, { photos: needing.length });
  const size = stage.batch ?? batchSize;
  let done = 0;
  const atOnce = stage.atOnce ?? readAtOnce;
  const isOver = (): boolean => ctx.signal.aborted || stage.isStopped?.() === true;
  for (let at = 0; at < needing.length && !isOver(); at += size) {
    const batch = needing.slice(at, at + size);
    const effects: EffectInput[] = [];
    for (let from = 0; from < batch.length && !isOver(); from += atOnce) {
      const some = batch.slice(from, from + atOnce);
      effects.push(...(await Promise.all(some.map((entry) => effectFor(entry, stage, ctx)))).flat());
    }
    await write(effects, stage, ctx);
    done += effects.filter(({ kind }) => kind === "field.set").length;
    await ctx.progress(Math.min(1, (at + batch.length) / needing.length), `${at + batch.length} photos`);
    await ctx.save({ done: at + batch.length });
  }
  return done;
}

async function effectFor(entry: Entry, stage: Stage, ctx: Job): Promise<EffectInput[]> {
  try {
    const value = await stage.read(entry, ctx);
    if (value === undefined) return [];
    return [
      { kind: "field.set", path: entry.path, namespace, key: stage.field, value },
      ...(stage.also?.(entry) ?? []),
    ];
  } catch (error) {
    if (!isGone(error) && !isUnreadable(error)) throw error;
    // A change of it triggers another look. One photo that cannot be read must not stop the others.
    ctx.trace.debug(`${entry.path} could not be read`, { why: String(codeOf(error)) });
    return [];
  }
}

/** Writes what was read of some photos as one action. */
export async function write(
  effects: readonly EffectInput[],
  { title }: Pick<Stage, "title">,
  ctx: Context,
): Promise<void> {
  if (effects.length === 0) return;
  const reason = "So that places, moments, copies and people are found without reading every file again.";
  const photos = effects.filter(({ kind }) => kind === "field.set").length;
  try {
    await ctx.actions.propose(effects, { title: title(photos), reason });
  } catch (error) {
    if (!isGone(error)) throw error;
    // One of them was moved or deleted meanwhile; the others are noted one by one.
    const one = byPhoto(effects);
    if (one.length > 1) for (const some of one) await write(some, { title }, ctx);
  }
}

/** A photo's field stays together with its sidecar. */
function byPhoto(effects: readonly EffectInput[]): EffectInput[][] {
  const found = new Map<string, EffectInput[]>();
  for (const effect of effects) {
    const path = "path" in effect ? effect.path : "";
    found.set(path, [...(found.get(path) ?? []), effect]);
  }
  return [...found.values()];
}

function isUnreadable(error: unknown): boolean {
  return ["StorageError", "ScopeViolation", "PermissionDenied"].some((code) => codeOf(error) === code);
}

function isGone(error: unknown): boolean {
  return ["NotFound", "Stale", "Conflict"].some((code) => codeOf(error) === code);
}

export function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
