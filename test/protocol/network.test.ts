/** Which processes of Lares open connections to anything but its own sockets: the egress host, and no other. */
import { once } from "node:events";
import { mkdir, readdir, readFile, readlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commandLineOf, familyOf } from "../fault/support/processes.ts";
import { Bench, tool } from "../support/bench.ts";
import { until } from "../support/until.ts";

const AGENT = "test.fetcher";
const PROGRAM = `
import { defineAgent } from "@lares/sdk";
export default defineAgent({
  tools: {
    async get({ url }, ctx) { return (await ctx.fetch(url)).text(); },
    async globals() { return ["fetch", "WebSocket", "EventSource", "XMLHttpRequest"].filter((name) => name in globalThis); },
    async remember(_, ctx) {
      await ctx.memory.knowledge.add("note", { text: "kept" }, { text: "something to embed" });
      return (await ctx.memory.search("something")).length;
    },
  },
});
`;

/** Returns the inodes of all sockets of the internet protocols on this machine. */
async function internetSockets(): Promise<Set<string>> {
  const tables = await Promise.all(
    ["tcp", "tcp6", "udp", "udp6"].map((name) => readFile(`/proc/net/${name}`, "utf8").catch(() => "")),
  );
  return new Set(
    tables.flatMap((table) =>
      table
        .split("\n")
        .slice(1)
        .map((line) => line.trim().split(/\s+/)[9] ?? ""),
    ),
  );
}

async function socketsOf(pid: number, inodes: ReadonlySet<string>): Promise<number> {
  const names = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const links = await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => "")));
  return links.filter((link) => inodes.has(/^socket:\[(\d+)\]$/.exec(link)?.[1] ?? "-")).length;
}

test.skipIf(process.platform !== "linux")(
  "while agents fetch, remember and embed, only the egress host has internet sockets",
  async () => {
    const held = Promise.withResolvers<void>();
    let asked = 0;
    const server = createServer((request, response) => {
      asked++;
      if (request.url?.endsWith("/embeddings") === true) {
        let body = "";
        request.setEncoding("utf8").on("data", (piece: string) => (body += piece));
        request.on("end", () => {
          const { input } = JSON.parse(body) as { input: string[] };
          response.end(JSON.stringify({ data: input.map((_, index) => ({ index, embedding: [1, 0, 0] })) }));
        });
      } else void held.promise.then(() => response.end("done"));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    await using bench = await Bench.create({
      extensions: [
        {
          id: AGENT,
          program: PROGRAM,
          manifest: {
            tools: ["get", "globals", "remember"].map((name) => ({
              name,
              description: name,
              handler: name,
              parameters: { type: "object" },
            })),
            resources: { allowed_hosts: [host] },
          },
        },
      ],
    });
    const config = join(bench.base, "config", "lares");
    await mkdir(config, { recursive: true });
    await writeFile(
      join(config, "lares.yaml"),
      JSON.stringify({
        version: 1,
        memory: {
          embedder: { kind: "openai-compatible", url: `http://${host}/v1`, model: "small", dimensions: 3 },
        },
        egress: { private_hosts: [host] },
      }),
    );
    const client = await bench.open({ environment: { XDG_CONFIG_HOME: join(bench.base, "config") } });
    const { pid: kernel } = await bench.status(client);
    expect(await tool(client, AGENT, "globals", {})).toEqual([]);
    expect(await tool(client, AGENT, "remember", {})).toBeGreaterThan(0);
    expect(asked).toBeGreaterThan(0);
    const before = asked;
    const answer = tool(client, AGENT, "get", { url: `http://${host}/held` });
    await until("the request to arrive", () => asked > before);

    const family = familyOf(kernel);
    const inodes = await internetSockets();
    const connected: string[] = [];
    for (const pid of family) if ((await socketsOf(pid, inodes)) > 0) connected.push(commandLineOf(pid));
    expect(family.length).toBeGreaterThan(3);
    expect(connected).toEqual([expect.stringContaining("egress/host/host-process") as string]);

    held.resolve();
    expect(await answer).toBe("done");
    server.close();
  },
);
