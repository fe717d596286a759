/** Faces by a model that a person names: a real kernel, with onnxruntime beside it, and real pictures. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Bench, leave, tool } from "../../test/support/bench.ts";
import type { Client } from "../../test/support/client.ts";
import { declared } from "../../test/support/infer-example.ts";
import { installedWithModels } from "../../test/support/installed-models.ts";
import { runNode } from "../../test/support/run-node.ts";
import type { Action } from "../../test/support/types.ts";
import { isAlive, until } from "../../test/support/until.ts";
import type { PersonAnswer } from "./people-tools.ts";
import { facePx, inputPx, photoOf, toyDetector, toyEmbedder, type ToyFace } from "./testing/toy-models.ts";

const id = "dev.lares.photos";
const ada = (column: number, row: number): ToyFace => ({ column, row, colour: [235, 30 + column, 40 + row] });
const bo = (column: number, row: number): ToyFace => ({ column, row, colour: [40 + row, 240, 35 + column] });
const photos = {
  "photos/1.png": photoOf([ada(2, 3)]),
  "photos/2.png": photoOf([ada(5, 1), bo(8, 4)]),
  "photos/3.png": photoOf([ada(0, 0)]),
  "photos/4.png": photoOf([bo(9, 6)]),
  "photos/5.png": photoOf([]),
  "photos/6.jpg": "not a picture",
};
const models = {
  face_detection: toyDetector({ embeds: true }),
  boxes_only: toyDetector({ embeds: false }),
  face_embedding: toyEmbedder(),
};

let bench: Bench;
let executable: string;
let origin = "";
let environment: NodeJS.ProcessEnv = {};
const asked: string[] = [];
const server = createServer((request, response) => {
  asked.push(request.url ?? "");
  const name = /^\/(\w+)\.onnx$/.exec(request.url ?? "")?.[1] ?? "";
  response.end(models[name as keyof typeof models]);
});

const listener = "com.example.listener";
/** Hears of people, and reads who is known. */
const listening = `import { defineAgent } from "@lares/sdk";
export default defineAgent({
  memory: { plan: { heard: [] } },
  hooks: {
    async heard({ person, person_name, photos }, ctx) {
      await ctx.memory.plan.update(({ heard }) => ({ heard: [...heard, { person, person_name, photos }] }));
    },
  },
  tools: {
    async known(_args, ctx) {
      const { items } = await ctx.types("dev.lares.photos/Person").query();
      return { people: items.map(({ value }) => value), heard: (await ctx.memory.plan.read()).heard };
    },
  },
});
`;

const entry = (named: readonly object[] = [], config: Record<string, unknown> = {}) => ({
  extensions: [
    { path: `../extensions/${listener}`, grants: { locations: ["."] } },
    {
      id,
      grants: { locations: ["."] },
      config: { faces: { width: inputPx, height: inputPx, same_person: 0.9, ...config } },
      ...(named.length === 0 ? {} : { models: named }),
    },
  ],
});

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  origin = `http://${host}`;
  const hearing = {
    permissions: {
      read_entries: true,
      hear_events: ["dev.lares.photos/PersonIdentified"],
      shared_types: { read: ["dev.lares.photos/Person"] },
    },
    hooks: [{ on: "dev.lares.photos/PersonIdentified", handler: "heard" }],
    tools: [{ name: "known", description: "known", handler: "known", parameters: { type: "object" } }],
  };
  bench = await Bench.create({
    files: photos,
    lares: entry(),
    extensions: [{ id: listener, program: listening, manifest: hearing }],
  });
  ({ executable, environment } = await installedWithModels(bench, host));
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
  server.closeAllConnections();
  server.close();
});

const open = (): Promise<Client> => bench.open({ environment, executable });
const people = (client: Client): Promise<PersonAnswer[]> => tool(client, id, "people");
const found = async (client: Client, person_name: string): Promise<string[]> =>
  (await tool<{ photos: string[] }>(client, id, "search_person", { person_name })).photos.toSorted();
const titles = async (client: Client): Promise<string[]> =>
  (await client.request<Action[]>("lares/actions/list", { agent: id, limit: 1000 })).map(
    ({ title }) => title,
  );

/** Looked at without asking the agent, whose jobs wait until nobody asks it. */
const noted = (client: Client, title: string, count: number): Promise<boolean> =>
  until(
    `${title} ×${count}`,
    async () => (await titles(client)).filter((one) => one.startsWith(title)).length >= count,
  );

test("a model that a person names and accepts finds faces; people are told apart, named, and found after a restart", async () => {
  const client = await open();
  await noted(client, "Note how", 1);
  expect(await people(client)).toEqual([]);

  const { trust, pid } = await bench.status(client);
  await bench.writeLares({ keys: entry([declared(origin, "face_detection", models.face_detection)]) });
  let { digest } = trust;
  const question = await until("the question", async () => {
    const { trust: now } = await bench.status(client);
    digest = now.digest;
    return now.digest !== trust.digest && now.pending?.join("\n");
  });
  expect(question).toContain(`${origin}/face_detection.onnx`);
  // Nothing is fetched before it is accepted.
  expect(asked).toEqual([]);
  await client.request("lares/trust", { trusted: true, digest });

  await noted(client, "Note who is in", 1);
  const [one, other, ...more] = await people(client);
  expect(more).toEqual([]);
  expect(asked).toEqual(["/face_detection.onnx"]);
  expect(one).toMatchObject({ photos: 3 });
  expect(other).toMatchObject({ photos: 2 });
  expect(one?.shown.find(({ path }) => path === "photos/1.png")?.box).toEqual(
    [(2 * facePx) / inputPx, (3 * facePx) / 240, facePx / inputPx, facePx / 240].map(
      (part) => expect.closeTo(part, 3) as number,
    ),
  );
  expect(await tool(client, id, "name_person", { person: one?.id, name: "Ada" })).toMatchObject({
    name: "Ada",
  });
  expect(await found(client, "ada")).toEqual(["photos/1.png", "photos/2.png", "photos/3.png"]);
  const three = ["photos/1.png", "photos/2.png", "photos/3.png"];
  await until("the event", async () => {
    const { heard } = await tool<{ heard: unknown[] }>(client, listener, "known");
    return heard.length > 0;
  });
  expect(await tool(client, listener, "known")).toEqual({
    people: [{ id: "ada", name: "Ada", photos: 3 }],
    heard: [{ person: "ada", person_name: "Ada", photos: three }],
  });
  const env = { ...process.env, ...environment, LARES_HOME: bench.home, NO_COLOR: "1" };
  const listed = await runNode([executable, "models", "--json"], { cwd: bench.root, env });
  expect(JSON.parse(listed.stdout)).toMatchObject({
    extension_models: [{ extension: id, name: "face_detection", state: "fetched" }],
  });
  await leave(client);
  await until("the kernel's end", () => !isAlive(pid));

  const again = await open();
  expect(await found(again, "Ada")).toEqual(["photos/1.png", "photos/2.png", "photos/3.png"]);
  await bench.write("photos/7.png", photoOf([ada(4, 4), bo(1, 1)]));
  await noted(again, "Note who is in", 2);
  expect(await found(again, "Ada")).toContain("photos/7.png");
  expect((await people(again)).map(({ name = "", photos: count }) => `${name} ${count}`)).toEqual([
    "Ada 4",
    " 3",
  ]);
  expect(asked).toHaveLength(1);
  const traces = await again.request<{ message: string }[]>("lares/traces/query", {
    agent: id,
    level: "warn",
  });
  expect(traces).toEqual([]);
  await leave(again);
});

test("with a detector that gives boxes alone, a second model gives the embeddings, and the name stays", async () => {
  const client = await open();
  const { trust } = await bench.status(client);
  const boxesOnly = { ...declared(origin, "boxes_only", models.boxes_only), name: "face_detection" };
  await bench.writeLares({
    keys: entry([boxesOnly, declared(origin, "face_embedding", models.face_embedding)], {
      embedding: { width: 32, height: 32, mean: 0, scale: 1 / 255, margin: 0 },
    }),
  });
  await bench.accept(client, trust.digest);
  await noted(client, "Note the faces", 3);
  expect(asked).toContain("/face_embedding.onnx");
  await until(
    "the end of the jobs",
    async () => (await client.request<{ total: number }>("lares/jobs/list", {})).total === 0,
  );
  expect(await people(client)).toHaveLength(2);
  expect(await found(client, "Ada")).toEqual([
    "photos/1.png",
    "photos/2.png",
    "photos/3.png",
    "photos/7.png",
  ]);
});
