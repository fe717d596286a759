/** The kernel, the guests and the services whose exchanges `test/protocol/reference-guest.test.ts` records. */
import { once } from "node:events";
import { link, mkdir, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import sharp from "sharp";
import { expect } from "vitest";
import { guestCalls, type GuestCall, type GuestRequest } from "../../kernel/src/protocol/guest/v1/calls.ts";
import { guestRequests } from "../../kernel/src/protocol/guest/v1/lifecycle.ts";
import { validate } from "../../kernel/src/protocol/validate.ts";
import { Bench, type ExtensionSpec } from "./bench.ts";
import type { Client } from "./client.ts";
import { declared, inferExample } from "./infer-example.ts";
import { png } from "./pictures.ts";
import { Recorder } from "./recorded.ts";
import { heard, hostCall, relayGuest } from "./relay-guest.ts";

export const GUEST = "dev.example.guest";
export const QUIET = "dev.example.quiet";
export const INDEXER = "dev.example.indexer";
export const NEWCOMER = "dev.example.newcomer";
export const MIND = "dev.example.mind";

export const guest = (id: string, manifest: object, more: object = {}): ExtensionSpec => ({
  id,
  files: { "agent.wasm": relayGuest() },
  manifest: {
    name: "Guest",
    main: "agent.wasm",
    tools: ["call", "say", "greet", "wait"].map((name) => ({
      name,
      description: name,
      handler: name,
      parameters: { type: "object" },
    })),
    ...manifest,
  },
  ...more,
});

const blueSky = (width = 40, height = 20): Promise<Uint8Array> =>
  sharp({ create: { width, height, channels: 3, background: "#3366cc" } })
    .png()
    .toBuffer();

const personType = (version: number) => ({
  name: "Person",
  version,
  key: "id",
  schema: {
    type: "object",
    required: ["id", "name"],
    properties: { id: { type: "string" }, name: { type: "string" }, born: { type: "integer" } },
  },
});
export const indexer = (version: number) => ({
  permissions: {
    read_entries: { filter: "*.md" },
    use_models: [{ category: "embedding" }, { category: "faces", local_only: true }],
    hear_events: [`${GUEST}/PersonSeen`],
    call_tools: [`${GUEST}/greet`],
    intercept: [MIND],
  },
  hooks: [{ on: "UserInput", handler: "asked", intercept: true }],
  types: [personType(version)],
});

/** Not a text. */
const dot = Buffer.from([0x89, 0x50, 0x4e, 0x47]);

/** A service of embeddings, which is busy where a text says so. */
function embed(request: IncomingMessage, response: ServerResponse): void {
  request.on("data", (body: Buffer) => {
    const { input } = JSON.parse(body.toString("utf8")) as { input: string[] };
    if (input.includes("busy")) return void response.writeHead(503).end();
    response.end(JSON.stringify({ data: input.map(() => ({ embedding: [0, 0.6, 0.8] })) }));
  });
}
const date = "Fri, 20 Nov 2026 12:00:00 GMT";
function serve(request: IncomingMessage, response: ServerResponse): void {
  if (request.url === "/cut") request.socket.destroy();
  else if (request.url === "/v1/embeddings") embed(request, response);
  else if (request.url === "/portrait")
    response.writeHead(200, { "content-type": "image/png", date }).end(dot);
  else response.writeHead(200, { "content-type": "application/json", date }).end('{"degrees":24}');
}

/** What the guest answers to `initialize`. */
export const functions = {
  handlers: ["seen", "asked", "hold"],
  tools: ["call", "say", "greet", "wait"],
  jobs: ["scan"],
  actions: ["readNote"],
  tasks: ["shelf"],
  migrations: ["Person"],
  cancels_tools: true,
  max_open_hooks: 1,
};

/** A real kernel and its guests. What `ask`, `refused` and `sent` see becomes an example of the guest ABI. */
export class GuestExamples implements AsyncDisposable {
  readonly bench: Bench;
  readonly client: Client;
  readonly recorder: Recorder;
  /** Where the service outside is. */
  readonly origin: string;
  readonly #server: Server;

  private constructor(bench: Bench, client: Client, recorder: Recorder, origin: string, server: Server) {
    this.bench = bench;
    this.client = client;
    this.recorder = recorder;
    this.origin = origin;
    this.#server = server;
  }

  static async create(): Promise<GuestExamples> {
    const server = createServer(serve).listen(0, "127.0.0.1");
    await once(server, "listening");
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const origin = `http://${host}`;
    const bench = await Bench.create({
      files: {
        "notes/ada.md": "Ada Lovelace\n",
        "notes/copy.md": "Ada Lovelace\n",
        "notes/list.md": "Ada\nGrace\n",
        "notes/poem.md": "Roses are red.\n\n\n\n\nViolets are bleu.\n",
        "notes/sky.png": await blueSky(),
        "notes/wall.png": png(30_000, 20_000),
        "notes/lake.png": await blueSky(600, 400),
        "secret/key.txt": "x",
      },
      extensions: [
        guest(
          GUEST,
          {
            permissions: {
              read_entries: true,
              write_tags: true,
              write_sidecars: { kinds: ["faces"] },
              write_custom_fields: { namespace: "guest" },
              dispatch_jobs: true,
              see_agents: true,
              propose_actions: ["file.edit", "file.write", "file.move"],
              emit_events: ["PersonSeen"],
              shared_data: { read: ["people"], write: ["people"] },
              shared_types: { read: [`${INDEXER}/*`], write: [`${INDEXER}/*`] },
              use_models: [{ category: "chat" }],
              use_credentials: ["weather", "forgotten"],
            },
            resources: { allowed_hosts: [host] },
            hooks: [{ on: "EntryCreated", handler: "seen", filter: 'entry.extension == "txt"' }],
            types: [personType(1)],
            models: [declared(origin, "adding", inferExample.model), { name: "older" }],
            actions: [{ name: "read_note", title: "Mark {note} as read", handler: "readNote" }],
          },
          { grants: { locations: ["notes"] }, config: { language: "en" } },
        ),
        guest(INDEXER, indexer(1)),
        guest(QUIET, { agent: { enable_memory: false }, resources: { max_wall_ms_per_event: 200 } }),
        {
          id: MIND,
          manifest: { name: "Mind", permissions: { use_models: [{ category: "chat" }] }, mind: {} },
        },
      ],
      lares: { shared_namespaces: [{ name: "family", extensions: [GUEST], read_write: true }] },
    });
    await link(bench.path("notes/list.md"), bench.path("notes/same-list.md"));
    const config = join(bench.base, "config", "lares");
    await mkdir(config, { recursive: true });
    await writeFile(
      join(config, "lares.yaml"),
      JSON.stringify({
        version: 1,
        models: {
          providers: { rehearsal: { api: "scripted", script: "./rehearsal.yaml" } },
          routes: { default: "rehearsal/script" },
          budgets: { per_day_tokens: 20_000 },
        },
        egress: { private_hosts: [host] },
        memory: {
          extensions: { [INDEXER]: { embedder: { kind: "openai-compatible", url: origin, model: "small" } } },
        },
      }),
    );
    const turns = [
      {
        when: "capital",
        say: "Rome",
        usage: {
          input_tokens: 14,
          output_tokens: 9,
          reasoning_tokens: 8,
          cache_read_tokens: 120,
          cache_write_tokens: 30,
        },
      },
      { process: "channel", say: "Good morning." },
      { when: "weather", say: '{"city":"Nice"}', usage: { input_tokens: 40, output_tokens: 6 } },
    ];
    await writeFile(join(config, "rehearsal.yaml"), JSON.stringify({ turns }));
    const client = await bench.open({ environment: { XDG_CONFIG_HOME: join(bench.base, "config") } });
    const { stateFolder } = await bench.status(client);
    const recorder = new Recorder([
      [stateFolder, "/home/ada/.local/state/lares/workspaces/library-4f1d"],
      [bench.root, "/home/ada/library"],
      [bench.base, "/home/ada"],
      [origin, "https://api.example.com"],
      [host, "api.example.com"],
    ]);
    return new GuestExamples(bench, client, recorder, origin, server);
  }

  /** Makes a host call in the guest, records the exchange, and returns the result. */
  async ask<Result>(method: GuestCall, params: object = {}, agent = GUEST): Promise<Result> {
    const { result, error } = await hostCall(this.client, agent, method, params);
    expect(error, `${method} ${JSON.stringify(params)}`).toBeUndefined();
    expect(validate(guestCalls[method].result, result, "result")).toBeNull();
    this.recorder.exchange(method, { params, result });
    return result as Result;
  }

  /** The error has to be one that the call declares. */
  async refused(method: GuestCall, code: string, params: object, agent = GUEST): Promise<void> {
    const { error } = await hostCall(this.client, agent, method, params);
    expect(error?.data, `${method} ${JSON.stringify(params)}`).toMatchObject({ code });
    if (error !== undefined) this.recorder.exchange(method, { params, error });
  }

  /** Records what the kernel sent, with the guest's answer. */
  async sent(method: GuestRequest, result: unknown, agent = GUEST): Promise<number> {
    const { id, params } = await heard(this.client, agent, method);
    expect(validate(guestRequests[method].params, params)).toBeNull();
    expect(validate(guestRequests[method].result, result, "result")).toBeNull();
    this.recorder.exchange(method, { params, result });
    return id;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.bench[Symbol.asyncDispose]();
    this.#server.close();
  }
}
