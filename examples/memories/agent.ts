import { defineAgent, type AgentContext, type Entry, type Position } from "@lares/sdk";
import { headBytes, takenOf } from "./exif.ts";
import { sinceOf, wordsOf } from "./when.ts";

interface Photo {
  entry: string;
  path: string;
  about: string;
  at?: Position;
}
interface Memory {
  history: { PhotoTaken: Photo };
  knowledge: { Photo: Photo; Place: { name: string; at: Position } };
}
type Context = AgentContext<Memory>;

/** Photographs this close to each other belong to the same place. */
const placeKm = 5;
const nearKm = 25;

export default defineAgent<Memory>({
  hooks: {
    /** An event may arrive twice, and a photograph may be edited: its memory is added once, and its data replaced. */
    async appeared({ entry }, ctx) {
      const { time, at } = takenOf(await ctx.vdfs.read(entry.path, { length: headBytes }));
      const photo: Photo = {
        entry: entry.id,
        path: entry.path,
        about: wordsOf(entry.path),
        ...(at === undefined ? {} : { at }),
      };
      const timestamp = time ?? entry.modified;
      const known = ctx.memory.history.query().variant("PhotoTaken").whereField("entry", entry.id);
      if ((await known.count()) === 0) await ctx.memory.history.append("PhotoTaken", photo, { timestamp });
      await forget(entry.id, ctx);
      const place = at === undefined ? null : await placeOf(at, entry, ctx);
      await ctx.memory.knowledge.add("Photo", photo, {
        text: photo.about || entry.name,
        relations: place === null ? [] : [{ to: place, relation: "PartOf" }],
      });
    },
    async disappeared({ entry_id }, ctx) {
      await forget(entry_id, ctx);
    },
  },

  tools: {
    async like({ about, near, limit = 10 }: { about: string; near?: Position; limit?: number }, ctx) {
      const photos = ctx.memory.knowledge.query().variant("Photo").similarTo(about).topK(limit);
      const found = await (near === undefined ? photos : photos.near("at", near, nearKm)).collect();
      return found.map(({ data, similarity }) => ({ path: data.path, about: data.about, similarity }));
    },

    async happened(
      { since, mentions, limit = 50 }: { since?: string; mentions?: string; limit?: number },
      ctx,
    ) {
      let photos = ctx.memory.history.query().variant("PhotoTaken").limit(limit);
      if (since !== undefined) photos = photos.since(sinceOf(since, new Date()));
      if (mentions !== undefined) photos = photos.whereText("about", mentions);
      const { items, total } = await photos.page();
      return { total, photos: items.map(({ timestamp, data }) => ({ taken: timestamp, path: data.path })) };
    },

    async places(_args, ctx) {
      const places = await ctx.memory.knowledge.query().variant("Place").topK(1000).collect();
      return Promise.all(
        places.map(async ({ id, data }) => ({
          ...data,
          photos: (await ctx.memory.knowledge.query().relatedTo(id, 1, "PartOf").topK(1000).collect()).length,
        })),
      );
    },
  },
});

async function forget(entry: string, ctx: Context): Promise<void> {
  const known = await ctx.memory.knowledge.query().variant("Photo").whereField("entry", entry).collect();
  for (const { id } of known) await ctx.memory.knowledge.remove(id);
}

/** Returns the id of an existing place, or of a new one that is named after the photograph's folder. */
async function placeOf(at: Position, entry: Entry, ctx: Context): Promise<string> {
  const [known] = await ctx.memory.knowledge
    .query()
    .variant("Place")
    .near("at", at, placeKm)
    .topK(1)
    .collect();
  if (known !== undefined) return known.id;
  const folder = wordsOf(entry.path.slice(0, entry.path.lastIndexOf("/") + 1));
  return ctx.memory.knowledge.add("Place", { name: folder || "somewhere", at }, { importance: 0.8 });
}
