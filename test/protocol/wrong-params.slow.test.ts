import { readFileSync } from "node:fs";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { probe } from "../support/agents.ts";
import { Bench, inState, tool } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { expectInvalidParams, expectProperError, type WireError } from "../support/error-answers.ts";
import { ParamsMaker, type Params } from "../support/wrong-params.ts";

/** Mutations of each method's params; more with LARES_ROUNDS. */
const ROUNDS = Number(process.env["LARES_ROUNDS"] ?? 12);

const RAW = "test.raw";
/** Makes any host call with params as JSON text, and returns the answer. */
const RAW_PROGRAM = `
import { defineAgent } from "@lares/sdk";
const host = globalThis[Symbol.for("lares.guest")];
export default defineAgent({
  tools: {
    async raw({ method, params }) {
      try {
        await host.call(method, JSON.parse(params));
        return { ok: true };
      } catch (error) {
        return { code: error.code, message: String(error.message), data: error.data };
      }
    },
    async notify({ method, params }) { return host.notify(method, JSON.parse(params)); },
  },
});
`;

let bench: Bench;
let client: Client;
let kernelPid: number;
beforeAll(async () => {
  bench = await Bench.create({
    files: { "a.txt": "hello\n", "b.md": "# b\n" },
    extensions: [
      probe({ id: "test.probe" }),
      {
        id: RAW,
        program: RAW_PROGRAM,
        manifest: {
          permissions: {
            read_entries: true,
            write_sidecars: { kinds: ["faces"] },
            write_tags: true,
            write_custom_fields: { namespace: "probe" },
            propose_actions: ["file.write", "file.edit", "file.move", "file.delete", "folder.create"],
            emit_events: ["Seen"],
            call_tools: ["test.probe/*"],
          },
          tools: ["raw", "notify"].map((name) => ({
            name,
            description: name,
            handler: name,
            parameters: { type: "object" },
          })),
          agent: { activation: "eager" },
        },
      },
    ],
  });
  client = await bench.open();
  kernelPid = (await bench.status(client)).pid;
  await inState(client, RAW, "Active");
});
afterAll(() => bench[Symbol.asyncDispose]());

const sample = (maker: ParamsMaker, method: string): Params[] =>
  fc.sample(maker.mutated(method), { numRuns: ROUNDS });

let lastId = 0;
/** Sends one request with its params as text. */
async function ask(method: string, params: string): Promise<WireError | undefined> {
  const id = `wrong-${++lastId}`;
  const body = `{"jsonrpc":"2.0","id":"${id}","method":${JSON.stringify(method)},"params":${params}}`;
  const answer = await client.answerTo(id, `${method} ${params.slice(0, 300)}`, () =>
    client.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`),
  );
  return answer["error"] as WireError | undefined;
}

const isMessageable = (text: string): boolean => ["[", "{", "n"].includes(text[0] ?? "");

describe("a client's requests with wrong params", () => {
  const maker = new ParamsMaker("protocol.schema.json");

  test.each(maker.methods)("%s: each is answered, none as an internal error", async (method) => {
    const answers = await Promise.all(
      sample(maker, method).map(async (params) => ({ ...params, error: await ask(method, params.text) })),
    );
    for (const { text, fits, error } of answers) {
      const context = `${method} ${text.slice(0, 1000)}`;
      if (error !== undefined) expectProperError(error, context, [bench.base]);
      // A value that is neither object nor array is not a JSON-RPC message.
      if (!isMessageable(text)) expect(error?.code, context).toBe(-32600);
      else if (!fits) expectInvalidParams(error, method, context);
    }
    // Some of the params were a person's refusal; the other methods are called on a trusted connection.
    if (method === "lares/trust") await client.request(method, { trusted: true });
    expect((await bench.status(client)).pid).toBe(kernelPid);
  });

  test("some of the params were invalid, and some valid", () => {
    const all = maker.methods.flatMap((method) => sample(maker, method));
    const fitting = all.filter(({ fits }) => fits).length;
    expect(fitting).toBeGreaterThan(all.length / 20);
    expect(all.length - fitting).toBeGreaterThan(all.length / 4);
  });
});

describe("a guest's host calls with wrong params", () => {
  const maker = new ParamsMaker("guest-abi.schema.json");

  test.each(maker.methods)("%s: each is answered, none as an internal error", async (method) => {
    for (const { text, fits } of sample(maker, method)) {
      // The guest's own action never settles, so waiting is correct.
      if (method === "actions/settled" && fits) continue;
      const answer = await tool<{ ok?: true } & WireError>(client, RAW, "raw", { method, params: text });
      const context = `${method} ${text.slice(0, 1000)}`;
      if (answer.ok === true) {
        expect(fits, context).toBe(true);
        continue;
      }
      expectProperError(answer, context, [bench.base]);
      if (!fits) expectInvalidParams(answer, method, context);
    }
    expect((await bench.status(client)).pid).toBe(kernelPid);
  });
});

test("none of this made the kernel fail: its log contains no stack trace", async () => {
  const { stateFolder } = await bench.status(client);
  const log = readFileSync(`${stateFolder}/kernel.log`, "utf8");
  expect(log.split("\n").filter((line) => /\berror\b|\n\s+at /.test(line))).toEqual([]);
});
