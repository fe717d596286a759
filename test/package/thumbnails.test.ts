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
  const pixels = [0x33, 0x66, 0xcc, 255, 0x33, 0x66, 0xcc, 255];
  expect(thumbnail).toEqual({ width: 2, height: 1, bytes: { ...pixels } });
});
