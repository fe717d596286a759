import sharp from "sharp";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { call, probe } from "../support/agents.ts";
import { Bench } from "../support/bench.ts";
import { executableOf, unpack } from "../support/installed.ts";
import { makePlace, type Place } from "./support/place.ts";

let place: Place;
beforeAll(async () => {
  place = await makePlace();
});
afterAll(() => place[Symbol.asyncDispose]());

it("the installed kernel makes thumbnails, with the library's WebAssembly in its process", async () => {
  const executable = executableOf(unpack(place.path("installed"), inject("tarballs")));
  const create = { width: 40, height: 20, channels: 3, background: "#3366cc" } as const;
  await using bench = await Bench.create({
    files: { "sky.png": await sharp({ create }).png().toBuffer() },
    extensions: [probe({ id: "test.probe" })],
  });
  const client = await bench.open({ executable });
  const options = { maxPx: 2, format: "rgba8" };
  const thumbnail = await call(client, "test.probe", "vdfs.thumbnail", "sky.png", options);
  // The probe's answer is JSON.
  const bytes = { 0: 0x33, 1: 0x66, 2: 0xcc, 3: 255, 4: 0x33, 5: 0x66, 6: 0xcc, 7: 255 };
  expect(thumbnail).toEqual({ width: 2, height: 1, bytes });
});
