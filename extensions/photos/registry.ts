import type { SharedValue } from "@lares/sdk";
import type { Context } from "./context.ts";
import { peopleIn, type FoundPerson } from "./people.ts";
import { everyPhoto } from "./library.ts";
import { codeOf } from "./batches.ts";

/** A value of the shared type `Person`: somebody with a name. */
export interface Person {
  /** The same for every spelling of the name. */
  readonly id: string;
  readonly name: string;
  /** The number of photos. */
  readonly photos: number;
}

/** People that are told to other extensions: those in most photos. */
const maxPeople = 2000;
/** Paths that an event names. */
const namedPaths = 20;
const pageSize = 500;

/**
 * Brings the shared values of the type `Person` up to the photos, and emits `PersonIdentified` for each person that is new or is in
 * more photos than before. Returns how many people there are.
 */
export async function tellPeople(ctx: Context): Promise<number> {
  const { names = {} } = await ctx.memory.plan.read();
  const named = peopleIn(await everyPhoto(ctx), names).filter(({ name }) => name !== undefined);
  const people = named.slice(0, maxPeople);
  const before = await everyPerson(ctx);
  for (const person of people) await tell(person, before.get(person.id), ctx);
  const known = new Set(people.map(({ id }) => id));
  for (const [id, { version }] of before)
    if (!known.has(id)) await unless("Conflict", () => ctx.types<Person>("Person").remove(id, version));
  return people.length;
}

async function tell(
  { id, name = "", photos }: FoundPerson,
  before: SharedValue<Person> | undefined,
  ctx: Context,
): Promise<void> {
  const value: Person = { id, name, photos: photos.length };
  if (before?.value.name === name && before.value.photos === photos.length) return;
  // Emitted first: after a crash in between it is emitted again.
  if (photos.length > (before?.value.photos ?? 0)) {
    const paths = photos.slice(0, namedPaths).map(({ path }) => path);
    await unless("PermissionDenied", () =>
      ctx.events.emit("PersonIdentified", { person: id, person_name: name, photos: paths }),
    );
  }
  await unless("Conflict", async () => {
    const values = ctx.types<Person>("Person");
    await (before === undefined ? values.create(value) : values.update(id, before.version, value));
  });
}

async function everyPerson(ctx: Context): Promise<Map<string, SharedValue<Person>>> {
  const found = new Map<string, SharedValue<Person>>();
  let cursor: string | undefined;
  do {
    const page = await ctx.types<Person>("Person").query({
      limit: pageSize,
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const item of page.items) found.set(item.value.id, item);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return found;
}

/**
 * Another extension may write these values too: the next job brings them up to date. And the person may deny the events alone.
 */
async function unless(code: "Conflict" | "PermissionDenied", change: () => Promise<unknown>): Promise<void> {
  try {
    await change();
  } catch (error) {
    if (codeOf(error) !== code) throw error;
  }
}
