import type { Thumbnail } from "@lares/sdk";
import { expect, it } from "vitest";
import { regionInput, wholeInput } from "./face-input.ts";
import { faceSettingsOf, type InputForm } from "./face-settings.ts";
import { facesIn, keptFaces, peopleAgain, vectorOf } from "./stored-faces.ts";

/** Two pixels, one above the other. */
const picture: Thumbnail = {
  width: 1,
  height: 2,
  bytes: Uint8Array.of(255, 128, 0, 255, 10, 20, 30, 255),
};
const formOf = (faces: Record<string, unknown>): InputForm => ({
  ...faceSettingsOf({ faces }),
  width: 2,
  height: 2,
});
const values = (faces: Record<string, unknown>): number[] =>
  [...wholeInput(picture, formOf(faces)).data].map((value) => Math.round(Number(value) * 100) / 100);

it("a picture is at the top left of the input, colour by colour, and black around", () => {
  expect(values({})).toEqual([1, 0, 0.04, 0, 0.5, 0, 0.08, 0, 0, 0, 0.12, 0]);
  expect(wholeInput(picture, formOf({ input: "x" }))).toMatchObject({ name: "x", dims: [1, 3, 2, 2] });
});

it("the layout, the colours' order and their scale are as the model wants them", () => {
  const whole = { scale: 1 };
  expect(values({ ...whole, layout: "hwc" })).toEqual([255, 128, 0, 0, 0, 0, 10, 20, 30, 0, 0, 0]);
  expect(wholeInput(picture, formOf({ layout: "hwc" })).dims).toEqual([2, 2, 3]);
  expect(wholeInput(picture, formOf({ layout: "nhwc" })).dims).toEqual([1, 2, 2, 3]);
  expect(wholeInput(picture, formOf({ layout: "chw" })).dims).toEqual([3, 2, 2]);
  expect(values({ ...whole, colours: "bgr" })).toEqual([0, 0, 30, 0, 128, 0, 20, 0, 255, 0, 10, 0]);
  // Black has a value too.
  expect(values({ ...whole, mean: [1, 2, 3] })).toEqual([254, -1, 9, -1, 126, -2, 18, -2, -3, -3, 27, -3]);
  expect(values({ ...whole, mean: [1, 2, 3], colours: "bgr", layout: "hwc" }).slice(0, 6)).toEqual([
    -3, 126, 254, -3, -2, -1,
  ]);
  expect(wholeInput(picture, formOf({ type: "uint8", mean: 5 })).data).toEqual(
    Uint8Array.of(255, 0, 10, 0, 128, 0, 20, 0, 0, 0, 30, 0),
  );
});

it("a part of a picture fills the input, and is black where it reaches over the edge", () => {
  const part = { left: 0, top: 0, width: 2, height: 2 };
  const { data } = regionInput(picture, part, formOf({ scale: 1, layout: "hwc" }));
  expect([...data]).toEqual([255, 128, 0, 0, 0, 0, 10, 20, 30, 0, 0, 0]);
  const outside = regionInput(picture, { left: 50, top: -9, width: 1, height: 1 }, formOf({}));
  expect([...outside.data].every((value) => value === 0)).toBe(true);
});

it("a vector is kept in a byte a number, and is nearly the same when it is read", () => {
  const vector = Float32Array.of(0.6, -0.8, 0.001);
  const [face] = keptFaces([{ box: [0.12345, 0, 1, 1], score: 0.98765, vector }]);
  expect(face).toMatchObject({ box: [0.1235, 0, 1, 1], score: 0.988 });
  expect([...(vectorOf(face?.vector) ?? [])]).toEqual([95, -127, 0]);
  for (const bad of ["!", "", "QQ==", 7, undefined, "A".repeat(5000)]) expect(vectorOf(bad)).toBe(undefined);
});

it("what is not a sidecar of faces is none", () => {
  const face = { box: [0, 0, 0.5, 0.5], score: 1 };
  expect(facesIn({ of: "a", model: "b", faces: [face] })?.faces).toEqual([face]);
  for (const bad of [null, 7, {}, { of: "a", model: "b", faces: [{ ...face, box: [0, 0, 2, "x"] }] }])
    expect(facesIn(bad)).toBe(null);
});

it("a face that covers the same part of a photo as before is of the same person", () => {
  const face = (left: number) => ({ box: [left, 0, 0.2, 0.2] as const, score: 1 });
  const before = [face(0), face(0.5), face(0.8)];
  expect(peopleAgain([face(0.51), face(0.3), face(0.8)], before, ["a", "b", "-"])).toEqual(["b", "", ""]);
});
