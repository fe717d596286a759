import { albumOf } from "./album.ts";
import type { Context, Remembered } from "./context.ts";
import { libraryOf } from "./library.ts";
import { sundayOf, weekendMemory, type WeekendMemory } from "./memories.ts";
import { settingsOf } from "./settings.ts";
import { dateOf } from "./titles.ts";

/** Photos of the album that a notification offers. */
const maxOffered = 100;

/**
 * Tells once on a Sunday what was photographed on this weekend in an earlier year, and offers an album of it. `dueAt` is the
 * time of the schedule in ISO 8601: a missed run may come days later.
 */
export async function tellMemories(ctx: Context, dueAt: string): Promise<void> {
  const settings = settingsOf(ctx.config);
  if (!settings.memories) return;
  const sunday = sundayOf(Date.parse(dueAt));
  const today = new Date(sunday).toISOString().slice(0, 10);
  if ((await ctx.memory.plan.read()).told === today) return;
  const { moments } = await libraryOf(ctx);
  const memory = weekendMemory(moments, sunday);
  // Remembered first: it is better to be silent once after a crash than to repeat oneself.
  await ctx.memory.plan.update(({ weekend: _before, ...plan }) => ({
    ...plan,
    told: today,
    ...(memory === null ? {} : { weekend: shownOf(memory) }),
  }));
  if (memory === null) return;
  const { photos, placeName } = memory;
  const day = dateOf(photos[0]?.time ?? sunday);
  const name = placeName === undefined ? day : `${capitalised(placeName)}, ${day}`;
  const { effects } = albumOf(name, photos.slice(0, maxOffered), settings.albums);
  const isThere = (await ctx.vdfs.get(effects[0]?.path ?? "")) !== null;
  const shown = photos.slice(0, 3).map(({ path }) => path);
  await ctx.notify(
    memory.title,
    `${day}: ${shown.join(", ")}${photos.length > 3 ? ", …" : ""}`,
    isThere ? {} : { action: effects },
  );
}

function shownOf({ title, photos }: WeekendMemory): NonNullable<Remembered["weekend"]> {
  return { title, photos: photos.slice(0, maxOffered).map(({ id }) => id) };
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
