import { mockContext, type MockEntry } from "@lares/sdk/testing";
import type { Tensor, TensorInput } from "@lares/sdk";
import { describe, expect, it } from "vitest";
import photos from "./agent.ts";
import type { Memory } from "./context.ts";
import type { PersonAnswer } from "./people-tools.ts";
import { stateOf, type StoredFaces } from "./photo.ts";
import type { Person } from "./registry.ts";
import { facesIn } from "./stored-faces.ts";
import { nothingNoticed } from "./waiting.ts";

const modified = "2025-01-01T00:00:00.000Z";
const permissions = {
  read_entries: true,
  write_custom_fields: { namespace: "photos" },
  write_sidecars: { kinds: ["faces"] },
  write_tags: true,
  dispatch_jobs: true,
  emit_events: ["PersonIdentified"],
} as const;

/** A picture of one colour: its red says who is in it. */
function picture(path: string, red: number, more: Partial<MockEntry> = {}): MockEntry {
  const bytes = new Uint8Array(40 * 30 * 4).fill(255);
  for (let at = 0; at < bytes.length; at += 4) bytes[at] = red;
  return { path, size: 10, modified, media: "image", thumbnail: { width: 40, height: 30, bytes }, ...more };
}

type Infer = NonNullable<Parameters<typeof mockContext>[0]>["infer"];

const floats = (name: string, dims: number[], values: readonly number[]): TensorInput => ({
  name,
  dims,
  data: Float32Array.from(values),
});
const redOf = (input: Tensor | undefined): number => Math.round(Number(input?.data[0] ?? 0) * 255);

/** Finds one face in each picture that is red at all, and gives a vector that turns with the red. */
const detector = ({ inputs }: { readonly inputs: readonly Tensor[] }): TensorInput[] => {
  const red = redOf(inputs[0]);
  if (red === 0)
    return [floats("boxes", [0, 4], []), floats("scores", [0], []), floats("embeddings", [0, 2], [])];
  const turn = (red / 255) * Math.PI;
  return [
    floats("boxes", [1, 4], [4, 3, 24, 18]),
    floats("scores", [1], [0.9]),
    floats("embeddings", [1, 2], [Math.cos(turn), Math.sin(turn)]),
  ];
};

const model = { name: "face_detection", version: "1", sha256: "a".repeat(64) };
const contextOf = (
  entries: readonly MockEntry[],
  {
    infer = detector,
    models = [model],
    plan = nothingNoticed,
    config = {},
  }: {
    infer?: Infer;
    models?: readonly { name: string; sha256: string }[];
    plan?: Memory["plan"];
    config?: Record<string, unknown>;
  } = {},
) =>
  mockContext<Memory>({
    entries,
    permissions,
    config: { faces: { width: 64, height: 64, same_person: 0.9, ...config } },
    memory: { plan },
    types: { Person: { key: "id" } },
    models,
    infer,
  });
type Context = ReturnType<typeof contextOf>;

const run = (ctx: Context, job = "faces") => photos.jobs?.[job]?.({}, ctx);
const tool = async <Value>(ctx: Context, name: string, args: object): Promise<Value> =>
  (await photos.tools?.[name]?.(args, ctx)) as Value;
const people = (ctx: Context): Promise<PersonAnswer[]> => tool(ctx, "people", {});
const found = async (ctx: Context, person_name: string): Promise<string[]> =>
  (await tool<{ photos: string[] }>(ctx, "searchPerson", { person_name })).photos;
const warnings = ({ recorded }: Context): string[] =>
  recorded.traces.filter(({ level }) => level === "warn").map(({ message }) => message);
const emitted = ({ recorded }: Context) => recorded.events.filter(({ name }) => name === "PersonIdentified");

const ada = ["a1.jpg", "a2.jpg", "a3.jpg"].map((path, at) => picture(path, 20 + at));
const bo = ["b1.jpg", "b2.jpg"].map((path, at) => picture(path, 200 + at));
const empty = picture("c.jpg", 0);

describe("without a model", () => {
  it("no photo is looked at and no job is there, and people of tags and XMP files are people", async () => {
    const ctx = contextOf(
      [
        picture("a.jpg", 20, { tags: ["person:Ada Lovelace"] }),
        picture("b.jpg", 20, { tags: ["#person:ada lovelace"] }),
      ],
      {
        models: [],
      },
    );
    await run(ctx, "metadata");
    await run(ctx, "looks");
    await run(ctx);
    expect(ctx.recorded.jobs.map(({ name }) => name)).not.toContain("faces");
    expect((await ctx.vdfs.get("a.jpg"))?.fields["photos"]).not.toHaveProperty("faces");
    expect(warnings(ctx)).toEqual([]);
    const { items } = await ctx.types<Person>("Person").query();
    expect(items.map(({ value }) => value)).toEqual([
      { id: "ada-lovelace", name: "Ada Lovelace", photos: 2 },
    ]);
    expect(emitted(ctx).map(({ data }) => data)).toEqual([
      { person: "ada-lovelace", person_name: "Ada Lovelace", photos: ["a.jpg", "b.jpg"] },
    ]);
    // Told once.
    await run(ctx, "metadata");
    expect(emitted(ctx)).toHaveLength(1);
    expect(await people(ctx)).toEqual([
      { id: "ada-lovelace", name: "Ada Lovelace", photos: 2, shown: [{ path: "a.jpg" }, { path: "b.jpg" }] },
    ]);
    await ctx.vdfs.tags.remove("a.jpg", "person:Ada Lovelace");
    await ctx.vdfs.tags.remove("b.jpg", "#person:ada lovelace");
    await run(ctx, "metadata");
    expect((await ctx.types<Person>("Person").query()).items).toEqual([]);
  });
});

describe("with a model", () => {
  it("faces are kept, people are told apart, and a name is found, in new photos too", async () => {
    const entries = [...ada, ...bo, empty];
    const ctx = contextOf(entries);
    await run(ctx, "looks");
    expect(ctx.recorded.jobs.at(-1)).toMatchObject({ name: "faces" });
    await run(ctx);
    const [one, other] = await people(ctx);
    expect(one).toMatchObject({
      photos: 3,
      shown: [{ path: "a1.jpg", box: [0.1, 0.1, 0.5, 0.5] }, { path: "a2.jpg" }, { path: "a3.jpg" }],
    });
    expect(other).toMatchObject({ photos: 2 });
    expect(one).not.toHaveProperty("name");
    expect(await tool(ctx, "namePerson", { person: one?.id, name: "Ada" })).toMatchObject({
      id: "ada",
      name: "Ada",
      photos: 3,
    });
    expect(await found(ctx, "ADA")).toEqual(["a1.jpg", "a2.jpg", "a3.jpg"]);
    expect(emitted(ctx).map(({ data }) => data)).toEqual([
      { person: "ada", person_name: "Ada", photos: ["a1.jpg", "a2.jpg", "a3.jpg"] },
    ]);

    // Nothing is read or counted again.
    const count = ctx.recorded.actions.length;
    await run(ctx);
    expect(ctx.recorded.actions).toHaveLength(count);

    const known = await Promise.all(entries.map(async ({ path }) => await copied(ctx, path)));
    const later = contextOf([...known, picture("a4.jpg", 24), picture("d.jpg", 110)], {
      plan: await ctx.memory.plan.read(),
    });
    await run(later);
    expect(await found(later, "ada")).toEqual(["a1.jpg", "a2.jpg", "a3.jpg", "a4.jpg"]);
    expect((await people(later)).map(({ name = "", photos: of }) => `${name} ${of}`)).toEqual([
      "Ada 4",
      " 2",
      " 1",
    ]);
  });

  it("two clusters of one name are one person, and an empty name removes it", async () => {
    const ctx = contextOf([...ada, ...bo]);
    await run(ctx);
    const [one, other] = await people(ctx);
    await tool(ctx, "namePerson", { person: one?.id, name: "Ada" });
    await tool(ctx, "namePerson", { person: other?.id, name: "áda" });
    expect(await people(ctx)).toMatchObject([{ id: "ada", photos: 5 }]);
    expect(await found(ctx, "Ada")).toHaveLength(5);
    expect(await tool(ctx, "namePerson", { person: "ada", name: "" })).toBe(null);
    expect(await people(ctx)).toMatchObject([{ photos: 3 }, { photos: 2 }]);
    expect(await found(ctx, "Ada")).toEqual([]);
    expect((await ctx.types<Person>("Person").query()).items).toEqual([]);
    await expect(tool(ctx, "namePerson", { person: "nobody", name: "X" })).rejects.toThrow(
      "There is no person",
    );
    await expect(tool(ctx, "namePerson", { person: one?.id, name: "_" })).rejects.toThrow("is not a name");
  });

  it("a name that another agent gives is told by the next job, because that agent may see fewer photos", async () => {
    const ctx = contextOf([...ada, ...bo]);
    await run(ctx);
    const [one] = await people(ctx);
    const called = { ...ctx, caller: "dev.lares.steward" };
    await photos.tools?.["namePerson"]?.({ person: one?.id, name: "Ada" }, called);
    expect(await found(ctx, "Ada")).toHaveLength(3);
    expect(ctx.recorded.calls.filter(({ method }) => /^types|^events/.test(method))).toHaveLength(1);
    await run(ctx, "metadata");
    expect(emitted(ctx)).toHaveLength(1);
  });

  it("another model reads photos again, and names stay where the faces are", async () => {
    const first = contextOf([...ada, ...bo]);
    await run(first);
    const [one] = await people(first);
    await tool(first, "namePerson", { person: one?.id, name: "Ada" });
    const known = await Promise.all([...ada, ...bo].map(async ({ path }) => await copied(first, path)));
    const again = contextOf(known, {
      plan: await first.memory.plan.read(),
      models: [{ ...model, sha256: "b".repeat(64) }],
      // Its vectors have nothing to do with the first one's.
      infer: (request) =>
        detector(request).map((output) =>
          output.name === "embeddings"
            ? floats("embeddings", [1, 3], [0, ...(output.data as Float32Array)])
            : output,
        ),
    });
    await run(again);
    expect(again.recorded.actions.map(({ title }) => title)).toContain("Note the faces in 5 photos");
    expect(await found(again, "Ada")).toEqual(["a1.jpg", "a2.jpg", "a3.jpg"]);
  });

  it("other settings have the photos looked at when the agent is started, once", async () => {
    const ctx = contextOf(ada);
    await photos.onStartup?.(ctx);
    expect(ctx.recorded.jobs).toMatchObject([{ name: "faces" }]);
    await run(ctx);
    await photos.onStartup?.(ctx);
    expect(ctx.recorded.jobs).toHaveLength(1);
    const other = contextOf(ada, { plan: await ctx.memory.plan.read(), config: { least_score: 0.7 } });
    await photos.onStartup?.(other);
    expect(other.recorded.jobs).toMatchObject([{ name: "faces" }]);
    const none = contextOf(ada, { models: [] });
    await photos.onStartup?.(none);
    expect(none.recorded.calls).toEqual([]);
  });

  it("a second model gives the vectors where the detector gives none", async () => {
    const crops: number[][] = [];
    const ctx = contextOf([...ada, ...bo], {
      models: [model, { name: "face_embedding", sha256: "c".repeat(64) }],
      config: { embedding: { width: 16, height: 16, mean: 0, scale: 1 / 255 } },
      infer: (request) => {
        if (request.model === "face_detection") return detector(request).slice(0, 2);
        crops.push([...(request.inputs[0]?.dims ?? [])]);
        // In the middle, because the face's square reaches over the edge.
        const turn = Number(request.inputs[0]?.data[8 * 16 + 8]) * Math.PI;
        return [floats("embedding", [1, 2], [Math.cos(turn), Math.sin(turn)])];
      },
    });
    await run(ctx);
    expect(crops).toEqual(Array.from({ length: 5 }, () => [1, 3, 16, 16]));
    expect(await people(ctx)).toMatchObject([{ photos: 3 }, { photos: 2 }]);
  });

  it("a detector without vectors finds faces of nobody", async () => {
    const ctx = contextOf(ada, { infer: (request) => detector(request).slice(0, 2) });
    await run(ctx);
    const kept = (await ctx.vdfs.get("a1.jpg"))?.fields["photos"]?.["faces"] as StoredFaces;
    expect(kept.people).toEqual(["-"]);
    expect(await people(ctx)).toEqual([]);
    const count = ctx.recorded.actions.length;
    await run(ctx);
    expect(ctx.recorded.actions).toHaveLength(count);
  });
});

describe("a model that does not fit", () => {
  const many = Array.from({ length: 12 }, (_, at) => picture(`${at}.jpg`, 20));

  it("stops after three photos and is told once, also in the next job; with other settings the photos are read", async () => {
    const ctx = contextOf(many, { infer: () => [floats("dets", [1, 5], [1, 2, 3, 4, 5])] });
    await run(ctx);
    await run(ctx);
    expect(warnings(ctx)).toEqual([
      'Faces cannot be looked for: face_detection: The model has no output "boxes"; it has "dets". Name it as faces.boxes in config.',
    ]);
    const read = (
      await Promise.all(many.map(async ({ path }) => (await ctx.vdfs.get(path))?.fields["photos"]))
    ).filter(Boolean);
    expect(read).toHaveLength(6);
    const known = await Promise.all(many.map(async ({ path }) => await copied(ctx, path)));
    const mended = contextOf(known, { plan: await ctx.memory.plan.read(), config: { least_score: 0.5 } });
    await run(mended);
    expect(await people(mended)).toMatchObject([{ photos: 12 }]);
    expect((await mended.memory.plan.read()).warned).toEqual([]);
  });

  it("that cannot be fetched leaves the photos for later", async () => {
    const none = mockContext<Memory>({
      entries: many,
      permissions,
      config: { faces: { width: 64, height: 64 } },
      memory: { plan: nothingNoticed },
      types: { Person: { key: "id" } },
      models: [model],
    });
    await run(none);
    await run(none);
    expect(warnings(none)).toHaveLength(1);
    expect(none.recorded.actions).toEqual([]);
  });

  it("in one photo does not stop the others", async () => {
    let at = 0;
    const ctx = contextOf(many, {
      infer: (request) => (++at % 2 === 0 ? [floats("boxes", [3], [Number.NaN, 1, 2])] : detector(request)),
    });
    await run(ctx);
    expect(await people(ctx)).toMatchObject([{ photos: 6 }]);
    expect(warnings(ctx)).toHaveLength(1);
  });

  it("gives numbers of which none is kept", async () => {
    const hostile: Infer = () => [
      floats("boxes", [3, 4], [Number.NaN, 0, 5, 5, -1e30, -1e30, 1e30, 1e30, 900, 900, 1000, 1000]),
      floats("scores", [3], [0.9, 0.9, 0.9]),
      floats("embeddings", [3, 2], [1, 0, Number.POSITIVE_INFINITY, 0, 1, 0]),
    ];
    const ctx = contextOf(many.slice(0, 2), { infer: hostile });
    await run(ctx);
    const kept = facesIn(await ctx.vdfs.sidecar.read("0.jpg", "faces"));
    expect(kept?.faces).toEqual([{ box: [0, 0, 1, 1], score: 0.9 }]);
    expect(await people(ctx)).toEqual([]);
  });
});

it("what is kept of a photo is bounded, however long the vectors are", async () => {
  const boxes = Array.from({ length: 30 }, (_, at) => [
    (at % 6) * 10,
    Math.floor(at / 6) * 6,
    (at % 6) * 10 + 6,
    Math.floor(at / 6) * 6 + 5,
  ]);
  const ctx = contextOf(
    [picture("a.jpg", 20, { thumbnail: { width: 64, height: 64, bytes: new Uint8Array(64 * 64 * 4) } })],
    {
      infer: () => [
        floats("boxes", [30, 4], boxes.flat()),
        floats(
          "scores",
          [30],
          boxes.map(() => 0.9),
        ),
        floats(
          "embeddings",
          [30, 1024],
          Array.from({ length: 30 * 1024 }, (_, at) => Math.sin(at)),
        ),
      ],
    },
  );
  await run(ctx);
  const kept = await ctx.vdfs.sidecar.read("a.jpg", "faces");
  expect(facesIn(kept)?.faces).toHaveLength(20);
  expect(JSON.stringify(kept).length).toBeLessThan(14_000);
  expect(JSON.stringify((await ctx.vdfs.get("a.jpg"))?.fields).length).toBeLessThan(500);
});

it("fields and sidecars that somebody else wrote do no harm", async () => {
  const state = stateOf({ size: 10, modified });
  const odd = [
    { of: state, model: 7, people: "x" },
    { of: state, model: "x", people: [1, null] },
    { of: state, model: "x", people: ["f1"] },
  ];
  const ctx = contextOf(
    odd.map((faces, at) =>
      picture(`${at}.jpg`, 20, {
        fields: { photos: { faces } },
        sidecarData: { faces: { of: 1, faces: [null] } },
      }),
    ),
  );
  expect(await people(ctx)).toMatchObject([{ id: "f1", photos: 1 }]);
  await run(ctx);
  expect(await people(ctx)).toMatchObject([{ photos: 3 }]);
});

/** Returns an entry of a context as the first entry of another one. */
async function copied(ctx: Context, path: string): Promise<MockEntry> {
  const entry = await ctx.vdfs.get(path);
  const given = [...ada, ...bo, empty].find((one) => one.path === path) ?? picture(path, 20);
  const data = await ctx.vdfs.sidecar.read<unknown>(path, "faces");
  return {
    ...given,
    id: entry?.id ?? path,
    fields: entry?.fields ?? {},
    sidecarData: data === null ? {} : { faces: data },
  };
}
