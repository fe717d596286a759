import type { Tensor } from "@lares/sdk";
import { describe, expect, it } from "vitest";
import { detectionsIn, embeddingIn, maxFaces } from "./detections.ts";
import { faceSettingsOf, readingKey } from "./face-settings.ts";

const tensor = (name: string, dims: number[], values: readonly number[]): Tensor => ({
  name,
  dims,
  type: "float32",
  data: Float32Array.from(values),
});
const settings = (faces: Record<string, unknown> = {}) => faceSettingsOf({ faces });
const filled = { width: 640, height: 480 };
const read = (outputs: readonly Tensor[], faces: Record<string, unknown> = {}) => {
  const found = detectionsIn(outputs, settings(faces), filled);
  if ("problem" in found) throw new Error(found.problem);
  return found.faces;
};
const problem = (outputs: readonly Tensor[], faces: Record<string, unknown> = {}): string => {
  const found = detectionsIn(outputs, settings(faces), filled);
  return "problem" in found ? found.problem : "";
};
const one = (boxes: readonly number[], scores: readonly number[] = [0.9]): Tensor[] => [
  tensor("boxes", [boxes.length / 4, 4], boxes),
  tensor("scores", [scores.length], scores),
];

describe("boxes", () => {
  it("in pixels, as torchvision's detectors give them, are parts of the picture", () => {
    const labels: Tensor = { name: "labels", dims: [1], type: "int64", data: BigInt64Array.of(1n) };
    expect(read([...one([64, 48, 320, 240]), labels])).toEqual([
      { box: [0.1, 0.1, 0.4, 0.4], score: expect.closeTo(0.9) as number },
    ]);
  });

  it("from 0 to 1 of the input, with a batch and scores of two classes, are too", () => {
    const outputs = [
      tensor("boxes", [1, 2, 4], [0.1, 0.1, 0.5, 0.5, 0.6, 0.1, 0.7, 0.2]),
      tensor("scores", [1, 2, 2], [0.1, 0.9, 0.8, 0.2]),
    ];
    expect(read(outputs)).toHaveLength(1);
    const [{ box } = { box: [] }] = read(outputs);
    // The input has 640 × 640 pixels, of which the picture fills 640 × 480.
    for (const [at, part] of [0.1, 0.1333, 0.4, 0.5333].entries()) expect(box[at]).toBeCloseTo(part, 3);
    expect(read(outputs, { coordinates: "pixels" })).toEqual([]);
  });

  it("bring their embeddings, of length 1", () => {
    const outputs = [...one([0, 0, 100, 100]), tensor("embeddings", [1, 2], [3, 4])];
    expect([...(read(outputs)[0]?.vector ?? [])]).toEqual([expect.closeTo(0.6), expect.closeTo(0.8)]);
  });

  it("that overlap are one face, the one with the higher score; at most twenty are kept", () => {
    const near = one([10, 10, 110, 110, 12, 12, 112, 112, 300, 10, 400, 110], [0.7, 0.9, 0.8]);
    expect(read(near).map(({ score }) => Number(score.toFixed(1)))).toEqual([0.9, 0.8]);
    const many = Array.from({ length: 40 }, (_, at) => [
      (at % 8) * 70,
      Math.floor(at / 8) * 70,
      (at % 8) * 70 + 60,
      Math.floor(at / 8) * 70 + 60,
    ]);
    expect(
      read(
        one(
          many.flat(),
          many.map((_, at) => 0.7 + at / 1000),
        ),
      ),
    ).toHaveLength(maxFaces);
  });

  it("outside of the picture are cut or dropped", () => {
    const found = read(
      one([-50, -50, 64, 48, 700, 10, 800, 90, 10, 500, 90, 600, 5, 5, 6, 6], [0.9, 0.9, 0.9, 0.9]),
    );
    expect(found.map(({ box }) => box)).toEqual([[0, 0, 0.1, 0.1]]);
  });

  it("and scores that are not numbers, or turned over, are dropped", () => {
    const bad = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (const value of bad) {
      expect(read(one([value, 0, 100, 100]))).toEqual([]);
      expect(read(one([0, 0, 100, value]))).toEqual([]);
      expect(read(one([0, 0, 100, 100], [value]))).toEqual([]);
    }
    expect(read(one([100, 100, 0, 0]))).toEqual([]);
    expect(read(one([0, 0, 100, 100], [17]))).toEqual([]);
    const faces = read([...one([0, 0, 100, 100]), tensor("embeddings", [1, 2], [Number.NaN, 1])]);
    expect(faces).toHaveLength(1);
    expect(faces[0]).not.toHaveProperty("vector");
    expect(read([...one([0, 0, 9e9, 9e9])])[0]?.box).toEqual([0, 0, 1, 1]);
  });

  it("may be none", () => {
    expect(read([tensor("boxes", [0, 4], []), tensor("scores", [0], [])])).toEqual([]);
  });
});

describe("a detector that does not fit", () => {
  it("is described with what it has and where to say so", () => {
    expect(problem([tensor("dets", [1, 5], [0, 0, 0, 0, 0])])).toBe(
      'The model has no output "boxes"; it has "dets". Name it as faces.boxes in config.',
    );
    expect(problem([tensor("boxes", [1, 5], [0, 0, 0, 0, 0]), tensor("scores", [1], [1])])).toBe(
      'The output "boxes" is [1, 5]; it must be N × 4.',
    );
    expect(
      problem([tensor("boxes", [2, 4], Array<number>(8).fill(0)), tensor("scores", [3], [1, 1, 1])]),
    ).toContain("one score for each");
    const numbers: Tensor = { name: "scores", dims: [1], type: "int32", data: Int32Array.of(1) };
    expect(problem([...one([0, 0, 9, 9]).slice(0, 1), numbers])).toBe(
      'The output "scores" is of int32; it must be of float32 or float64.',
    );
  });

  it("with a million boxes is refused before they are read", () => {
    const boxes: Tensor = {
      name: "boxes",
      dims: [1e6, 4],
      type: "float32",
      data: new Float32Array(4e6).fill(1),
    };
    const scores: Tensor = {
      name: "scores",
      dims: [1e6],
      type: "float32",
      data: new Float32Array(1e6).fill(1),
    };
    expect(problem([boxes, scores])).toBe(
      "The detector gives 1000000 boxes for one photo; at most 50000 are read.",
    );
  });
});

describe("maps of centres", () => {
  /** One face whose centre is in the third row and second column of a map with steps of 4 pixels. */
  const maps = (score: number, size = Math.log(20)): Tensor[] => {
    const places = 160 * 160;
    const place = 2 * 160 + 1;
    const two = (value: number): number[] => {
      const all = Array<number>(places * 2).fill(0);
      all[place] = value;
      all[places + place] = value;
      return all;
    };
    const map = Array<number>(places).fill(0);
    map[place] = score;
    return [
      tensor("537", [1, 1, 160, 160], map),
      tensor("538", [1, 2, 160, 160], two(size)),
      tensor("539", [1, 2, 160, 160], two(0)),
    ];
  };
  const named = { heatmap: 537, sizes: "538", offsets: "539", least_score: 0.4 };

  it("are read, with sizes as logarithms", () => {
    const [{ box } = { box: [] }] = read(maps(0.8), named);
    // From -34 to 46 and from -30 to 50 pixels, cut at the edges.
    for (const [at, part] of [0, 0, 46 / 640, 50 / 480].entries()) expect(box[at]).toBeCloseTo(part, 5);
  });

  it("of wrong shapes or with absurd numbers do no harm", () => {
    expect(read(maps(0.8, 1e9), named)).toEqual([]);
    expect(read(maps(Number.NaN), named)).toEqual([]);
    expect(problem([...maps(1).slice(0, 2), tensor("539", [1, 1, 2, 2], [0, 0, 0, 0])], named)).toContain(
      "do not fit together",
    );
  });
});

describe("an embedding", () => {
  it("of a face is one vector", () => {
    expect(embeddingIn([tensor("embedding", [1, 2], [0, 2])], "embedding")).toEqual({
      vector: Float32Array.of(0, 1),
    });
    expect(embeddingIn([tensor("embedding", [1, 2], [0, 0])], "embedding")).toEqual({ vector: null });
    expect(
      embeddingIn([tensor("embedding", [1, 3000], Array<number>(3000).fill(1))], "embedding"),
    ).toMatchObject({
      problem: 'The output "embedding" has 3000 numbers; a face\'s embedding has 2 to 1024.',
    });
    expect(embeddingIn([], "embedding")).toMatchObject({
      problem: expect.stringContaining("faces.embedding.output") as string,
    });
  });
});

describe("settings", () => {
  it("that make no sense have their defaults", () => {
    const odd = {
      width: 1e9,
      layout: "x",
      mean: "a",
      scale: [1, 2],
      boxes: 5,
      least_score: Number.NaN,
      embedding: [],
    };
    expect(faceSettingsOf({ faces: odd })).toEqual({ ...faceSettingsOf({}), boxes: "5" });
    expect(faceSettingsOf({ faces: null })).toEqual(faceSettingsOf({}));
  });

  it("decide whether photos are read again, as another model does; where people begin does not", () => {
    const key = readingKey(settings(), ["a"]);
    expect(readingKey(settings(), ["a"])).toBe(key);
    expect(readingKey(settings({ same_person: 0.9 }), ["a"])).toBe(key);
    expect(readingKey(settings({ colours: "bgr" }), ["a"])).not.toBe(key);
    expect(readingKey(settings(), ["b"])).not.toBe(key);
  });
});
