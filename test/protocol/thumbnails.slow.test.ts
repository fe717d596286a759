import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { host, type HostError, probe } from "../support/agents.ts";
import { Bench, tool } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { png } from "../support/pictures.ts";

const SEES = "test.sees";
const FOLDER = "test.folder"; // everything in open/ only
const FILTER = "test.filter"; // *.png alone
const BLIND = "test.blind"; // reads nothing
const PHOTOS = "test.photos";

const PROGRAM = `
import { defineAgent } from "@lares/sdk";
const slow = (ctx, signal) => ctx.vdfs.thumbnail("open/slow.png", { maxPx: 64, format: "jpeg", ...(signal && { signal }) });
export default defineAgent({
  tools: {
    async look({ path, options }, ctx) {
      const { width, height, bytes } = await ctx.vdfs.thumbnail(path, options);
      return { width, height, length: bytes.length, first: [...bytes.subarray(0, 4)] };
    },
    async many({ count }, ctx) {
      const one = () => ctx.vdfs.thumbnail("open/sea.jpg", { maxPx: 64, format: "rgba8" });
      return (await Promise.all(Array.from({ length: count }, one))).length;
    },
    async meanwhile(_, ctx) {
      return await Promise.race([slow(ctx).then(() => "thumbnail"), ctx.vdfs.readText("open/a.txt")]);
    },
    async giveUp(_, ctx) {
      const aborter = new AbortController();
      const asked = slow(ctx, aborter.signal);
      aborter.abort();
      return await asked.then(() => "made", (error) => error.code);
    },
  },
});
`;

let bench: Bench;
let client: Client;
beforeAll(async () => {
  const picture = await sharp({ create: { width: 200, height: 100, channels: 3, background: "#3366cc" } })
    .jpeg()
    .toBuffer();
  const large = await sharp({ create: { width: 1024, height: 900, channels: 3, background: "#ff0000" } })
    .png()
    .toBuffer();
  const slow = await sharp({ create: { width: 9000, height: 9000, channels: 3, background: "#00ff00" } })
    .png({ compressionLevel: 1 })
    .toBuffer();
  bench = await Bench.create({
    files: {
      ".gitignore": "ignored/\n",
      ".hidden.jpg": picture,
      ".ssh/id.jpg": picture,
      "ignored/sea.jpg": picture,
      "private/sea.jpg": picture,
      "open/sea.jpg": picture,
      "open/large.png": large,
      "open/slow.png": slow,
      "open/huge.png": png(30_000, 30_000),
      "open/text.png": "a text\n",
      "open/a.txt": "a\n",
      "open/empty.jpg": "",
    },
    extensions: [
      probe({ id: SEES }),
      probe({ id: FOLDER, grants: { locations: ["open"] } }),
      probe({ id: FILTER, permissions: { read_entries: { filter: "*.png" } } }),
      probe({ id: BLIND, permissions: { write_tags: true } }),
      {
        id: PHOTOS,
        program: PROGRAM,
        manifest: {
          permissions: { read_entries: true },
          tools: ["look", "many", "meanwhile", "giveUp"].map((name) => ({
            name,
            description: name,
            handler: name,
            parameters: { type: "object" },
          })),
        },
      },
    ],
  });
  const outside = join(bench.base, "outside");
  await mkdir(outside, { recursive: true });
  await writeFile(join(outside, "sea.jpg"), picture);
  await symlink(join(outside, "sea.jpg"), join(bench.root, "open", "link.jpg"));
  await symlink(outside, join(bench.root, "open", "folder"));
  client = await bench.open();
  await bench.ready(client);
});
afterAll(() => bench[Symbol.asyncDispose]());

/** What a thumbnail was, with its first pixel. */
interface Look {
  readonly width: number;
  readonly height: number;
  readonly length: number;
  readonly first: readonly number[];
}
const look = (path: string, options: object): Promise<Look> =>
  tool<Look>(client, PHOTOS, "look", { path, options });

const refused = async (agent: string, path: string): Promise<HostError | undefined> =>
  (await host(client, agent, "vdfs.thumbnail", path, { maxPx: 64, format: "rgba8" })).error;

test("a guest gets a picture's pixels, in the answer or as a blob", async () => {
  const small = await look("open/sea.jpg", { maxPx: 64, format: "rgba8" });
  expect(small).toMatchObject({ width: 64, height: 32, length: 64 * 32 * 4 });
  const large = await look("open/large.png", { maxPx: 1000, format: "rgba8" });
  expect(large).toEqual({ width: 1000, height: 879, length: 1000 * 879 * 4, first: [255, 0, 0, 255] });
  const jpeg = await look("open/large.png", { maxPx: 10, format: "jpeg" });
  expect(jpeg).toMatchObject({ width: 10, height: 9, first: [0xff, 0xd8, 0xff, 0xdb] });
});

describe("a picture that an agent may not read", () => {
  const paths = [
    ".hidden.jpg",
    ".ssh/id.jpg",
    "ignored/sea.jpg",
    "private/sea.jpg",
    "open/link.jpg",
    "open/folder/sea.jpg",
    "open/absent.jpg",
    "../outside/sea.jpg",
    "/etc/passwd",
    "open",
  ];
  test.each([SEES, FOLDER, FILTER, BLIND])("is refused to %s with the words of reading it", async (agent) => {
    for (const path of paths) {
      const reading = (await host(client, agent, "vdfs.read", path)).error;
      if (agent === SEES && path === "private/sea.jpg") expect(reading).toBeUndefined();
      else {
        expect(reading?.code, path).toMatch(/NotFound|PermissionDenied|ScopeViolation/);
        expect(await refused(agent, path)).toEqual(reading);
      }
    }
  });

  test("is refused as soon as the permission does not cover it", async () => {
    expect(await refused(FILTER, "open/sea.jpg")).toMatchObject({ code: "PermissionDenied" });
    expect(await refused(BLIND, "open/sea.jpg")).toMatchObject({ code: "PermissionDenied" });
    expect(await refused(FOLDER, "private/sea.jpg")).toMatchObject({ code: "ScopeViolation" });
    expect(await refused(FOLDER, "open/sea.jpg")).toBeUndefined();
  });
});

test("what is not a picture, or is too large a one, is refused with the reason", async () => {
  for (const path of ["open/text.png", "open/empty.jpg", "open/a.txt"])
    expect(await refused(SEES, path)).toMatchObject({
      code: "InvalidParams",
      message: `${path} is not a picture of a type that is decoded: JPEG, PNG, WebP or GIF, by its content.`,
    });
  expect(await refused(SEES, "open/huge.png")).toMatchObject({
    code: "LimitExceeded",
    data: { limit: "picture_pixels", value: 900_000_000 },
  });
  for (const options of [
    { maxPx: 0, format: "jpeg" },
    { maxPx: 1025, format: "jpeg" },
    { maxPx: 64, format: "png" },
  ])
    expect((await host(client, SEES, "vdfs.thumbnail", "open/sea.jpg", options)).error).toMatchObject({
      code: "InvalidParams",
    });
});

test("other calls are answered while a picture is decoded, and a cancelled one is not waited for", async () => {
  expect(await tool(client, PHOTOS, "meanwhile")).toBe("a\n");
  expect(await tool(client, PHOTOS, "giveUp")).toBe("RequestCancelled");
  expect(await tool(client, PHOTOS, "many", { count: 40 })).toBe(40);
});
