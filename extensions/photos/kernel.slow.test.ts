import { cp, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runInKernel } from "@lares/sdk/testing";
import { afterEach, beforeEach, expect, it } from "vitest";
import { directory, exifOf, long, tiffHeader, withExif } from "../../test/support/exif.ts";
import { agent, Bench, tool } from "../../test/support/bench.ts";
import { until } from "../../test/support/until.ts";
import type { MomentAnswer, PlaceAnswer } from "./answers.ts";
import type { StoredFacts } from "./photo.ts";

const extension = fileURLToPath(new URL(".", import.meta.url));
const library = fileURLToPath(new URL("../../examples/library/", import.meta.url));
let folder = "";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "lares-photos-"));
  await cp(join(library, "photos"), join(folder, "photos"), { recursive: true });
});
afterEach(() => rm(folder, { recursive: true }));

interface Pictures {
  readonly items: readonly {
    readonly path: string;
    readonly fields: { readonly photos?: { readonly facts?: StoredFacts } };
  }[];
}

it("finds places, moments and photos around a position in real photos, and follows what happens to them", async () => {
  await using kernel = await runInKernel(extension, folder, { config: { place_photos: 2 } });
  await kernel.idle();
  const places = await kernel.call<PlaceAnswer[]>("places");
  expect(places).toMatchObject([{ name: "Rome" }]);
  const moments = await kernel.call<MomentAnswer[]>("moments");
  console.log(JSON.stringify([places, moments], null, 1));
});
