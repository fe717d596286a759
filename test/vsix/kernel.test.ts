import { execFileSync } from "node:child_process";
import { chmod, readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { unpackVsix } from "../../vscode-client/build/archive.ts";
import { actionIn, Bench, type ConnectOptions } from "../support/bench.ts";
import { rememberer, Remembering } from "../support/memory.ts";
import type { Action } from "../support/types.ts";
import { TemporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";
import { kernelIn } from "../support/vsix.ts";

const ID = "test.packaged";
let folder: TemporaryFolder;
let extension: string;
let packaged: ConnectOptions;
beforeAll(async () => {
  folder = await TemporaryFolder.create("lares vsix – ");
  await unpackVsix(inject("vsix"), folder.path);
  extension = join(folder.path, "extension");
  packaged = {
    ...kernelIn(extension),
    // Started like in an editor without Node and npm in its path.
    environment: { PATH: "/usr/bin:/bin", NODE_PATH: "", NODE_OPTIONS: "" },
  };
});
afterAll(() => folder[Symbol.asyncDispose]());

async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(join(extension, folder), { recursive: true });
  return entries.map((path) => path.replaceAll("\\", "/")).toSorted();
}

describe("the kernel in the .vsix", () => {
  it("is run by the Node that runs these tests", () => {
    const { node = "" } = packaged;
    expect(execFileSync(node, ["--version"], { encoding: "utf8" }).trim()).toBe(process.version);
  });

  it("watches, remembers in every kind of memory, proposes, and changes a file once it is approved", async () => {
    await using bench = await Bench.create({
      files: { "note.md": "first\n" },
      lares: { memory: { vectors: "usearch" } },
      extensions: [rememberer(ID, { permissions: { read_entries: true, propose_actions: ["file.write"] } })],
    });
    const client = await bench.open(packaged);
    const agent = new Remembering(client, ID);
    await agent.run(
      `await ctx.memory.plan.set({ seen: true });
       await ctx.memory.history.append("note", { text: "a walk along the beach" });
       for (const text of ["a quiet beach by the sea", "a hut in the mountains", "a shop for bicycles"])
         await ctx.memory.knowledge.add("place", { text }, { text });`,
    );
    expect(await agent.query("temporal", { text: { match: "beach" } })).toMatchObject({ total: 1 });
    const found = await agent.query<{ items: { data: { text: string } }[] }>("associative", {
      similar_to: "a quiet beach by the sea",
      top_k: 1,
    });
    expect(found.items.map(({ data }) => data.text)).toEqual(["a quiet beach by the sea"]);
    expect(await agent.stats()).toMatchObject({ projections: { vectors: { engine: "usearch", count: 3 } } });
    expect(await agent.verify()).toMatchObject({ ok: true });

    const action = await agent.run<Action>(
      `return ctx.actions.propose([{ kind: "file.write", path: "note.md", content: "second\\n" }],
         { title: "Write the note anew", reason: "a test" });`,
    );
    await actionIn(client, action.id, "PendingApproval");
    expect(await readFile(bench.path("note.md"), "utf8")).toBe("first\n");
    await client.request("lares/actions/approve", { id: action.id, digest: action.digest });
    await actionIn(client, action.id, "Committed");
    expect(await readFile(bench.path("note.md"), "utf8")).toBe("second\n");
    expect(await client.shutdown()).toMatchObject({ code: 0 });
    expect(client.stderr).toBe("");
  });

  it("has the first-party extensions", async () => {
    await using bench = await Bench.create({
      files: { "one.txt": "the same\n", "two.txt": "the same\n" },
      lares: {
        extensions: [{ id: "dev.lares.storage", grants: { locations: ["."] } }],
      },
    });
    const client = await bench.open(packaged);
    const waiting = await until("a proposal of the storage agent", async () => {
      const actions = await client.request<Action[]>("lares/actions/list", {});
      return actions.find(({ agent }) => agent === "dev.lares.storage");
    });
    expect(waiting.state).toBe("PendingApproval");
  });

  it("works from a folder nobody may write to", async () => {
    const { node = "" } = packaged;
    await chmod(join(extension, "kernel"), 0o555);
    const said = execFileSync(node, [packaged.executable ?? "", "--version"], {
      encoding: "utf8",
      env: { HOME: folder.path },
    });
    expect(said.trim()).toMatch(/^\S*\d+\.\d+\.\d+/);
    await chmod(join(extension, "kernel"), 0o755);
  });
});

describe("what the .vsix carries", () => {
  it("is the licence of everything in it", async () => {
    const text = await readFile(join(extension, "THIRD-PARTY-LICENSES.txt"), "utf8");
    for (const name of ["Node.js", "@duckdb/node-api", "usearch", "esbuild", "@wasmer/sdk"])
      expect(text).toContain(name);
    for (const [, path = ""] of text.matchAll(/: (kernel\/\S+)$/gm))
      expect((await readFile(join(extension, path), "utf8")).length, path).toBeGreaterThan(100);
  });

  it("is nothing that is never loaded", async () => {
    const unwanted = (await filesOf("kernel/lib")).filter(
      (path) =>
        /\.(map|[cm]?ts|gyp|tgz)$|(?<!LICENSE)\.md$/.test(path) &&
        !path.startsWith("node_modules/lares/dist/resources/") &&
        // It names the licences of what is linked into the WebAssembly.
        path !== "node_modules/@img/sharp-wasm32/README.md",
    );
    expect(unwanted).toEqual([]);
  });

  it("is nothing of another platform", async () => {
    const others = ["win32", "darwin", "linux"].filter((name) => name !== process.platform);
    const natives = (await filesOf("kernel")).filter((path) => /\.(node|so|dylib|dll|exe)$/.test(path));
    expect(natives.length).toBeGreaterThan(1);
    expect(natives.filter((path) => others.some((name) => path.includes(`/${name}-`)))).toEqual([]);
  });

  it("is a package.json without what only development needs", async () => {
    const description = JSON.parse(await readFile(join(extension, "package.json"), "utf8")) as object;
    expect(Object.keys(description)).toEqual(expect.arrayContaining(["main", "contributes", "engines"]));
    for (const key of ["scripts", "devDependencies"]) expect(description).not.toHaveProperty(key);
  });

  it("is of the client's own packages only the plugin for TypeScript's server, with the SDK's declarations", async () => {
    const { dependencies, contributes } = JSON.parse(
      await readFile(join(extension, "package.json"), "utf8"),
    ) as {
      dependencies: Record<string, string>;
      contributes: { typescriptServerPlugins: readonly { readonly name: string }[] };
    };
    const names = contributes.typescriptServerPlugins.map(({ name }) => name);
    expect(Object.keys(dependencies)).toEqual(names);
    expect(await readdir(join(extension, "node_modules"))).toEqual(names);
    const plugin = `node_modules/${names[0] ?? ""}`;
    expect(await filesOf(plugin)).toEqual(
      expect.arrayContaining(["index.js", "globals/guest.d.ts", "sdk/index.d.ts", "sdk/testing/index.d.ts"]),
    );
    const factory: unknown = createRequire(import.meta.url)(join(extension, plugin));
    expect(factory).toBeTypeOf("function");
  });
});
