/** Models of extensions, from their manifests to a guest's numbers: `lares` as npm installs it, with onnxruntime beside it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, stat } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addingModel } from "../../kernel/src/inference/testing/tensor-models.ts";
import { Bench, tool, type ExtensionSpec } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { declared, inferExample, largeInferExample } from "../support/infer-example.ts";
import { installedWithModels } from "../support/installed-models.ts";
import { hostCall, relayGuest } from "../support/relay-guest.ts";
import { runNode } from "../support/run-node.ts";
import { until } from "../support/until.ts";

const ONE = "com.example.one";
const OTHER = "com.example.other";
const WIRE = "com.example.wire";

const program = `import { defineAgent } from "@lares/sdk";
export default defineAgent({ tools: {
  async add({ rows }, ctx) {
    const data = Float32Array.from({ length: rows * 3 }, (_, at) => at % 1000);
    const { outputs } = await ctx.ai.infer({ model: "adding", inputs: [{ name: "x", dims: [rows, 3], data }] });
    const [y] = outputs;
    if (y.type !== "float32") throw new Error(y.type);
    let sum = 0;
    for (let at = 0; at < data.length; at++) sum += y.data[at] - data[at];
    return { name: y.name, dims: y.dims, mean: sum / data.length };
  },
  async fail({ model }, ctx) {
    try {
      await ctx.ai.infer({ model, inputs: [] });
      return null;
    } catch (error) {
      return { code: error.code, class: error.facts.class ?? "", message: error.message };
    }
  },
} });
`;
const tools = (...names: readonly string[]) =>
  names.map((name) => ({ name, description: name, handler: name, parameters: { type: "object" } }));

let bench: Bench;
let client: Client;
let environment: NodeJS.ProcessEnv;
let executable: string;
let origin = "";
const asked: string[] = [];

/** The served files, by path. "adding" breaks off in its middle, and "slow" stops there. */
const files = new Map<string, Uint8Array>([
  ["/adding.onnx", inferExample.model],
  ["/allocating.onnx", largeInferExample.model],
  ["/other/adding.onnx", addingModel(10)],
  ["/wrong.onnx", addingModel(3)],
  ["/later.onnx", addingModel(4)],
  ["/slow.onnx", addingModel(6)],
]);
function serve(request: IncomingMessage, response: ServerResponse): void {
  const path = request.url ?? "";
  const file = files.get(path) ?? new Uint8Array();
  asked.push(`${path} ${request.headers.range ?? ""}`.trim());
  const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0);
  if (path === "/adding.onnx" && from === 0) {
    response.writeHead(200, { "content-length": file.length });
    return void response.write(file.subarray(0, 20), () => response.destroy());
  }
  if (path === "/slow.onnx" && from < 40) {
    response.writeHead(from === 0 ? 200 : 206, {
      "content-length": file.length - from,
      ...(from === 0 ? {} : { "content-range": `bytes ${from}-${file.length - 1}/${file.length}` }),
    });
    return void response.write(file.subarray(from, from + 20));
  }
  if (from === 0) return void response.end(file);
  response
    .writeHead(206, { "content-range": `bytes ${from}-${file.length - 1}/${file.length}` })
    .end(file.subarray(from));
}
const server = createServer(serve);

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  origin = `http://${host}`;
  const extension = (id: string, models: readonly object[]): ExtensionSpec => ({
    id,
    program,
    manifest: { tools: tools("add", "fail"), models },
  });
  bench = await Bench.create({
    extensions: [
      extension(ONE, [
        declared(origin, "adding", inferExample.model),
        { ...declared(origin, "wrong", addingModel(3)), sha256: "0".repeat(64) },
        declared("https://models.invalid", "nowhere", addingModel(5)),
        declared(origin, "later", addingModel(4)),
        declared(origin, "slow", addingModel(6)),
      ]),
      extension(OTHER, [declared(`${origin}/other`, "adding", addingModel(10))]),
      {
        id: WIRE,
        files: { "agent.wasm": relayGuest() },
        manifest: {
          main: "agent.wasm",
          tools: tools("call", "say"),
          models: [
            declared(origin, "adding", inferExample.model),
            declared(origin, "allocating", largeInferExample.model),
          ],
        },
      },
    ],
  });
  ({ executable, environment } = await installedWithModels(bench, host));
  client = await bench.open({ environment, executable });
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
  server.closeAllConnections();
  server.close();
});

const stored = async (): Promise<string[]> =>
  (await readdir(join(bench.home, "cache", "models", "sha256"))).filter((name) => !name.includes(".lock"));

test("a guest's first call fetches the model over a break, and its numbers are those of the model", async () => {
  expect(await tool(client, ONE, "add", { rows: 2 })).toEqual({ name: "y", dims: [2, 3], mean: 1 });
  expect(asked).toEqual(["/adding.onnx", "/adding.onnx bytes=20-"]);
  // As blobs, because 2.4 MB do not fit a message.
  expect(await tool(client, ONE, "add", { rows: 200_000 })).toEqual({
    name: "y",
    dims: [200_000, 3],
    mean: 1,
  });
  expect(asked).toHaveLength(2);
});

test("another extension's model of the same name is another one, and the same digest is not fetched again", async () => {
  expect(await tool(client, OTHER, "add", { rows: 1 })).toMatchObject({ mean: 10 });
  expect(asked.slice(2)).toEqual(["/other/adding.onnx"]);
  const { params, result } = inferExample;
  expect(await hostCall(client, WIRE, "ai/infer", params)).toMatchObject({ result });
  expect(asked).toHaveLength(3);
  expect(await stored()).toHaveLength(2);
});

test("a model that is not the declared one, or cannot be reached, ends as an error that says what to do", async () => {
  expect(await tool(client, ONE, "fail", { model: "wrong" })).toMatchObject({
    code: "ModelError",
    class: "NoModel",
    message: expect.stringMatching(
      /SHA-256 is .*It was deleted\. .*lares models fetch com\.example\.one\/wrong/,
    ) as string,
  });
  expect(await stored()).toHaveLength(2);
  const before = asked.length;
  // Not asked for again at once.
  expect(await tool(client, ONE, "fail", { model: "wrong" })).toMatchObject({ class: "NoModel" });
  expect(asked).toHaveLength(before);
  expect(await tool(client, ONE, "fail", { model: "nowhere" })).toMatchObject({
    code: "ModelError",
    class: "Network",
  });
  expect(await tool(client, ONE, "fail", { model: "unknown" })).toMatchObject({ code: "PermissionDenied" });
  expect(await tool(client, ONE, "fail", { model: "adding" })).toMatchObject({
    class: "InvalidRequest",
    message: expect.stringContaining('It takes "x" (float32 [batch, 3])') as string,
  });
});

test("a download is in the traces", async () => {
  const traces = await client.request<{ message: string }[]>("lares/traces/query", { agent: ONE });
  const messages = traces.map(({ message }) => message);
  expect(messages).toContainEqual(expect.stringContaining('The model "adding" was fetched'));
  expect(messages).toContainEqual(expect.stringMatching(/^GET 127\.0\.0\.1:\d+\/adding\.onnx: 206$/));
});

test("lares models fetch brings what is missing, and lares models says what is there", async () => {
  const env = { ...process.env, ...environment, LARES_HOME: bench.home, NO_COLOR: "1" };
  const run = (...args: string[]) => runNode([executable, ...args], { cwd: bench.root, env });
  const listed = async (): Promise<Record<string, string>> => {
    const { stdout, stderr, code } = await run("models", "--json");
    expect(code, stderr).toBe(0);
    const { extension_models: models } = JSON.parse(stdout) as {
      extension_models: { extension: string; name: string; state: string }[];
    };
    return Object.fromEntries(models.map(({ extension, name, state }) => [`${extension}/${name}`, state]));
  };
  expect(await listed()).toEqual({
    [`${ONE}/adding`]: "fetched",
    [`${ONE}/wrong`]: "missing",
    [`${ONE}/nowhere`]: "missing",
    [`${ONE}/later`]: "missing",
    [`${ONE}/slow`]: "missing",
    [`${OTHER}/adding`]: "fetched",
    [`${WIRE}/adding`]: "fetched",
    [`${WIRE}/allocating`]: "missing",
  });
  const fetched = await run("models", "fetch", `${ONE}/later`, "--json");
  expect(fetched.code, fetched.stderr).toBe(0);
  expect(JSON.parse(fetched.stdout)).toMatchObject({
    models: [{ extension: ONE, name: "later", fetched: true }],
    runtime: true,
  });
  expect((await listed())[`${ONE}/later`]).toBe("fetched");
  const again = await run("models", "fetch", `${ONE}/later`);
  expect(again.stdout).toContain("was already fetched");
  const wrong = await run("models", "fetch", `${ONE}/wrong`);
  expect(wrong.code).toBe(1);
  expect(wrong.stderr).toContain("is not the model");
});

test.skipIf(process.platform === "win32")(
  "a download that a person interrupts, or whose process is killed, is continued by the next one",
  async () => {
    const env = { ...process.env, ...environment, LARES_HOME: bench.home, NO_COLOR: "1" };
    const args = [executable, "models", "fetch", `${ONE}/slow`];
    for (const [signal, bytes] of [
      ["SIGINT", 20],
      ["SIGKILL", 40],
    ] as const) {
      const child = spawn(process.execPath, args, {
        cwd: bench.root,
        env,
        stdio: ["ignore", "ignore", "pipe"],
      });
      let errors = "";
      child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
      const ended = once(child, "close");
      const part = join(
        bench.home,
        "cache",
        "models",
        "sha256",
        `${declared(origin, "slow", addingModel(6)).sha256}.part`,
      );
      await until(`${bytes} bytes`, async () => (await stat(part).catch(() => null))?.size === bytes);
      child.kill(signal);
      await ended;
      if (signal === "SIGINT") {
        expect(child.exitCode).toBe(130);
        expect(errors).toContain(`To continue where it stopped: lares models fetch ${ONE}/slow`);
      }
      expect((await stat(part)).size).toBe(bytes);
    }
    const before = asked.length;
    const rest = await runNode([...args, "--json"], { cwd: bench.root, env });
    expect(rest.code, rest.stderr).toBe(0);
    expect(JSON.parse(rest.stdout)).toMatchObject({ models: [{ name: "slow", fetched: true }] });
    expect(asked.slice(before)).toEqual(["/slow.onnx bytes=40-"]);
  },
);

test("an output that is too large for the answer itself is a blob", async () => {
  const { params, result } = largeInferExample;
  const outputs = result.outputs.map((output) => ({ ...output, blob: expect.any(String) as string }));
  expect(await hostCall(client, WIRE, "ai/infer", params)).toMatchObject({ result: { outputs } });
});
