import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runInKernel } from "@lares/sdk/testing";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Bench, tool } from "../../test/support/bench.ts";
import type { Client } from "../../test/support/client.ts";
import { directory, exifOf, long, tiffHeader, withExif, withXmp } from "../../test/support/exif.ts";
import type { Action } from "../../test/support/types.ts";
import { until } from "../../test/support/until.ts";
import type { MomentAnswer, PlaceAnswer } from "./answers.ts";

const id = "dev.lares.photos";
const extension = fileURLToPath(new URL(".", import.meta.url));
const library = fileURLToPath(new URL("../../examples/library/photos/", import.meta.url));
const jpeg = await readFile(join(library, "2024", "mountain-lake.jpg"));
let folder = "";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "lares-photos-"));
});
afterEach(() => rm(folder, { recursive: true }));

const noted = ({ title }: { readonly title: string }): boolean => title.startsWith("Note time and place");

it("finds places, moments and copies in real photos, and follows what happens to them", async () => {
  await cp(library, join(folder, "photos"), { recursive: true });
  await using kernel = await runInKernel(extension, folder, { config: { place_photos: 2 } });
  await kernel.idle();
  const places = await kernel.call<PlaceAnswer[]>("places");
  expect(places[0]).toMatchObject({ name: "Rome", country: "IT", photos: 4 });
  expect(places.map(({ name }) => name)).toContain("Kiruna");
  const moments = await kernel.call<MomentAnswer[]>("moments");
  expect(moments.find(({ place }) => place === "Rome")?.title).toMatch(/ in Rome$/);
  expect(moments.map(({ from }) => from)).toEqual(
    moments
      .map(({ from }) => from)
      .toSorted()
      .toReversed(),
  );
  const [latest] = moments;
  const since = latest?.from.slice(0, 10);
  expect(await kernel.call("moments", { since })).toMatchObject([{ id: latest?.id }]);
  expect(await kernel.call("photos_at_location", { lat: 41.89, lon: 12.48, radius_km: 10 })).toMatchObject({
    total: 4,
  });
  const copies = await kernel.waitFor(async () => {
    const groups = await kernel.call<string[][]>("duplicates");
    return groups.length >= 3 && groups;
  });
  expect(copies).toContainEqual(["photos/2023/rome-autumn/city-at-dusk.jpg", "photos/imported/DSCF2041.jpg"]);

  // Nothing was asked of the person, and nothing is read again where a photo was only renamed.
  const before = await kernel.actions();
  expect(before.every(({ state }) => state === "Committed")).toBe(true);
  const inside = (path: string): string => join(kernel.workspace, "photos", path);
  await rename(inside("imported/DSCF2041.jpg"), inside("imported/renamed.jpg"));
  await rm(inside("2023/rome-autumn/tiber-morning.jpg"));
  await kernel.waitFor(async () => (await kernel.call<PlaceAnswer[]>("places"))[0]?.photos === 3);
  expect(await kernel.call("duplicates")).toContainEqual([
    "photos/2023/rome-autumn/city-at-dusk.jpg",
    "photos/imported/renamed.jpg",
  ]);
  await kernel.idle();
  expect((await kernel.actions()).filter(noted)).toHaveLength(before.filter(noted).length);

  // A photo with new content is read again, alone.
  const lisbon = exifOf({ taken: "2024:05:01 13:45:10", at: [38.7139, -9.1394] });
  await kernel.write("photos/imported/renamed.jpg", withExif(jpeg, lisbon));
  await kernel.waitFor(async () => {
    const found = await kernel.call<{ total: number }>("photos_at_location", { lat: 38.71, lon: -9.14 });
    return found.total === 1;
  });
  const again = (await kernel.actions()).filter(noted);
  expect(again).toHaveLength(before.filter(noted).length + 1);
  expect(again[0]?.title).toBe("Note time and place of a photo");
});

it("hostile and damaged files have no place, and other photos still get theirs", async () => {
  await using kernel = await runInKernel(extension, folder, { config: { place_photos: 1 } });
  const cycle = Buffer.concat([tiffHeader, directory([long(0x8769, 8), long(0x8825, 8)], 8, 8)]);
  await kernel.write("a cycle.jpg", withExif(jpeg, cycle));
  await kernel.write("b cut.jpg", jpeg.subarray(0, 40));
  await kernel.write("c words.jpg", "not a picture");
  await kernel.write("d zeros.png", new Uint8Array(5000));
  await kernel.write("e future.jpg", withExif(jpeg, exifOf({ taken: "2199:01:01 10:00:00" })));
  await kernel.write(
    "f good.jpg",
    withExif(jpeg, exifOf({ taken: "2024:05:01 13:45:10", at: [41.89, 12.49] })),
  );
  await kernel.waitFor(async () => (await kernel.call<PlaceAnswer[]>("places")).length === 1);
  await kernel.idle();
  expect(await kernel.call("moments")).toMatchObject([{ title: "Afternoon in Rome", photos: 1 }]);
  await kernel.waitFor(async () => (await kernel.call<string[][]>("duplicates")).length === 1);
  expect(await kernel.call("duplicates")).toEqual([["a cycle.jpg", "e future.jpg", "f good.jpg"]]);
  const { state } = await kernel.agent();
  expect(["Active", "Unloaded"]).toContain(state);
  expect(await kernel.traces({ level: "error" })).toEqual([]);
});

it("reads who and what is in photos from the XMP files beside them, and follows what happens to these", async () => {
  const xmp = (person: string): string =>
    `<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:m="http://www.metadataworkinggroup.com/schemas/regions/"><r:Description><dc:subject><r:Bag><r:li>Italy/Rome</r:li></r:Bag></dc:subject><m:Regions><m:RegionList><r:Bag><r:li m:Name="${person}" m:Type="Face"/></r:Bag></m:RegionList></m:Regions></r:Description></r:RDF>`;
  await using kernel = await runInKernel(extension, folder);
  const found = async (person_name: string): Promise<string[]> =>
    (await kernel.call<{ photos: string[] }>("search_person", { person_name })).photos;
  await kernel.write("a.jpg", jpeg);
  await kernel.write("b.jpg", jpeg);
  await kernel.write("a.jpg.xmp", xmp("Ada"));
  // A bomb, a text of another encoding and the largest that is read do no harm.
  await kernel.write("b.xmp", `<!DOCTYPE x [<!ENTITY a "${"b".repeat(9000)}">]><x>${"&a;".repeat(9000)}</x>`);
  await kernel.write("b.jpg.xmp", new Uint8Array([0x3c, 0x61, 0x3e, 0xeb, 0x3c, 0x2f, 0x61, 0x3e]));
  await kernel.write("a.xmp", `<a>${"<b c='d'>e</b>".repeat(18_000)}</a>`);
  await kernel.waitFor(async () => (await found("ada")).length === 1);
  expect(await found("ada")).toEqual(["a.jpg"]);
  expect(await kernel.call("photos_with_tag", { tag: "rome" })).toEqual({ total: 1, photos: ["a.jpg"] });
  await kernel.write("own.jpg", withXmp(jpeg, xmp("Katherine")));
  await kernel.waitFor(async () => (await found("katherine")).length === 1);
  expect(await found("katherine")).toEqual(["own.jpg"]);
  await kernel.write("a.jpg.xmp", xmp("Grace Hopper"));
  await kernel.waitFor(async () => (await found("grace hopper")).length === 1);
  expect(await found("ada")).toEqual([]);
  await rename(join(kernel.workspace, "a.jpg.xmp"), join(kernel.workspace, "b.jpg.xmp"));
  await kernel.waitFor(async () => (await found("grace hopper")).includes("b.jpg"));
  await rm(join(kernel.workspace, "b.jpg.xmp"));
  await kernel.waitFor(async () => (await found("grace hopper")).length === 0);
  await kernel.idle();
  expect(await kernel.traces({ level: "error" })).toEqual([]);
});

it("an album is a page and tags; it waits for a person, who can undo it", async () => {
  await cp(library, join(folder, "photos"), { recursive: true });
  await using kernel = await runInKernel(extension, folder, { config: { place_photos: 2 } });
  await kernel.idle();
  const album = await kernel.call<{ action: string; state: string }>("create_album", {
    name: "Rome",
    place: "rome",
  });
  expect(album.state).toBe("PendingApproval");
  expect(await kernel.action(album.action)).toMatchObject({
    title: "Create album Rome",
    effects: { length: 5 },
  });
  expect(await kernel.approve(album.action)).toMatchObject({ state: "Committed" });
  expect(await kernel.read("albums/Rome.album.md")).toContain(
    "![city-at-dusk.jpg](<../photos/2023/rome-autumn/city-at-dusk.jpg>)",
  );
  await expect(kernel.call("create_album", { name: "Rome", place: "Rome" })).rejects.toThrow("already");
  await expect(kernel.call("create_album", { name: "x", place: "Atlantis" })).rejects.toThrow("no place");
  await expect(kernel.call("create_album", { name: "../..", photos: ["photos/none.jpg"] })).rejects.toThrow(
    "no photo",
  );
  expect(await kernel.undo(album.action)).toMatchObject({ state: "Undone" });
  expect(await kernel.read("albums/Rome.album.md")).toBe(null);
});

async function nameFolders(bench: Bench, client: Client, keys: Record<string, unknown>): Promise<void> {
  const { trust } = await bench.status(client);
  await bench.writeLares({ keys: { extensions: [{ id, grants: { locations: ["."] } }], ...keys } });
  await bench.accept(client, trust.digest);
}

const listed = (client: Client): Promise<Action[]> =>
  client.request<Action[]>("lares/actions/list", { agent: id, limit: 1000 });

it("a job that is killed in the middle continues where it was, and a large album is asked about", async () => {
  const count = 340;
  const photos = Array.from({ length: count }, (_, n) => {
    const minute = String(n % 60).padStart(2, "0");
    const exif = exifOf({ taken: `2024:05:01 ${10 + Math.floor(n / 60)}:${minute}:00`, at: [41.89, 12.49] });
    return [`photos/${n}.jpg`, withExif(jpeg, exif)] as const;
  });
  // Where there is an album, the agent sees the folder; else a person is asked, because it might be hidden from it.
  const files = { ...Object.fromEntries(photos), "albums/Old.album.md": "# Old\n" };
  await using bench = await Bench.create({ files });
  // Killed when the third batch is noted, before the job's checkpoint says so.
  const mark = join(bench.base, "killed");
  const environment = { LARES_FAILPOINT: "jobs.checkpoint.begun@3", LARES_FAILPOINT_MARK: mark };
  await nameFolders(bench, await bench.open({ environment }), { approvals: { auto_approve_below: 0.5 } });
  await until("the kernel's death", () => existsSync(mark));

  const client = await bench.open();
  await until("all photos", async () => {
    const places = await tool<PlaceAnswer[]>(client, id, "places", {});
    return places[0]?.photos === count;
  });
  // No batch was begun twice: every photo was noted once.
  const effects: string[] = [];
  for (const { id: action } of (await listed(client)).filter(noted))
    for (const { path } of (await client.request<Action>("lares/actions/get", { id: action })).effects)
      effects.push(path);
  expect(effects.toSorted()).toEqual(photos.map(([path]) => path).toSorted());

  interface Planned {
    readonly state: string;
    readonly action: string;
  }
  const small = await tool<Planned>(client, id, "create_album", {
    name: "Few",
    photos: ["photos/1.jpg", "photos/2.jpg"],
  });
  expect(small.state).toBe("Committed");
  const large = await tool<Planned>(client, id, "create_album", { name: "All", place: "Rome" });
  expect(large.state).toBe("PendingApproval");
  const { impact_score: impact } = await client.request<Action>("lares/actions/get", { id: large.action });
  expect(impact).toBeGreaterThanOrEqual(0.5);
});

it("2,000 photos that arrive one by one are few jobs: one looks at all of them", async () => {
  const count = 2000;
  const small = await readFile(join(library, "2024", "mountain-lake.jpg"));
  await using kernel = await runInKernel(extension, folder);
  await mkdir(join(kernel.workspace, "photos"));
  const arriving = join(folder, "arriving.jpg");
  for (let n = 0; n < count; n++) {
    const taken = new Date(Date.UTC(2024, 0, 1) + n * 1_000_000).toISOString().slice(0, 19);
    const exif = exifOf({ taken: taken.replace("T", " ").replaceAll("-", ":"), at: [41.89, 12.49] });
    // Whole from the start: a photo that is read while it is written is noted again once it is complete.
    await writeFile(arriving, withExif(small, exif));
    await rename(arriving, join(kernel.workspace, "photos", `${n}.jpg`));
  }
  const photosIn = async (text: string): Promise<number[]> =>
    (await kernel.traces({ text, limit: 1000 })).map(({ fields }) => Number(fields?.["photos"] ?? 0));
  const sum = (counts: readonly number[]): number => counts.reduce((all, one) => all + one, 0);
  await kernel.waitFor(async () => sum(await photosIn("looks noted")) === count, { timeoutMs: 280_000 });
  await kernel.idle();
  expect(sum(await photosIn("time and place noted"))).toBe(count);
  // One unless the person copies them with pauses, after each of which all is quiet.
  const looks = (await photosIn("looks noted")).length;
  expect(looks).toBeLessThanOrEqual(3);
  const { metrics } = await kernel.agent();
  expect(metrics.jobs_completed).toBeLessThanOrEqual(3 * (looks + 1));
});

it("asks for no right with which anything could leave the machine", async () => {
  const manifest = await readFile(join(extension, "extension.yaml"), "utf8");
  for (const right of ["allowed_hosts", "use_models", "use_credentials", "call_tools", "shared_data"])
    expect(manifest).not.toContain(right);
});
