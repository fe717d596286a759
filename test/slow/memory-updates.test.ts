import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "vitest";
import { Bench } from "../support/bench.ts";
import { rememberer, Remembering } from "../support/memory.ts";
import { until } from "../support/until.ts";

/**
 * In the background a real kernel finds what updates what, with a slow embedder: a minute after knowledge was added or
 * queried. Each case has a service, a workspace and kernels of its own.
 */
const ID = "test.updater";
const dimensions = 32;
const patienceMs = 150_000;

interface Vectors {
  readonly count: number;
  readonly pending: number;
  readonly failed: number;
}

/** Answers `/v1/embeddings` with the words of a text as a direction, so that texts with the same words are similar. */
class Service implements AsyncDisposable {
  isUp: boolean;
  readonly #server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (piece: string) => (text += piece));
    request.on("end", () => {
      const { input } = JSON.parse(text) as { input: string[] };
      // An error that is not retried before the next start.
      response.writeHead(this.isUp ? 200 : 400, { "content-type": "application/json" });
      const data = input.map((each, index) => ({ object: "embedding", index, embedding: vectorOf(each) }));
      response.end(JSON.stringify(this.isUp ? { object: "list", data } : { error: { message: "not that" } }));
    });
  });

  constructor(isUp: boolean) {
    this.isUp = isUp;
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

function vectorOf(text: string): number[] {
  const vector = Array.from({ length: dimensions }, () => 0.001);
  for (const word of text.toLowerCase().match(/\w+/g) ?? []) {
    const place = Buffer.from(word).reduce((sum, byte) => (sum * 31 + byte) % dimensions, 7);
    vector[place] = (vector[place] ?? 0) + 1;
  }
  return vector;
}

/** Creates a workspace with an agent that remembers, and a person's document that names the service. */
async function workspace(service: Service): Promise<{ bench: Bench; memory: Remembering }> {
  const bench = await Bench.create({ extensions: [rememberer(ID)], lares: { kernel: { linger: "300s" } } });
  const config = join(bench.base, "config");
  await mkdir(join(config, "lares"), { recursive: true });
  const embedder = { kind: "openai-compatible", url: await service.listen(), model: "toy", dimensions };
  await writeFile(join(config, "lares", "lares.yaml"), JSON.stringify({ version: 1, memory: { embedder } }));
  const client = await bench.open({ environment: { XDG_CONFIG_HOME: config } });
  return { bench, memory: new Remembering(client, ID) };
}

/** Ends the kernel without warning; the front starts the next one. */
async function crash(bench: Bench, { client }: Remembering): Promise<void> {
  const { pid } = await bench.status(client);
  await bench.kill(pid);
  await until("the next kernel", async () => {
    const status = await bench.status(client).catch(() => null);
    return status?.ready === true && status.pid !== pid;
  });
}

const whales = "blue whales sing long and low songs in the deep cold water off the northern coast";
const hours = "the town hall in the old market square opens on weekdays from nine until";

function add(memory: Remembering, name: string, text: string): Promise<string> {
  const body = 'return ctx.memory.knowledge.add("Fact", { name: args.name }, { text: args.text });';
  return memory.run<string>(body, { name, text });
}

/** Returns the names of what an item updates, as a client gets them. */
async function updatedBy(memory: Remembering, id: string): Promise<string[]> {
  const { items } = await memory.query<{ items: { data: { name: string } }[] }>("associative", {
    related_to: { id, depth: 1, relation: "Updates" },
  });
  return items.map(({ data }) => data.name);
}

/** Resolves to what was found in the background, once something was. */
function found(memory: Remembering, id: string): Promise<string[]> {
  return until(
    "a relation",
    async () => {
      const names = await updatedBy(memory, id);
      return names.length > 0 && names;
    },
    patienceMs,
  );
}

async function vectorsOf(memory: Remembering): Promise<Vectors> {
  return ((await memory.stats())["projections"] as { vectors: Vectors }).vectors;
}

describe.concurrent("updates are found in the background", () => {
  test("once, if the service answers", async ({ expect }) => {
    await using service = new Service(true);
    const { bench, memory } = await workspace(service);
    await using _ = bench;
    await add(memory, "old", `${hours} four`);
    await add(memory, "unlike", "blue whales sing in deep cold water");
    const newer = await add(memory, "new", `${hours} five`);
    expect(await found(memory, newer)).toEqual(["old"]);
    expect(await memory.verify()).toMatchObject({ ok: true });
  });

  test("once and durably, if the kernel was killed, perhaps before it looked", async ({ expect }) => {
    await using service = new Service(true);
    const { bench, memory } = await workspace(service);
    await using _ = bench;
    await add(memory, "old", `${hours} four`);
    const newer = await add(memory, "new", `${hours} five`);
    await until("both to be embedded", async () => (await vectorsOf(memory)).count === 2);
    await crash(bench, memory);
    expect(await found(memory, newer)).toEqual(["old"]);
    // The result is stored: it exists right after the next crash.
    await crash(bench, memory);
    expect(await updatedBy(memory, newer)).toEqual(["old"]);
  });

  test("by the next kernel, if the service refused both items at first", async ({ expect }) => {
    await using service = new Service(false);
    const { bench, memory } = await workspace(service);
    await using _ = bench;
    await add(memory, "old", `${hours} four`);
    const newer = await add(memory, "new", `${hours} five`);
    await until("both to be given up on", async () => (await vectorsOf(memory)).failed === 2, patienceMs);
    service.isUp = true;
    // Results for other items show that the kernel has maintained this memory.
    await add(memory, "old whales", `${whales} in winter`);
    expect(await found(memory, await add(memory, "new whales", `${whales} in summer`))).toEqual([
      "old whales",
    ]);
    expect(await updatedBy(memory, newer)).toEqual([]);
    await crash(bench, memory);
    await until("all to be embedded", async () => (await vectorsOf(memory)).count === 4, patienceMs);
    expect(await found(memory, newer)).toEqual(["old"]);
  });
});
