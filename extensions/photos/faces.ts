import { LaresError, type Entry, type Tensor, type TensorInput, type Thumbnail } from "@lares/sdk";
import { codeOf, isUndecodable, type Stage } from "./batches.ts";
import type { Job } from "./context.ts";
import { detectionsIn, embeddingIn, type DetectedFace } from "./detections.ts";
import { regionInput, wholeInput, type Region } from "./face-input.ts";
import { faceSettingsOf, readingKey, type FaceSettings, type InputForm } from "./face-settings.ts";
import type { Told } from "./told.ts";
import { namespace, stateOf, type StoredFaces } from "./photo.ts";
import {
  facesIn,
  facesSidecar,
  keptFaces,
  peopleAgain,
  type FacesSidecar,
  type KeptFace,
} from "./stored-faces.ts";

/** The names of the models that the person may bring; the extension has none of its own. */
const detectorName = "face_detection";
const embedderName = "face_embedding";

/** The longer side of the picture that faces are cut from. */
const cropPx = 1024;
/** After so many photos in a row that a model could not be run on, the others wait for another job. */
const maxProblems = 3;

/** How faces are looked for in photos. */
export interface FaceReading {
  readonly settings: FaceSettings;
  /** Says which models read a photo, and how. */
  readonly key: string;
  readonly hasEmbedder: boolean;
}

/** Returns how faces are looked for; null if the person named no model for it. */
export function faceReadingOf({ ai, config }: Pick<Job, "ai" | "config">): FaceReading | null {
  const [detector, embedder] = [detectorName, embedderName].map((name) =>
    ai.models.find((model) => model.name === name),
  );
  if (detector === undefined) return null;
  const settings = faceSettingsOf(config);
  return {
    settings,
    key: readingKey(settings, [detector.sha256, embedder?.sha256 ?? ""]),
    hasEmbedder: embedder !== undefined,
  };
}

/** A model does not say what it should, or cannot be run. */
class ModelProblem extends Error {
  /** True if it cannot be run at all now. */
  readonly isFinal: boolean;

  constructor(message: string, isFinal = false) {
    super(message);
    this.isFinal = isFinal;
  }
}

/** Looks for faces in photos, one after the other, and keeps them beside each. */
export function facesStage(reading: FaceReading, told: Told): Stage {
  const sidecars = new Map<string, FacesSidecar>();
  let problems = 0;
  return {
    field: "faces",
    title: (count) => `Note the faces in ${count === 1 ? "a photo" : `${count} photos`}`,
    begins: "looking for faces",
    atOnce: 1,
    needs: ({ faces }) => faces?.model !== reading.key,
    isStopped: () => problems >= maxProblems,
    async read(entry, ctx): Promise<StoredFaces | undefined> {
      // Each photo has the CPU time of one event.
      await ctx.save({ at: entry.id });
      let faces: KeptFace[] = [];
      try {
        faces = keptFaces(await facesOf(entry.path, reading, ctx));
        problems = 0;
      } catch (error) {
        if (error instanceof ModelProblem) {
          await told.once(ctx, reading.key, error.message);
          problems = error.isFinal ? maxProblems : problems + 1;
          if (error.isFinal) return undefined;
        } else if (!isUndecodable(error)) throw error;
      }
      const of = stateOf(entry);
      sidecars.set(entry.id, { of, model: reading.key, faces });
      return { of, model: reading.key, people: await peopleOf(entry, faces, ctx) };
    },
    also: ({ id, path, sidecars: kinds }) => {
      const data = sidecars.get(id);
      sidecars.delete(id);
      // Most photos have no faces, and need nothing beside them that says so.
      if (data === undefined || (data.faces.length === 0 && !kinds.includes(facesSidecar))) return [];
      return [{ kind: "sidecar.write", path, sidecar: facesSidecar, data }];
    },
  };
}

async function peopleOf({ path, fields }: Entry, faces: readonly KeptFace[], ctx: Job): Promise<string[]> {
  const people = (fields[namespace]?.["faces"] as Partial<StoredFaces> | undefined)?.people;
  if (faces.length === 0 || !Array.isArray(people) || people.length === 0) return faces.map(() => "");
  const before = facesIn(await ctx.vdfs.sidecar.read<unknown>(path, facesSidecar));
  return peopleAgain(faces, before?.faces ?? [], people);
}

async function facesOf(path: string, reading: FaceReading, ctx: Job): Promise<readonly DetectedFace[]> {
  const { settings, hasEmbedder } = reading;
  const picture = await fitting(path, settings, ctx);
  const outputs = await run(detectorName, wholeInput(picture, settings), ctx);
  const found = detectionsIn(outputs, settings, picture);
  if ("problem" in found) throw new ModelProblem(`${detectorName}: ${found.problem}`);
  if (!hasEmbedder || found.faces.every(({ vector }) => vector !== undefined)) return found.faces;
  const large = await ctx.vdfs.thumbnail(path, { maxPx: cropPx, format: "rgba8" });
  const faces: DetectedFace[] = [];
  for (const face of found.faces)
    faces.push(face.vector === undefined ? await withVector(face, large, settings, ctx) : face);
  return faces;
}

async function withVector(
  face: DetectedFace,
  picture: Thumbnail,
  { embedding }: FaceSettings,
  ctx: Job,
): Promise<DetectedFace> {
  const region = regionOf(face, picture, embedding.margin);
  const outputs = await run(embedderName, regionInput(picture, region, embedding), ctx);
  const found = embeddingIn(outputs, embedding.output);
  if ("problem" in found) throw new ModelProblem(`${embedderName}: ${found.problem}`);
  return found.vector === null ? face : { ...face, vector: found.vector };
}

/** Returns a square around the face, enlarged by the margin. */
function regionOf(
  { box: [left, top, width, height] }: DetectedFace,
  picture: Thumbnail,
  margin: number,
): Region {
  const [wide, high] = [width * picture.width, height * picture.height];
  const side = Math.max(wide, high) * (1 + 2 * margin);
  return {
    left: left * picture.width + (wide - side) / 2,
    top: top * picture.height + (high - side) / 2,
    width: side,
    height: side,
  };
}

/** Returns the picture as large as fits the model's input. */
async function fitting(path: string, { width, height }: InputForm, ctx: Job): Promise<Thumbnail> {
  const first = await ctx.vdfs.thumbnail(path, { maxPx: Math.max(width, height), format: "rgba8" });
  const scale = Math.min(width / first.width, height / first.height);
  if (scale >= 1) return first;
  const maxPx = Math.max(1, Math.floor(Math.max(first.width, first.height) * scale));
  return await ctx.vdfs.thumbnail(path, { maxPx, format: "rgba8" });
}

async function run(model: string, input: TensorInput, ctx: Job): Promise<readonly Tensor[]> {
  try {
    return (await ctx.ai.infer({ model, inputs: [input], signal: ctx.signal })).outputs;
  } catch (error) {
    const code = codeOf(error);
    if (!(error instanceof LaresError) || (code !== "ModelError" && code !== "PermissionDenied")) throw error;
    const kind = error.facts["class"];
    // Another model may be running: the job is tried again by itself.
    if (kind === "Overloaded") throw error;
    throw new ModelProblem(error.message, kind !== "InvalidRequest" && kind !== "Timeout");
  }
}
