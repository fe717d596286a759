import { defineAgent, type ScheduleFired } from "@lares/sdk";
import { aboutPhotos } from "./about.ts";
import { createAlbum } from "./album.ts";
import { answerOfMoment, answerOfPlace } from "./answers.ts";
import { factsStage, inBatches, lookStage } from "./batches.ts";
import { faceReadingOf, facesStage } from "./faces.ts";
import type { Job, Memory } from "./context.ts";
import { duplicatesOf } from "./duplicates.ts";
import { everyPhoto, libraryOf } from "./library.ts";
import { namedIn, taggedWith } from "./people.ts";
import { namePerson, people } from "./people-tools.ts";
import { photosAround } from "./places.ts";
import { tellPeople } from "./registry.ts";
import { everySidecar, sidecarStage } from "./sidecars.ts";
import { tellMemories } from "./sunday.ts";
import { Told } from "./told.ts";
import { countPeople } from "./who.ts";
import { begun, keyOf, noticed, nothingNoticed, quiet } from "./waiting.ts";

interface Limited {
  readonly limit?: number;
}

/** Notes time, place, tags and people of photos for which that was not done. */
async function noteNew(ctx: Job): Promise<void> {
  const count = await inBatches(ctx, factsStage);
  if (count > 0) ctx.trace.info("time and place noted", { photos: count });
  const marked = ctx.signal.aborted ? 0 : await inBatches(ctx, sidecarStage(await everySidecar(ctx)));
  if (marked > 0) ctx.trace.info("tags and people noted", { photos: marked });
  if (!ctx.signal.aborted) await tellPeople(ctx);
}

export default defineAgent<Memory>({
  memory: { plan: nothingNoticed },

  // Settings may have changed: then photos have to be looked at that did not change themselves.
  async onStartup(ctx) {
    const reading = faceReadingOf(ctx);
    if (reading === null || (await ctx.memory.plan.read()).readBy === reading.key) return;
    await ctx.jobs.dispatch("faces", {}, quiet("faces"));
  },

  hooks: {
    async changed(_event, ctx) {
      const plan = await ctx.memory.plan.update(noticed);
      await ctx.jobs.dispatch("metadata", {}, { key: keyOf(plan), priority: "high" });
    },
    async sunday({ scheduled_for }: ScheduleFired, ctx) {
      await tellMemories(ctx, scheduled_for);
    },
  },

  jobs: {
    async metadata(_input, ctx) {
      let { noticed: seen } = await ctx.memory.plan.update(begun);
      // Photos noticed meanwhile belong to the same import: at most one more job runs, and it finds nothing left to do.
      for (let isNews = true; isNews && !ctx.signal.aborted;) {
        await noteNew(ctx);
        const { noticed } = await ctx.memory.plan.read();
        isNews = noticed > seen;
        seen = noticed;
        if (isNews) await ctx.save({ seen });
      }
      // Places and moments are there now; decoding pictures takes longer and waits until nobody else has anything to do.
      if (!ctx.signal.aborted) await ctx.jobs.dispatch("looks", {}, quiet("looks"));
    },
    async looks(_input, ctx) {
      const count = await inBatches(ctx, lookStage);
      if (count > 0) ctx.trace.info("looks noted", { photos: count });
      if (faceReadingOf(ctx) === null || ctx.signal.aborted) return;
      await ctx.jobs.dispatch("faces", {}, quiet("faces"));
    },
    async faces(_input, ctx) {
      const reading = faceReadingOf(ctx);
      if (reading === null) return;
      const told = new Told();
      const count = await inBatches(ctx, facesStage(reading, told));
      if (count > 0) ctx.trace.info("faces noted", { photos: count });
      const changed = ctx.signal.aborted ? 0 : await countPeople(ctx, reading);
      if (ctx.signal.aborted) return;
      // A problem that was solved is reported again if it returns.
      const isOver = count > 0 && told.isSilent;
      await ctx.memory.plan.update((plan) => ({
        ...plan,
        readBy: reading.key,
        ...(isOver ? { warned: [] } : {}),
      }));
      if (changed === 0) return;
      ctx.trace.info("people noted", { photos: changed });
      await tellPeople(ctx);
    },
  },

  tools: {
    async places({ limit = 50 }: Limited, ctx) {
      const { places } = await libraryOf(ctx);
      return places.all.slice(0, limit).map(answerOfPlace);
    },
    async moments({ since, limit = 50 }: Limited & { since?: string }, ctx) {
      const from = since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(since);
      if (Number.isNaN(from)) throw new Error(`"${since}" is not a day. Write it like 2024-05-01.`);
      const { moments } = await libraryOf(ctx);
      const wanted = moments.filter(({ to }) => to >= from);
      return wanted.toReversed().slice(0, limit).map(answerOfMoment);
    },
    async duplicates({ limit = 50 }: Limited, ctx) {
      return duplicatesOf(await everyPhoto(ctx)).slice(0, limit);
    },
    async photosAtLocation(
      { lat, lon, radius_km = 5, limit = 50 }: Limited & { lat: number; lon: number; radius_km?: number },
      ctx,
    ) {
      const near = photosAround(await everyPhoto(ctx), [lat, lon], radius_km);
      return {
        total: near.length,
        photos: near
          .slice(0, limit)
          .map(({ photo, km }) => ({ path: photo.path, km: Math.round(km * 1000) / 1000 })),
      };
    },
    async searchPerson({ person_name, limit = 50 }: Limited & { person_name: string }, ctx) {
      const { names } = await ctx.memory.plan.read();
      const found = namedIn(await everyPhoto(ctx), person_name, names);
      return { total: found.length, photos: found.slice(0, limit).map(({ path }) => path) };
    },
    async people({ limit = 50 }: Limited, ctx) {
      return await people(ctx, limit);
    },
    async namePerson({ person, name }: { person: string; name: string }, ctx) {
      return await namePerson(ctx, person, name);
    },
    async photosWithTag({ tag, limit = 50 }: Limited & { tag: string }, ctx) {
      const found = taggedWith(await everyPhoto(ctx), tag);
      return { total: found.length, photos: found.slice(0, limit).map(({ path }) => path) };
    },
    async aboutPhotos({ paths }: { paths: readonly string[] }, ctx) {
      return await aboutPhotos(ctx, paths);
    },
  },

  actions: { createAlbum },
});
