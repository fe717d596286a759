import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { Bench } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { rememberer, Remembering } from "../support/memory.ts";
import { until } from "../support/until.ts";

const ID = "test.switcher";
const count = 40;
let bench: Bench | undefined;
afterAll(() => bench?.[Symbol.asyncDispose]());

interface Found {
  items: { data: { name: string }; similarity?: number; embedded: boolean }[];
}
interface Stats {
  embedder: string;
  vectors: { engine: string; count: number; pending: number; failed: number };
}

/**
 * Answers `/v1/embeddings` as the test directs it. The words sea and ocean get the same vector; "stubborn" is refused
 * at first.
 */
async function service() {
  const held: (() => void)[] = [];
  const state = {
    texts: [] as string[],
    asked: 0,
    mode: "fails" as "fails" | "holds" | "answers",
    isMended: false,
  };
  const server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (piece: string) => (text += piece));
    request.on("end", () => {
      state.asked += 1;
      const { input } = JSON.parse(text) as { input: string[] };
      state.texts.push(...input);
      if (state.mode === "fails") return say(response, 503, { error: { message: "later" } });
      if (!state.isMended && input.some((each) => each.includes("stubborn"))) {
        return say(response, 400, { error: { message: "not that" } });
      }
      const answer = (): void =>
        say(response, 200, {
          object: "list",
          data: input.map((each, index) => ({ object: "embedding", index, embedding: vectorOf(each) })),
        });
      if (state.mode === "holds") held.push(answer);
      else answer();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    state,
    held,
    answers(): void {
      state.mode = "answers";
      for (const answer of held.splice(0)) answer();
    },
  };
}

function say(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function vectorOf(text: string): number[] {
  const vector = Array.from({ length: 64 }, () => 0.01);
  const number = /\d+/.exec(text)?.[0];
  if (/sea|ocean/.test(text)) vector[0] = 1;
  else if (number !== undefined) vector[(Number(number) % 60) + 1] = 1;
  else vector[63] = 1;
  return vector;
}

test("another embedder and another engine, set while agents query: the old one answers until the new one is complete", async () => {
  const remote = await service();
  bench = await Bench.create({ extensions: [rememberer(ID)] });
  const config = join(bench.base, "config");
  await mkdir(config);
  const environment = { XDG_CONFIG_HOME: config };
  const connect = async (bench: Bench): Promise<Client> => {
    const client = bench.spawn({ environment });
    const params = bench.initializeParams({ trusted: true });
    await client.request("initialize", { ...params, capabilities: { window: { workDoneProgress: true } } });
    client.notify("initialized", {});
    await bench.ready(client);
    return client;
  };
  let memory = new Remembering(await connect(bench), ID);
  const stats = async (): Promise<Stats> => (await memory.stats())["projections"] as Stats;
  const nearest = async (text: string): Promise<Found["items"][number] | undefined> =>
    (await memory.query<Found>("associative", { similar_to: text, top_k: 1 })).items[0];
  await memory.run(
    `for (let n = 0; n < args.count; n++)
       await ctx.memory.knowledge.add("thing", { name: "thing" + n }, { text: "the thing with number " + n });
     await ctx.memory.knowledge.add("thing", { name: "sea" }, { text: "the wide sea" });`,
    { count },
  );
  expect(await stats()).toMatchObject({ embedder: expect.stringMatching(/^hash/) as string });
  expect((await nearest("ocean"))?.similarity ?? 0).toBeLessThan(0.9);

  await mkdir(join(config, "lares"));
  const embedder = { kind: "openai-compatible", url: remote.url, model: "toy" };
  await writeFile(
    join(config, "lares", "lares.yaml"),
    JSON.stringify({ version: 1, memory: { embedder, vectors: "usearch" } }),
  );
  const oldAnswers = async (): Promise<void> => {
    expect((await nearest("the thing with number 7"))?.data.name).toBe("thing7");
    expect((await stats()).embedder).toMatch(/^hash/);
  };
  // It fails, then it does not answer: queries meanwhile are answered as before.
  await until("the failing service is asked", async () => {
    await oldAnswers();
    return remote.state.asked > 0;
  });
  remote.state.mode = "holds";
  await until("it is asked again", async () => {
    await oldAnswers();
    return remote.held.length > 0;
  });
  await oldAnswers();
  await memory.run(`await ctx.memory.knowledge.add("thing", { name: "late" }, { text: "ocean liner" });`);
  remote.answers();
  let asked = 0;
  await until("the new one serves, in the new engine", async () => {
    expect((await nearest("the thing with number 7"))?.data.name).toBe("thing7");
    asked += 1;
    const { embedder: serving, vectors } = await stats();
    return serving.startsWith("openai-compatible/") && vectors.engine === "usearch" && vectors.pending === 0;
  });
  expect(asked).toBeGreaterThan(0);
  const near = await memory.query<Found>("associative", { similar_to: "ocean", min_similarity: 0.9 });
  expect(near.items.map(({ data }) => data.name).toSorted()).toEqual(["late", "sea"]);
  expect((await stats()).vectors).toMatchObject({ count: count + 2, failed: 0 });
  const values = memory.client
    .notifications<{ value: { kind: string; title?: string } }>("$/progress")
    .map(({ value }) => value);
  expect(values.map(({ kind }) => kind)).toEqual(expect.arrayContaining(["begin", "end"]));
  expect(values.some(({ title }) => title?.includes("embedding knowledge"))).toBe(true);

  // Refused for good: found by its words. The next start retries.
  await memory.run(
    `await ctx.memory.knowledge.add("thing", { name: "mule" }, { text: "a stubborn one at the sea" });`,
  );
  await until("it was refused", async () => (await stats()).vectors.failed === 1);
  const { items } = await memory.query<Found>("search", { text: "stubborn" });
  expect(items[0]).toMatchObject({ data: { name: "mule" }, embedded: false });
  remote.state.isMended = true;
  const { pid } = await bench.status(memory.client);
  await memory.client.shutdown();
  await bench.kill(pid);
  memory = new Remembering(await connect(bench), ID);
  await until("it has its vector", async () => (await stats()).vectors.failed === 0);
  await until("it is found by it", async () => {
    const { items: found } = await memory.query<Found>("associative", {
      similar_to: "ocean",
      min_similarity: 0.9,
    });
    return found.some(({ data }) => data.name === "mule");
  });
}, 120_000);

test("an imported memory brings its vectors: an embedder of the same name embeds nothing again", async () => {
  const remote = await service();
  remote.answers();
  const embedder = { kind: "openai-compatible", url: remote.url, model: "toy", dimensions: 64 };
  const open = async (bench: Bench): Promise<Remembering> => {
    const config = join(bench.base, "config");
    await mkdir(join(config, "lares"), { recursive: true });
    await writeFile(
      join(config, "lares", "lares.yaml"),
      JSON.stringify({ version: 1, memory: { embedder } }),
    );
    return new Remembering(await bench.open({ environment: { XDG_CONFIG_HOME: config } }), ID);
  };
  const pending = async (memory: Remembering): Promise<Stats["vectors"]> =>
    ((await memory.stats())["projections"] as Stats).vectors;
  await using here = await Bench.create({ extensions: [rememberer(ID)] });
  const source = await open(here);
  await source.run(
    `for (let n = 0; n < args.count; n++)
       await ctx.memory.knowledge.add("thing", { name: "thing" + n }, { text: "the thing with number " + n });`,
    { count },
  );
  await until("all is embedded", async () => (await pending(source)).count === count);
  const path = join(here.base, "moved.export");
  expect(await source.client.request("lares/memory/export", { agent: ID, path })).toMatchObject({
    vectors: count,
  });

  await using there = await Bench.create({ extensions: [rememberer(ID)] });
  const target = await open(there);
  remote.state.texts.length = 0;
  await target.client.request("lares/memory/import", { agent: ID, path });
  expect(await pending(target)).toMatchObject({ count, pending: 0, failed: 0 });
  const { items } = await target.query<Found>("associative", {
    similar_to: "the thing with number 7",
    top_k: 1,
  });
  expect(items[0]).toMatchObject({ data: { name: "thing7" }, embedded: true });
  expect(remote.state.texts).toEqual(["the thing with number 7"]);
}, 120_000);
