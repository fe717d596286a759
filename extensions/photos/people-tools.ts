import type { Context } from "./context.ts";
import type { Box } from "./detections.ts";
import { everyPhoto } from "./library.ts";
import { idOf, isName, maxNameLength, nameOf, peopleIn, type FoundPerson } from "./people.ts";
import { tellPeople } from "./registry.ts";
import { facesIn, facesSidecar } from "./stored-faces.ts";

/** Photos that an answer shows of each person. */
const shownPhotos = 5;
/** Names that the agent keeps. */
const maxNames = 2000;

export interface PersonAnswer {
  readonly id: string;
  readonly name?: string;
  readonly photos: number;
  /** Some of them; the box says where the face is, as fractions of the upright photo: left, top, width, height. */
  readonly shown: readonly { readonly path: string; readonly box?: Box }[];
}

/** Returns the people in the photos, those in most photos first. */
export async function people(ctx: Context, limit: number): Promise<PersonAnswer[]> {
  const { names = {} } = await ctx.memory.plan.read();
  const found = peopleIn(await everyPhoto(ctx), names).slice(0, limit);
  const answers: PersonAnswer[] = [];
  for (const person of found) answers.push(await answerOf(person, ctx));
  return answers;
}

async function answerOf({ id, name, faces, photos }: FoundPerson, ctx: Context): Promise<PersonAnswer> {
  const shown = await Promise.all(
    photos.slice(0, shownPhotos).map(async ({ path, faces: inPhoto }) => {
      const at = inPhoto?.people.findIndex((one) => faces.includes(one)) ?? -1;
      const kept = at < 0 ? null : facesIn(await ctx.vdfs.sidecar.read<unknown>(path, facesSidecar));
      const box = kept?.faces[at]?.box;
      return { path, ...(box === undefined ? {} : { box }) };
    }),
  );
  return { id, ...(name === undefined ? {} : { name }), photos: photos.length, shown };
}

/** Gives a person whose face was found a name, or removes it if `name` is empty. Returns the person as it is now. */
export async function namePerson(
  ctx: Context & { readonly caller: string },
  person: string,
  name: string,
): Promise<PersonAnswer | null> {
  const given = name.trim();
  if (given !== "" && !isName(given))
    throw new Error(
      `"${given}" is not a name. Choose one with letters or digits, of at most ${maxNameLength} characters.`,
    );
  const { names = {} } = await ctx.memory.plan.read();
  const photos = await everyPhoto(ctx);
  const all = peopleIn(photos, names);
  const found =
    all.find(({ id, faces }) => id === person || faces.includes(person)) ??
    all.find(({ id }) => id === idOf(person));
  if (found === undefined) throw new Error(`There is no person "${person}". The tool people has their ids.`);
  if (found.faces.length === 0)
    throw new Error(
      `${found.name ?? person} is named by tags or XMP files alone. Change those, or name a person whose face was found.`,
    );
  // The id of a face names that person alone, even if others have the same name.
  const ids = found.faces.includes(person) ? [person] : found.faces;
  await ctx.memory.plan.update((plan) => {
    const kept = Object.entries(plan.names ?? {}).filter(([id]) => !ids.includes(id));
    if (given !== "" && kept.length + ids.length > maxNames)
      throw new Error(`There are ${maxNames} names already. Remove one first, with an empty name.`);
    return {
      ...plan,
      names: Object.fromEntries([...kept, ...(given === "" ? [] : ids.map((id) => [id, given]))]),
    };
  });
  // A calling agent may see fewer photos: then the next job tells, which sees all.
  if (ctx.caller === "user") await tellPeople(ctx);
  const { names: now = {} } = await ctx.memory.plan.read();
  const [first = ""] = ids;
  const again = peopleIn(photos, now).find(({ faces }) => faces.includes(first));
  return again === undefined || nameOf(first, now) === undefined ? null : await answerOf(again, ctx);
}
