import type { EffectInput, Entry } from "@lares/sdk";
import { batchSize, write } from "./batches.ts";
import type { Job } from "./context.ts";
import { clusterBounds, clustering, nobody, type ComparedFace } from "./face-clusters.ts";
import type { FaceReading } from "./faces.ts";
import { everyPicture } from "./library.ts";
import { folded } from "./people.ts";
import { namespace, photoOf, type StoredFaces } from "./photo.ts";
import { facesIn, facesSidecar, vectorOf } from "./stored-faces.ts";

/** Sidecars that are read at the same time. */
const readAtOnce = 10;
/** Photos whose faces are read between two checkpoints. */
const photosOfStep = 200;

const title = (count: number): string => `Note who is in ${count === 1 ? "a photo" : `${count} photos`}`;

interface Shown {
  readonly entry: Entry;
  readonly people: readonly string[];
  faces: readonly ComparedFace[];
}

/**
 * Assigns the faces of all photos to people, unless all are assigned already, and writes the photos' fields where that changed
 * something. Returns how many photos changed.
 */
export async function countPeople(ctx: Job, { settings, key }: FaceReading): Promise<number> {
  const now = Date.now();
  const shown = (await everyPicture(ctx)).flatMap((entry): Shown[] => {
    const { faces } = photoOf(entry, now);
    return faces?.model === key && faces.people.length > 0
      ? [{ entry, people: faces.people, faces: [] }]
      : [];
  });
  if (shown.every(({ people }) => !people.includes(""))) return 0;
  let count = 0;
  for (
    let at = 0;
    at < shown.length && count < clusterBounds.faces && !ctx.signal.aborted;
    at += readAtOnce
  ) {
    const some = shown.slice(at, at + readAtOnce);
    await Promise.all(
      some.map(async (one) => {
        one.faces = await facesOf(one, key, ctx);
        count += one.faces.length;
      }),
    );
    if (at % photosOfStep === 0) await ctx.save({ read: at });
  }
  if (count > clusterBounds.faces)
    ctx.trace.warn(`There are more than ${clusterBounds.faces} faces. The others are not compared.`);
  const { names = {} } = await ctx.memory.plan.read();
  const run = clustering(
    shown.flatMap(({ faces }) => faces),
    {
      samePerson: settings.samePerson,
      names: new Map(Object.entries(names).map(([id, name]) => [id, folded(name)])),
    },
  );
  let step = run.next();
  for (; step.done !== true && !ctx.signal.aborted; step = run.next()) await ctx.save({ comparing: count });
  return step.done === true ? await note(shown, step.value, ctx) : 0;
}

async function facesOf({ entry, people }: Shown, key: string, ctx: Job): Promise<ComparedFace[]> {
  const sidecar = facesIn(await ctx.vdfs.sidecar.read<unknown>(entry.path, facesSidecar));
  const isOfField = sidecar?.model === key && sidecar.faces.length === people.length;
  return people.map((person, at): ComparedFace => {
    const vector = isOfField ? vectorOf(sidecar.faces[at]?.vector) : undefined;
    return {
      key: `${entry.id} ${String(at).padStart(2, "0")}`,
      ...(vector === undefined ? {} : { vector }),
      ...(person === "" || person === nobody ? {} : { person }),
    };
  });
}

async function note(shown: readonly Shown[], counted: readonly string[], ctx: Job): Promise<number> {
  let from = 0;
  const effects: EffectInput[] = [];
  for (const { entry, people, faces } of shown) {
    // If there are too many faces, those of this photo were not read: they are not looked at again each time.
    const now =
      faces.length === 0
        ? people.map((person) => (person === "" ? nobody : person))
        : counted.slice(from, from + faces.length);
    from += faces.length;
    if (now.join() === people.join()) continue;
    const before = entry.fields[namespace]?.["faces"] as StoredFaces;
    const value: StoredFaces = { ...before, people: now };
    effects.push({ kind: "field.set", path: entry.path, namespace, key: "faces", value });
  }
  for (let at = 0; at < effects.length && !ctx.signal.aborted; at += batchSize) {
    await write(effects.slice(at, at + batchSize), { title }, ctx);
    await ctx.save({ noted: at });
  }
  return effects.length;
}
