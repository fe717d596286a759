import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, describe, test } from "vitest";
import { ManualClock } from "../base/testing/manual-clock.ts";
import { nothingRequested } from "../decisions/requested-permissions.ts";
import { questionOf } from "../decisions/question.ts";
import { decideHostCall } from "../policy/decide.ts";
import { permissionParams } from "../agents/lifecycle/boot.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import { Catalog } from "./catalog.ts";
import type { CatalogSnapshot } from "./catalog-snapshot.ts";
import { definitionsOf } from "./definitions.ts";
import { eventPorts } from "./event-ports.ts";
import { gitIgnored } from "../workspace/git-ignored.ts";
import { computeInForce, isAccepted } from "./in-force.ts";
import { configurationInForce } from "./settings-in-force.ts";
import { WorkspaceDocuments } from "./workspace-documents.ts";
import { createProgramLoader } from "./programs.ts";
import { bundle, resources } from "../composition/subsystems/resources.ts";
import { decisions } from "./testing/snapshots.ts";

const program = `import { defineAgent } from "@lares/sdk";\nexport default defineAgent({});\n`;
const manifest = { id: "dev.one", name: "One", version: "1.0.0" };

/** A workspace in a folder of its own, and what a person would be asked of it. */
async function workspace(files: Record<string, string>) {
  const base = await temporaryFolder();
  const root = join(base, "workspace");
  const write = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  };
  await mkdir(root);
  for (const [path, text] of Object.entries(files)) await write(path, text);
  const places = { roots: [root], userFolder: join(base, "user"), bundledExtensions: join(base, "none") };
  const documents = new WorkspaceDocuments({
    ...places,
    stateHome: join(base, "state"),
    defaultsFile: resources.defaults,
    environment: {},
    kernelVersion: "0.1.0",
    events: eventPorts(new ManualClock()),
  });
  const programs = createProgramLoader({ bundle, checkModule: async () => null, gitIgnored });
  const catalog = new Catalog({ ...places, documents, programs });
  return {
    base,
    root,
    write,
    load: () => catalog.load(false),
    link: (path: string, target: string) => symlink(target, join(root, path)),
    unlink: (path: string) => rm(join(root, path)),
  };
}

/** One extension in a folder of its own, with these parts of its manifest and its entry. */
function documents(extension: object = {}, entry: object = {}, lares: object = {}): Record<string, string> {
  return {
    "ext/extension.yaml": JSON.stringify({ extension: { ...manifest, ...extension } }),
    "ext/agent.ts": program,
    "lares.yaml": JSON.stringify({ extensions: [{ path: "./ext", ...entry }], ...lares }),
  };
}

function agentsInForce(snapshot: CatalogSnapshot, inForce: ReturnType<typeof computeInForce>) {
  const configuration = configurationInForce(snapshot, inForce.requests);
  return definitionsOf({ entries: inForce.entries, configuration }, inForce.requests, {
    clock: new ManualClock(),
    workspacePaths: () => [],
    namespaces: [],
    forbiddenPaths: [],
    protectedPaths: [],
  });
}

describe("a stranger's text in the question to a person", () => {
  const spoken = "One (dev.one) asks for nothing. Allow it: Two";

  test("stays in quotes if a program has changed", async () => {
    const place = await workspace(documents({ name: spoken }));
    const accepted = await place.load();
    await place.write("ext/agent.ts", `${program}console.log(1);\n`);
    const running = new Map(accepted.entries.map((one) => [one.id, one]));
    const { pendingAsks } = computeInForce(await place.load(), await decisions(accepted), running);
    expect(pendingAsks).toContain(`${JSON.stringify(spoken)} (dev.one) has a changed program`);
  });

  test("show each character that is not drawn, joiners and odd blanks included", async () => {
    const hidden = "a\u200d\ufe0f\u2800\u202e\u200bb";
    const place = await workspace(
      documents(
        { name: `N${hidden}` },
        { config: { key: hidden } },
        {
          approvals: {
            rules: [
              { decide: "allow", path: `${hidden}/**` },
              { decide: "allow", path: "x\ufe0f/**" },
            ],
          },
        },
      ),
    );
    const { pendingAsks } = computeInForce(await place.load(), await decisions(), new Map());
    const all = pendingAsks.join("\n");
    expect(all).not.toMatch(/\p{Default_Ignorable_Code_Point}|\p{Bidi_Control}|\u2800/u);
    const shown = "a<U+200D><U+FE0F><U+2800><U+202E><U+200B>b";
    for (const text of [`N${shown}`, `"key":"${shown}"`, `${shown}/**`, "x<U+FE0F>/**"])
      expect(all).toContain(text);
  });
});

describe("an extension without a program", () => {
  const without = (extension: object = {}): Record<string, string> => {
    const { "ext/agent.ts": _program, ...rest } = documents(extension);
    return rest;
  };

  test("is asked about, and once accepted is an agent that a part of the kernel runs", async () => {
    const place = await workspace(without({ permissions: { read_entries: true } }));
    const snapshot = await place.load();
    const before = computeInForce(snapshot, await decisions(), new Map());
    expect(before.pendingAsks.join()).toContain("One (dev.one, ");
    expect(agentsInForce(snapshot, before)).toEqual([]);
    const inForce = computeInForce(snapshot, await decisions(snapshot), new Map());
    const [agent] = agentsInForce(snapshot, inForce);
    expect(agent).toMatchObject({
      id: "dev.one",
      body: "kernel",
      bundleDigest: expect.stringMatching(/^sha256:/),
    });
    expect(agent?.authority.effective).toEqual({ read_entries: true });
    expect(agent).not.toHaveProperty("fault");
  });

  test("is another bundle with another manifest, and the same with the same", async () => {
    const digestOf = async (extension: object): Promise<unknown> => {
      const snapshot = await (await workspace(without(extension))).load();
      const inForce = computeInForce(snapshot, await decisions(snapshot), new Map());
      return agentsInForce(snapshot, inForce)[0]?.bundleDigest;
    };
    expect(await digestOf({})).toBe(await digestOf({}));
    expect(await digestOf({ version: "1.0.1" })).not.toBe(await digestOf({}));
  });

  test("cannot have what only a program can provide", async () => {
    const hooks = [{ on: "EntryCreated", handler: "seen" }];
    const place = await workspace(without({ hooks, permissions: { read_entries: true } }));
    const snapshot = await place.load();
    const [agent] = agentsInForce(snapshot, computeInForce(snapshot, await decisions(snapshot), new Map()));
    expect(agent?.fault).toContain("It has no program");
  });
});

describe("after a yes", () => {
  const tool = { name: "find", description: "Finds.", handler: "find" };
  const hook = { on: "EntryCreated", handler: "seen", filter: "entry.isImage()" };
  const model = { name: "faces", sha256: "a".repeat(64) };
  const before = {
    hooks: [hook],
    tools: [tool],
    models: [model],
    resources: { max_memory_mb: 64, allowed_hosts: ["api.example.com"] },
    agent: { memory_retention_days: 10 },
  };
  const config = { config: { batch: 50, dry_run: true } };

  /** What the documents say next, and the sentence about it; null: it counts at once. */
  const check = (
    name: string,
    [extension, entry, lares]: [object, object?, object?],
    sentence: string | RegExp | null,
  ): void =>
    test(name, async () => {
      const folder = await workspace(documents(before, config));
      const accepted = await folder.load();
      const store = await decisions(accepted);
      const next = documents({ ...before, ...extension }, { ...config, ...entry }, lares);
      for (const [path, text] of Object.entries(next)) await folder.write(path, text);
      const now = await folder.load();
      const inForce = computeInForce(now, store, new Map());
      if (sentence === null) {
        expect(inForce.pendingAsks).toEqual([]);
        return;
      }
      expect(isAccepted(now, store)).toBe(false);
      expect(inForce.pendingAsks).toEqual([
        typeof sentence === "string" ? sentence : (expect.stringMatching(sentence) as string),
      ]);
      // Accepted parts stay in force unchanged.
      expect(describeAgents(now, inForce)).toEqual(
        describeAgents(accepted, computeInForce(accepted, store, new Map())),
      );
      expect(configurationInForce(now, inForce.requests)).toEqual({
        ...configurationInForce(accepted, accepted.requests),
        extensions: expect.anything() as unknown,
      });
    });
  const describeAgents = (snapshot: CatalogSnapshot, inForce: ReturnType<typeof computeInForce>) =>
    JSON.parse(JSON.stringify(agentsInForce(snapshot, inForce))) as unknown;

  check("the same documents are not asked again", [{}], null);
  check(
    "a changed config is asked",
    [{}, { config: { batch: 100, dry_run: true } }],
    "dev.one changed: config, batch: 50 → 100",
  );
  check(
    "a config that lost a key is asked",
    [{}, { config: { batch: 50 } }],
    "dev.one changed: config, dry_run: true → nothing",
  );
  check(
    "a new hook is asked",
    [{ hooks: [hook, { on: "EntryDeleted", handler: "gone" }] }],
    "dev.one changed: new hook: gone on EntryDeleted",
  );
  check(
    "a new schedule is asked",
    [{ hooks: [hook, { schedule: "* * * * *", handler: "tick" }] }],
    'dev.one changed: new hook: tick by the schedule "* * * * *"',
  );
  check(
    "a changed filter is asked",
    [{ hooks: [{ ...hook, filter: "true" }] }],
    'dev.one changed: hook seen, filter: "entry.isImage()" → "true"',
  );
  check(
    "a filter that is gone is asked",
    [{ hooks: [{ on: hook.on, handler: hook.handler }] }],
    /^dev\.one changed: hook seen, filter: .* → nothing$/,
  );
  check(
    "a tool's changed description is asked",
    [{ tools: [{ ...tool, description: "Sends." }] }],
    'dev.one changed: tool find, description: "Finds." → "Sends."',
  );
  check(
    "a tool's changed parameters are asked",
    [{ tools: [{ ...tool, parameters: { type: "object", required: ["a"] } }] }],
    'dev.one changed: tool find, parameters, required: nothing → ["a"]',
  );
  check(
    "a tool's changed handler is asked",
    [{ tools: [{ ...tool, handler: "other" }] }],
    /handler: "find" → "other"$/,
  );
  check(
    "a new tool is asked",
    [{ tools: [tool, { ...tool, name: "send" }] }],
    /^dev\.one changed: new tool: send/,
  );
  check(
    "a new host is asked",
    [{ resources: { max_memory_mb: 64, allowed_hosts: ["api.example.com", "evil.example.com"] } }],
    "dev.one changed: new host: evil.example.com",
  );
  check(
    "a model of other bytes is asked",
    [{ models: [{ ...model, sha256: "b".repeat(64) }] }],
    /^dev\.one changed: model faces, sha256: /,
  );
  check(
    "a raised request is asked",
    [{ resources: { ...before.resources, max_memory_mb: 128 } }],
    "dev.one changed: max_memory_mb: 64 → 128",
  );
  check(
    "a request that is gone is asked",
    [{ resources: { allowed_hosts: ["api.example.com"] } }],
    "dev.one changed: max_memory_mb: 64 → 256",
  );
  check(
    "a changed setting of the agent is asked",
    [{ agent: { memory_retention_days: 20 } }],
    "dev.one changed: agent, memoryRetentionDays: 10 → 20",
  );
  check(
    "another main is asked",
    [{ main: "./agent.ts" }],
    'dev.one changed: main: "agent.ts" → "./agent.ts"',
  );
  check(
    "another setting of the workspace is asked",
    [{}, {}, { trace: { level: "debug" } }],
    'the document sets trace.level to "debug"',
  );
  check(
    "a longer linger is asked",
    [{}, {}, { kernel: { linger: "30d" } }],
    /^the document raises the limit kernel\.linger/,
  );

  check("a hook that is gone counts at once", [{ hooks: [] }], null);
  check("a tool that is gone counts at once", [{ tools: [] }], null);
  check("a lower request counts at once", [{ resources: { ...before.resources, max_memory_mb: 32 } }], null);
  check("a host that is gone counts at once", [{ resources: { max_memory_mb: 64 } }], null);
  check("a shorter linger counts at once", [{}, {}, { kernel: { linger: "1s" } }], null);
  check("another description counts at once: no agent is another for it", [{ description: "x" }], null);

  test("a hook that is gone is gone at once, also while something else waits", async () => {
    const folder = await workspace(documents(before, config));
    const store = await decisions(await folder.load());
    const next = documents({ ...before, hooks: [] }, { config: { batch: 1 } });
    for (const [path, text] of Object.entries(next)) await folder.write(path, text);
    const now = await folder.load();
    const [agent] = agentsInForce(now, computeInForce(now, store, new Map()));
    expect(agent?.hooks).toEqual([]);
    expect(agent?.config).toEqual(config.config);
  });

  test("of an earlier version, which kept no behaviour, an extension waits and is asked once with the reason", async () => {
    const folder = await workspace(documents(before));
    const accepted = await folder.load();
    const store = await decisions(accepted);
    const [acceptance] = Object.values(store.accepted.extensions);
    delete (acceptance as { behaviour?: unknown }).behaviour;
    await folder.write("lares.yaml", JSON.stringify({ extensions: [{ path: "./ext" }], version: 1 }));
    const now = await folder.load();
    const inForce = computeInForce(now, store, new Map());
    expect(inForce.entries).toEqual([]);
    expect(inForce.pendingAsks).toEqual([
      "One (dev.one, from this workspace's ext) asks for nothing, in the whole workspace",
      "what dev.one does is asked once more: an earlier version of Lares did not store it with your consent",
      expect.stringMatching(
        /^dev\.one runs seen on EntryCreated where "entry\.isImage\(\)"; offers the tools find/,
      ),
    ]);
  });
});

describe("a yes is to real places, which are shown", () => {
  test("an import through a link that is pointed elsewhere is asked again, and neither place is read meanwhile", async () => {
    const folder = await workspace({
      "lares.yaml": JSON.stringify({ import_namespaces: [{ name: "team", workspace: "./vendor" }] }),
    });
    for (const name of ["a", "b"]) await mkdir(join(folder.base, name));
    await folder.link("vendor", join(folder.base, "a"));
    const accepted = await folder.load();
    const store = await decisions(accepted);
    const namespace = (now: CatalogSnapshot) => computeInForce(now, store, new Map()).requests.namespaces[0];
    expect(namespace(accepted)).toMatchObject({ realPath: join(folder.base, "a") });
    await folder.unlink("vendor");
    await folder.link("vendor", join(folder.base, "b"));
    const now = await folder.load();
    expect(isAccepted(now, store)).toBe(false);
    expect(now.digest).not.toBe(accepted.digest);
    expect(computeInForce(now, store, new Map()).pendingAsks).toEqual([
      `the document lets every agent read the shared memory team of the workspace ./vendor → ${join(folder.base, "b")}`,
    ]);
    expect(namespace(now)).toBeUndefined();
  });

  test("an extension through a link that is pointed elsewhere is asked again, also with the same program", async () => {
    const files = documents();
    const folder = await workspace({ "lares.yaml": JSON.stringify({ extensions: [{ path: "./vendor" }] }) });
    for (const name of ["a", "b"]) {
      for (const file of ["extension.yaml", "agent.ts"])
        await folder.write(`../${name}/${file}`, files[`ext/${file}`] ?? "");
    }
    await folder.link("vendor", join(folder.base, "a"));
    const store = await decisions(await folder.load());
    await folder.unlink("vendor");
    await folder.link("vendor", join(folder.base, "b"));
    const now = await folder.load();
    const inForce = computeInForce(now, store, new Map());
    expect(inForce.entries).toEqual([]);
    expect(inForce.pendingAsks).toEqual([
      `One (dev.one, from ./vendor → ${join(folder.base, "b")}) asks for nothing, in the whole workspace`,
    ]);
  });
});

describe("a program contains none of the person's files that the question does not name", () => {
  const importing = (file: string): string => `import data from "./${file}";\n${program}console.log(data);\n`;
  const inRoot = (path: string, more: object = {}): Record<string, string> => ({
    "lares.yaml": JSON.stringify({ extensions: [{ path, ...more }] }),
    "extension.yaml": JSON.stringify({ extension: manifest }),
    "agent.ts": importing("private/key.json"),
    "private/key.json": "{}",
  });
  const refused = (name: string, files: Record<string, string>, reason: RegExp): void =>
    test(name, async () => {
      const now = await (await workspace(files)).load();
      expect(now.entries).toEqual([]);
      expect(now.faults).toEqual([expect.stringMatching(reason)]);
    });

  refused("an extension that is the workspace is refused", inRoot("."), /holds, the workspace/);
  refused(
    "an extension that is a granted folder is refused",
    { ...documents({}, { path: "./ext", grants: { locations: ["ext"] } }) },
    /holds, ext, a folder granted to an agent/,
  );
  refused(
    "an extension that holds a granted folder is refused, whoever is granted it",
    { ...documents({}, { grants: { locations: ["ext/photos"] } }), "ext/photos/a.txt": "a" },
    /holds, ext\/photos, a folder granted/,
  );
  test("an extension through a link to a folder that contains the workspace, or the state, is refused", async () => {
    for (const target of ["workspace", "user", "."]) {
      const folder = await workspace({});
      await mkdir(join(folder.root, ".lares", "extensions"), { recursive: true });
      await mkdir(join(folder.base, target), { recursive: true });
      await writeFile(join(folder.base, target, "extension.yaml"), JSON.stringify({ extension: manifest }));
      await folder.link(".lares/extensions/one", join(folder.base, target));
      const now = await folder.load();
      expect({ target, entries: now.entries }).toEqual({ target, entries: [] });
      expect(now.faults).toEqual([expect.stringMatching(/is, or holds, /)]);
    }
  });
  test("an extension in .lares/extensions works in a granted workspace", async () => {
    const folder = await workspace({
      ".lares/extensions/one/extension.yaml": JSON.stringify({ extension: manifest }),
      ".lares/extensions/one/agent.ts": program,
    });
    const { entries, faults } = await folder.load();
    expect(faults).toEqual([]);
    expect(entries[0]?.program.program?.carries).toEqual([]);
  });

  test("data within the program is named with its size, and a new file of it is asked", async () => {
    const folder = await workspace({
      ...documents(),
      "ext/agent.ts": importing("data.json"),
      "ext/data.json": '{"a":1}',
    });
    const first = await folder.load();
    expect(first.requests.extensions["dev.one"]?.carries).toEqual([{ path: "data.json", bytes: 7 }]);
    const inForce = computeInForce(first, await decisions(), new Map());
    expect(inForce.pendingAsks).toContain(
      "the program of dev.one contains these files, and can read them: data.json (7 bytes)",
    );
  });
  test("source from beside the folder of main is named, source of packages is not", async () => {
    const folder = await workspace({
      ...documents({ main: "src/agent.ts" }),
      "ext/src/agent.ts": `import "../private/x.ts";\nimport "./own.ts";\nimport "pack";\n${program}`,
      "ext/src/own.ts": "export {};\n",
      "ext/private/x.ts": "export {};\n",
      "ext/node_modules/pack/package.json": '{"main":"index.js"}',
      "ext/node_modules/pack/index.js": "export {};\n",
    });
    const { entries } = await folder.load();
    expect(entries[0]?.program.program?.carries?.map(({ path }) => path)).toEqual(["private/x.ts"]);
  });
  test("data of packages is named", async () => {
    const folder = await workspace({
      ...documents(),
      "ext/agent.ts": `import one from "./node_modules/pack/key.json";\nimport two from "pack/other.txt";\n${program}console.log(one, two);\n`,
      "ext/node_modules/pack/package.json": "{}",
      "ext/node_modules/pack/key.json": "{}",
      "ext/node_modules/pack/other.txt": "text",
    });
    const { entries } = await folder.load();
    expect(entries[0]?.program.program?.carries?.map(({ path }) => path).toSorted()).toEqual([
      "node_modules/pack/key.json",
      "node_modules/pack/other.txt",
    ]);
  });
  test("data that git leaves out is in no program; source that it leaves out is named", async () => {
    const folder = await workspace({
      ...documents(),
      ".git/HEAD": "",
      ".gitignore": "secret*\ndist/\n",
      "ext/agent.ts": importing("secret.json"),
      "ext/secret.json": "{}",
      "ext/dist/made.ts": "export default 1;\n",
    });
    expect((await folder.load()).entries[0]?.program).toMatchObject({
      program: null,
      fault: expect.stringMatching(/^The program imports secret\.json, which git leaves out/) as string,
    });
    await folder.write("ext/agent.ts", importing("dist/made.ts"));
    expect((await folder.load()).entries[0]?.program.program?.carries).toEqual([
      { path: "dist/made.ts", bytes: 18 },
    ]);
  });
  test("data beneath a .gitignore that cannot be read is in no program, whatever the folder's own rules say", async () => {
    const folder = await workspace({
      ...documents(),
      ".git/HEAD": "",
      ".gitignore": "x\n".repeat(200_000),
      "ext/.gitignore": "!data.json\n",
      "ext/agent.ts": importing("data.json"),
      "ext/data.json": "{}",
    });
    expect((await folder.load()).entries[0]?.program).toMatchObject({
      program: null,
      fault: expect.stringMatching(/git may leave it out: .*\.gitignore has 400000 bytes/) as string,
    });
  });
  test.each([".env.json", ".hidden/data.json", ".git/config.txt"])("%s is in no program", async (path) => {
    const folder = await workspace({
      ...documents(),
      "ext/agent.ts": importing(path),
      [`ext/${path}`]: "{}",
    });
    expect((await folder.load()).entries[0]?.program).toMatchObject({
      program: null,
      fault: expect.stringMatching(/is hidden; hidden files cannot be part of a program/) as string,
    });
  });
  test("a link in the folder does not make a hidden file another", async () => {
    const folder = await workspace({
      ...documents(),
      "ext/agent.ts": importing("data.json"),
      "ext/.env.json": "{}",
    });
    await folder.link("ext/data.json", ".env.json");
    expect((await folder.load()).entries[0]?.program.fault).toMatch(/"\.env\.json" is hidden/);
  });
});

describe("a model that lares.yaml names for an extension", () => {
  const faces = {
    name: "faces",
    source: { url: "https://models.example.com/faces.onnx" },
    sha256: "a".repeat(64),
    size_mb: 12,
  };
  const own = { ...faces, name: "own" };
  const placeWith = (models: object[]) => workspace(documents({ models: [own] }, { models }));
  const change = (place: Awaited<ReturnType<typeof workspace>>, models: object[]): Promise<void> =>
    place.write("lares.yaml", JSON.stringify({ extensions: [{ path: "./ext", models }] }));
  const modelsOf = (snapshot: CatalogSnapshot, inForce: ReturnType<typeof computeInForce>) => {
    const [agent] = agentsInForce(snapshot, inForce);
    return { names: agent?.authority.models, models: agent?.models };
  };

  test("is asked with its address and digest, and counts once a person accepted it, beside the manifest's own", async () => {
    const place = await placeWith([faces]);
    const snapshot = await place.load();
    const before = computeInForce(snapshot, await decisions(), new Map());
    expect(agentsInForce(snapshot, before)).toEqual([]);
    const asked = before.pendingAsks.join("\n");
    for (const part of ["faces", faces.source.url, faces.sha256]) expect(asked).toContain(part);
    const { cards } = questionOf(snapshot.requests, {
      granted: nothingRequested,
      answered: nothingRequested,
      declined: new Set(),
      inForce: nothingRequested,
    });
    expect(cards[0]?.facts.filter(({ kind }) => kind === "model").map(({ text }) => text)).toEqual([
      "own, up to 12 MiB, downloaded from models.example.com",
      "faces, up to 12 MiB, downloaded from models.example.com, named in this workspace's lares.yaml",
    ]);
    const inForce = computeInForce(snapshot, await decisions(snapshot), new Map());
    expect(modelsOf(snapshot, inForce)).toMatchObject({
      names: ["own", "faces"],
      models: [{ name: "own" }, { name: "faces", sha256: faces.sha256 }],
    });
  });

  test.each([
    ["another address", { source: { url: "https://models.example.com/other.onnx" } }],
    ["another digest", { sha256: "b".repeat(64) }],
    ["a host to be redirected to", { source: { ...faces.source, redirect_hosts: ["evil.example.com"] } }],
    ["a larger size", { size_mb: 13 }],
  ])("is asked again with %s, and until then the accepted one is in force", async (_what, changed) => {
    const place = await placeWith([faces]);
    const accepted = await place.load();
    await change(place, [{ ...faces, ...changed }]);
    const snapshot = await place.load();
    const store = await decisions(accepted);
    expect(isAccepted(snapshot, store)).toBe(false);
    const inForce = computeInForce(snapshot, store, new Map());
    expect(inForce.pendingAsks).not.toEqual([]);
    const { models = [] } = modelsOf(snapshot, inForce);
    expect(models.find(({ name }) => name === "faces")).toMatchObject(faces);
  });

  test("in place of one of the manifest is asked, and does not run before", async () => {
    const place = await placeWith([]);
    const accepted = await place.load();
    await change(place, [{ ...own, sha256: "c".repeat(64) }]);
    const snapshot = await place.load();
    const inForce = computeInForce(snapshot, await decisions(accepted), new Map());
    expect(modelsOf(snapshot, inForce).models).toEqual([own]);
    const after = computeInForce(snapshot, await decisions(accepted, snapshot), new Map());
    expect(modelsOf(snapshot, after)).toMatchObject({
      names: ["own"],
      models: [{ name: "own", sha256: "c".repeat(64) }],
    });
  });

  test("is not asked again if it is removed, and no longer counts", async () => {
    const place = await placeWith([faces]);
    const accepted = await place.load();
    await change(place, []);
    const snapshot = await place.load();
    const store = await decisions(accepted);
    expect(isAccepted(snapshot, store)).toBe(true);
    expect(modelsOf(snapshot, computeInForce(snapshot, store, new Map())).names).toEqual(["own"]);
  });

  test("gives the extension no other right: its hosts and permissions stay as they are, and denying models denies it", async () => {
    const place = await workspace(
      documents({ models: [own] }, { models: [faces], grants: { deny: ["use_models"] } }),
    );
    const snapshot = await place.load();
    const [agent] = agentsInForce(snapshot, computeInForce(snapshot, await decisions(snapshot), new Map()));
    expect(agent?.authority).toMatchObject({ effective: {}, hosts: [] });
    const call = { method: "ai/infer", params: { model: "faces", inputs: [] } };
    expect(agent && decideHostCall(agent.authority, call)).toMatchObject({ allowed: false });
    expect(agent && permissionParams(agent).models).toEqual([]);
  });
});
