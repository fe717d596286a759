import { mockContext, runAction, type MockEntry } from "@lares/sdk/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { pageOf, pathOf } from "./album-page.ts";
import photos from "./agent.ts";
import type { Memory } from "./context.ts";
import { taggedWith } from "./people.ts";
import { stateOf, type StoredSidecar } from "./photo.ts";
import { defaults, settingsOf } from "./settings.ts";
import { begun, keyOf, nothingNoticed, noticed } from "./waiting.ts";

const modified = "2025-01-01T00:00:00.000Z";
const permissions = {
  read_entries: { filter: "*.{jpg,xmp,album.md}" },
  write_custom_fields: { namespace: "photos" },
  write_tags: true,
  dispatch_jobs: true,
  write_sidecars: { kinds: ["faces"] },
  emit_events: ["PersonIdentified"],
  propose_actions: ["file.write"],
};
const photo = (path: string, taken: string, tags: string[] = []): MockEntry => {
  const entry = { path, size: 10, modified };
  return {
    ...entry,
    media: "image",
    tags,
    fields: { photos: { facts: { of: stateOf(entry), taken, position: [41.89, 12.49] } } },
  };
};
const contextOf = (entries: readonly MockEntry[], config: Record<string, unknown> = {}) =>
  mockContext<Memory>({
    entries,
    permissions,
    config,
    memory: { plan: nothingNoticed },
    types: { Person: { key: "id" } },
  });

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-05-03T09:00:00Z") });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("Sunday", () => {
  const weekend = [1, 2, 3, 4].map((n) => photo(`photos/${n}.jpg`, `2023-05-03T1${n}:00:00`));
  const sunday = (ctx: ReturnType<typeof contextOf>, day = "2026-05-03") =>
    photos.hooks?.["sunday"]?.({ scheduled_for: `${day}T09:00:00.000Z` } as never, ctx);

  it("tells once what was photographed on this weekend years ago, and offers an album", async () => {
    const ctx = contextOf(weekend);
    await sunday(ctx);
    await sunday(ctx);
    expect(ctx.recorded.notifications).toMatchObject([
      {
        title: "On this weekend 3 years ago: 4 photos in Rome",
        message: "3 May 2023: photos/1.jpg, photos/2.jpg, photos/3.jpg, …",
        action: { length: 5 },
      },
    ]);
    await sunday(ctx, "2026-05-10");
    expect(ctx.recorded.notifications).toHaveLength(1);
  });

  it("a run that was missed is about its own Sunday, also on the Saturday before the next one", async () => {
    const ctx = contextOf(weekend);
    vi.setSystemTime(new Date("2026-05-09T12:00:00Z"));
    await sunday(ctx);
    expect(ctx.recorded.notifications).toHaveLength(1);
    expect(await ctx.memory.plan.read()).toMatchObject({ told: "2026-05-03" });
  });

  it("is silent where there is nothing to tell, and where a person does not want it", async () => {
    const [none, unwanted] = [contextOf(weekend.slice(0, 1)), contextOf(weekend, { memories: false })];
    await sunday(none);
    await sunday(unwanted);
    expect([...none.recorded.notifications, ...unwanted.recorded.notifications]).toEqual([]);
  });
});

describe("tools", () => {
  it("search_person finds tags, whatever their case and accents", async () => {
    const ctx = contextOf([
      photo("a.jpg", "2023-05-03T10:00:00", ["person:Zoë Baker"]),
      photo("b.jpg", "2023-05-03T10:00:00", ["#person:zoe_baker"]),
      photo("c.jpg", "2023-05-03T10:00:00", ["person:Zoe"]),
    ]);
    expect(await photos.tools?.["searchPerson"]?.({ person_name: "zoe baker" }, ctx)).toEqual({
      total: 2,
      photos: ["a.jpg", "b.jpg"],
    });
  });
  it("moments refuses an invalid day", async () => {
    const answer = photos.tools?.["moments"]?.({ since: "yesterday" }, contextOf([]));
    await expect(answer).rejects.toThrow('"yesterday" is not a day. Write it like 2024-05-01.');
  });
});

describe("sidecars", () => {
  const rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
  const xmp = (keyword: string, person: string): string =>
    `<r:RDF xmlns:r="${rdf}" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:m="http://www.metadataworkinggroup.com/schemas/regions/"><r:Description><dc:subject><r:Bag><r:li>${keyword}</r:li></r:Bag></dc:subject><m:Regions><m:RegionList><r:Bag><r:li m:Name="${person}" m:Type="Face"/></r:Bag></m:RegionList></m:Regions></r:Description></r:RDF>`;
  const files = [
    photo("photos/a.jpg", "2023-05-03T10:00:00"),
    photo("photos/b.jpg", "2023-05-03T11:00:00"),
    { path: "photos/a.xmp", content: xmp("Italy", "Ada") },
    { path: "photos/A.jpg.xmp", content: xmp("album:Fake", "$(rm -rf ~)") },
    { path: "photos/b.xmp", content: "<!DOCTYPE x [<!ENTITY a 'b'>]><x>&a;</x>" },
    { path: "photos/none.xmp", content: xmp("Spain", "Bo") },
  ];
  const search = (ctx: ReturnType<typeof contextOf>, tool: string, args: object) =>
    photos.tools?.[tool]?.(args, ctx);

  it("say who and what is in a photo, as text only, and are read once", async () => {
    const ctx = contextOf(files);
    await photos.jobs?.["metadata"]?.({}, ctx);
    expect(await search(ctx, "searchPerson", { person_name: "ada" })).toEqual({
      total: 1,
      photos: ["photos/a.jpg"],
    });
    expect(await search(ctx, "searchPerson", { person_name: "$(rm -rf ~)" })).toMatchObject({ total: 1 });
    expect(await search(ctx, "photosWithTag", { tag: "#italy" })).toEqual({
      total: 1,
      photos: ["photos/a.jpg"],
    });
    expect(await search(ctx, "photosWithTag", { tag: "Spain" })).toMatchObject({ total: 0 });
    // A keyword is not a tag: it puts a photo into no album.
    expect(await search(ctx, "aboutPhotos", { paths: ["photos/a.jpg", "photos/a.xmp", "gone.jpg"] })).toEqual(
      [],
    );
    const count = ctx.recorded.actions.length;
    expect(count).toBeGreaterThan(0);
    await photos.jobs?.["metadata"]?.({}, ctx);
    expect(ctx.recorded.actions).toHaveLength(count);
  });

  it("fill no more of a photo's fields than a page of them has room for", async () => {
    const many = Array.from({ length: 190 }, (_, n) => `${n} ${"ß".repeat(90)}`).join("</r:li><r:li>");
    const ctx = contextOf([
      photo("a.jpg", "2023-05-03T10:00:00"),
      { path: "a.xmp", content: xmp(many, "Ada") },
    ]);
    await photos.jobs?.["metadata"]?.({}, ctx);
    const kept = (await ctx.vdfs.get("a.jpg"))?.fields["photos"]?.["sidecar"] as StoredSidecar;
    expect(kept.people).toEqual(["Ada"]);
    expect(kept.keywords.length).toBeGreaterThan(2);
    expect(Buffer.byteLength(JSON.stringify(kept))).toBeLessThan(1300);
  });

  it("about_photos says which are in an album", async () => {
    const ctx = contextOf([
      photo("a.jpg", "2023-05-03T10:00:00", ["album:Rome"]),
      photo("b.jpg", "2023-05-03T10:00:00"),
    ]);
    expect(await search(ctx, "aboutPhotos", { paths: ["a.jpg", "b.jpg", "a.jpg"] })).toEqual([
      { path: "a.jpg", albums: ["Rome"] },
    ]);
  });

  it("about_photos says which are in the memory that was told last", async () => {
    const ctx = contextOf([
      ...[1, 2, 3].map((n) => photo(`${n}.jpg`, `2023-05-03T1${n}:00:00`)),
      photo("other.jpg", "2021-01-01T10:00:00"),
    ]);
    const asked = { paths: ["1.jpg", "other.jpg"] };
    expect(await search(ctx, "aboutPhotos", asked)).toEqual([]);
    await photos.hooks?.["sunday"]?.({ scheduled_for: "2026-05-03T09:00:00.000Z" } as never, ctx);
    expect(await search(ctx, "aboutPhotos", asked)).toEqual([
      { path: "1.jpg", albums: [], memory: "On this weekend 3 years ago: 3 photos in Rome" },
    ]);
  });

  it("a keyword with levels is found by its beginning, its end and the whole of it", () => {
    const state = { needsFacts: false, needsLook: false };
    const one = { id: "a", path: "a.jpg", tags: [], keywords: ["Italy/Lazio/Rome"], ...state };
    for (const tag of ["italy", "Rome", "Italy/Lazio", "Italy/Lazio/Rome", "Lazio/Rome"])
      expect(taggedWith([one], tag)).toHaveLength(1);
    for (const tag of ["Ital", "ome", "Lazio"]) expect(taggedWith([one], tag)).toEqual([]);
  });
});

describe("albums", () => {
  it("are a page and tags of photos that are there", async () => {
    const ctx = contextOf([photo("photos/a b.jpg", "2023-05-03T10:00:00")]);
    const action = await runAction(photos, "createAlbum", { name: "One", photos: ["photos/a b.jpg"] }, ctx);
    expect(action?.effects).toMatchObject([
      { kind: "file.write", path: "albums/One.album.md" },
      { kind: "tag.add", path: "photos/a b.jpg", tag: "album:One" },
    ]);
    await expect(runAction(photos, "createAlbum", { name: "One", photos: ["x.jpg"] }, ctx)).rejects.toThrow(
      'There is no photo "x.jpg".',
    );
    await expect(runAction(photos, "createAlbum", { name: "Two" }, ctx)).rejects.toThrow("give one of");
  });
  it("have names that every file system takes, in their folder", () => {
    expect(pathOf("../Rome: a/b?", "albums")).toBe("albums/Rome a b.album.md");
    expect(() => pathOf("..", "albums")).toThrow("Choose a name with letters or digits");
  });
  it("show pictures whatever their names", () => {
    expect(pageOf("A *star*", ["photos/a (1) [x].jpg"], "albums/A.album.md")).toBe(
      "# A \\*star\\*\n\n![a (1) \\[x\\].jpg](<../photos/a%20(1)%20%5Bx%5D.jpg>)\n",
    );
  });
});

describe("jobs", () => {
  it("how photos look is one job, however often their time and place are read before", async () => {
    const ctx = contextOf([photo("a.jpg", "2023-05-03T10:00:00")]);
    for (let pass = 0; pass < 3; pass++) {
      await photos.hooks?.["changed"]?.({} as never, ctx);
      await photos.jobs?.["metadata"]?.({}, ctx);
    }
    const looks = ctx.recorded.jobs.filter(({ name }) => name === "looks");
    expect(looks.map(({ key, when_idle: whenIdle }) => [key, whenIdle])).toEqual([
      ["looks", true],
      ["looks", true],
      ["looks", true],
    ]);
  });
  it("photos that arrive while a job reads others are read by the same one", async () => {
    const passes = async (arrives: boolean): Promise<number> => {
      const ctx = contextOf([photo("a.jpg", "2023-05-03T10:00:00"), { path: "b.jpg", media: "image" }]);
      const progress = ctx.progress;
      let isTold = !arrives;
      const telling: typeof ctx = {
        ...ctx,
        progress: async (...said) => {
          if (!isTold) await photos.hooks?.["changed"]?.({} as never, ctx);
          isTold = true;
          return await progress(...said);
        },
      };
      await photos.jobs?.["metadata"]?.({}, telling);
      return ctx.recorded.calls.filter(
        ({ method, params }) => method === "vdfs/query" && params["extension"] === "xmp",
      ).length;
    };
    expect([await passes(false), await passes(true)]).toEqual([1, 2]);
  });
  it("changes share a job until it begins; what comes then has another", () => {
    const first = noticed(nothingNoticed);
    const second = noticed(first);
    expect(keyOf(second)).toBe(keyOf(first));
    const later = noticed(begun(second));
    expect(keyOf(later)).not.toBe(keyOf(first));
    expect(keyOf(noticed(later))).toBe(keyOf(later));
  });
});

it("settings fall back to their defaults", () => {
  expect(settingsOf({ place_km: -1, place_photos: "x", albums: "" })).toEqual(defaults);
  expect(settingsOf({ place_km: 5, albums: "./a/", memories: false })).toEqual({
    place_km: 5,
    place_photos: 3,
    albums: "a",
    memories: false,
  });
});
