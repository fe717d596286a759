/** Faces by real models, which npm brings, in photos of two people. */
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import sharp from "sharp";
import { expect, onTestFinished, test } from "vitest";
import { Bench, tool } from "../../test/support/bench.ts";
import { declared } from "../../test/support/infer-example.ts";
import { installedWithModels } from "../../test/support/installed-models.ts";
import type { Action } from "../../test/support/types.ts";
import { until } from "../../test/support/until.ts";
import type { PersonAnswer } from "./people-tools.ts";
import { realFaceModels, realFaceSettings } from "./testing/real-models.ts";

const id = "dev.lares.photos";
// Both are in the public domain: works of NASA and of the US Navy.
const pictured = (name: string): Promise<Buffer> =>
  readFile(fileURLToPath(new URL(`testing/faces/${name}.jpg`, import.meta.url)));

/** The same person as other photos could show them: mirrored, darker and smaller, cut and without colours. */
async function photosOf(name: string): Promise<Record<string, Uint8Array>> {
  const photo = await pictured(name);
  const { width, height } = await sharp(photo).metadata();
  const cut = { left: 10, top: 6, width: width - 30, height: height - 12 };
  return {
    [`photos/${name} 1.jpg`]: photo,
    [`photos/${name} 2.jpg`]: await sharp(photo).flop().jpeg().toBuffer(),
    [`photos/${name} 3.jpg`]: await sharp(photo)
      .modulate({ brightness: 0.7 })
      .resize(Math.round(width * 0.8))
      .jpeg({ quality: 60 })
      .toBuffer(),
    [`photos/${name} 4.jpg`]: await sharp(photo).extract(cut).greyscale().jpeg().toBuffer(),
  };
}

test("with a real detector and a real embedder, two people are told apart in several photos of each", async (context) => {
  const models = await realFaceModels();
  if (typeof models === "string") return context.skip(models);
  const lake = await readFile(
    fileURLToPath(new URL("../../examples/library/photos/2024/mountain-lake.jpg", import.meta.url)),
  );
  const server = createServer((request, response) => {
    response.end(request.url === "/detector.onnx" ? models.detector : models.embedder);
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const origin = `http://${host}`;
  const megabytes = { size_mb: 6 };
  const named = [
    { ...declared(origin, "detector", models.detector), ...megabytes, name: "face_detection" },
    { ...declared(origin, "embedder", models.embedder), ...megabytes, name: "face_embedding" },
  ];
  const extensions = [
    { id, grants: { locations: ["."] }, config: { faces: realFaceSettings }, models: named },
  ];
  await using bench = await Bench.create({
    files: {
      ...(await photosOf("collins")),
      ...(await photosOf("hopper")),
      "photos/lake.jpg": lake,
    },
    lares: { extensions },
  });
  const { executable, environment } = await installedWithModels(bench, host);
  const client = await bench.open({ environment, executable });
  const warned = async (): Promise<void> => {
    const traces = await client.request<{ message: string }[]>("lares/traces/query", {
      agent: id,
      level: "warn",
    });
    expect(traces.map(({ message }) => message)).toEqual([]);
  };
  await until("the faces", async () => {
    await warned();
    const actions = await client.request<Action[]>("lares/actions/list", { agent: id, limit: 1000 });
    return actions.some(({ title }) => title.startsWith("Note who is in"));
  });
  const people = await tool<PersonAnswer[]>(client, id, "people");
  const shown = people.map(({ photos, shown: some }) => [photos, some.map(({ path }) => path)]);
  expect(
    people.map(({ photos }) => photos),
    JSON.stringify(shown),
  ).toEqual([4, 4]);
  for (const { id: person, shown: some } of people) {
    const [first] = some;
    const name = first?.path.includes("collins") === true ? "collins" : "hopper";
    await tool(client, id, "name_person", { person, name });
    const found = await tool<{ photos: string[] }>(client, id, "search_person", { person_name: name });
    expect(found.photos.toSorted()).toEqual([1, 2, 3, 4].map((n) => `photos/${name} ${n}.jpg`));
  }
  await warned();
});
