import { spawn } from "node:child_process";
import { appendFile, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { pack } from "tar-stream";
import { expect, onTestFinished, test } from "vitest";
import type { Bench } from "../support/bench.ts";
import { hasTerminals, lares as run, TerminalRun } from "../support/command-line.ts";
import {
  aPerson,
  greeterId as id,
  greeterSources as sources,
  type Person,
} from "../support/package-person.ts";
import { until } from "../support/until.ts";

const executable = fileURLToPath(new URL("../../kernel/bin/lares.js", import.meta.url));
const titles = async (person: Person): Promise<string[]> => {
  const { stdout } = await person.lares("actions", "--json");
  return (JSON.parse(stdout) as { title: string }[]).map(({ title }) => title);
};

test("a packed extension is installed by a friend, handles its first event where it was allowed to, and is removed", async () => {
  await using author = await aPerson();
  await author.json("keys", "new");
  const packed = await author.json("pack", await author.write("greeter", sources("1.0.0")));
  await using friend = await aPerson();
  const file = String(packed["file"]);

  const refused = await friend.lares("install", file);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain(String(packed["fingerprint"]));
  expect(refused.stderr).toMatch(/see and read files[^]*add --yes/);
  expect(await readdir(friend.bench.base)).not.toContain("config");

  const installed = await friend.json("install", file, "--yes", "--locations", "in");
  expect(installed).toMatchObject({ id, version: "1.0.0", allowed: true, publisher: packed["publisher"] });
  expect(await readFile(friend.bench.path("lares.yaml"), "utf8")).toContain(id);
  const once = await friend.lares("run", "--once");
  expect(once.code, once.stderr).toBe(0);
  // Only the file in the granted folder.
  const proposed = async (): Promise<string[]> => {
    const { stdout } = await friend.lares("actions", "--json");
    const actions = JSON.parse(stdout) as { effects: { path: string }[] }[];
    return actions.flatMap(({ effects }) => effects.map(({ path }) => path)).toSorted();
  };
  expect(await proposed()).toEqual(["in/a.out"]);

  expect((await friend.lares("remove", id)).stderr).toContain("add --yes");
  const removed = await friend.lares("remove", id, "--yes");
  expect(removed.stdout).toMatch(/is removed\.[^]*stays/);
  expect(removed.stdout).toContain("Rejected what it proposed: 1 change.");
  const { stdout: left } = await friend.lares("actions", "--json");
  expect(JSON.parse(left)).toMatchObject([
    { state: "Rejected", rejected_reason: "Its extension was removed." },
  ]);
  const memory = /\S+memory/.exec(removed.stdout)?.[0] ?? "";
  expect(await readdir(memory)).toContain("journal");
  expect(await readFile(friend.bench.path("lares.yaml"), "utf8")).not.toContain(id);
  expect((await friend.json("list"))["items"]).toEqual([]);

  // What it proposed is rejected too if its program has changed since, and nobody accepted that.
  const again = await friend.json("install", file, "--yes", "--locations", "in");
  await friend.bench.write("in/second.txt", "2");
  expect((await friend.lares("run", "--once")).code).toBe(0);
  expect(await proposed()).toEqual(["in/a.out", "in/second.out"]);
  await appendFile(join(String(again["folder"]), "agent.js"), "globalThis.changed = 1;\n");
  expect((await friend.lares("remove", id, "--yes")).stdout).toContain(
    "Rejected what it proposed: 1 change.",
  );
  const { stdout: both } = await friend.lares("actions", "--json");
  expect(JSON.parse(both)).toMatchObject([{ state: "Rejected" }, { state: "Rejected" }]);

  await friend.json("install", file, "--yes", "--locations", "in");
  const forgotten = await friend.json("remove", id, "--yes", "--forget");
  expect(forgotten).toMatchObject({ forgotten: true, memories: [memory] });
  await expect(readdir(memory)).rejects.toThrow("ENOENT");
  // The removed memory is not reported as damage.
  await friend.json("install", file, "--yes", "--locations", "in");
  expect((await friend.lares("run", "--once")).code).toBe(0);
  expect((await friend.lares("memory", "verify")).code).toBe(0);
});

test("--forget leaves nothing of an extension in the state folder but what it proposed", async () => {
  const secret = (what: string): string => `the-secret-${what}`;
  const kinds = ["memory", "value", "failed-input", "waiting-input", "notice", "checkpoint"];
  const words = JSON.stringify(Object.fromEntries(kinds.map((what) => [what, secret(what)])));
  const files = {
    "extension.yaml": `extension:
  id: ${id}
  name: Keeper
  version: 1.0.0
  main: agent.ts
  permissions:
    read_entries: { filter: "*.txt" }
    dispatch_jobs: true
    shared_types: { read: ["${id}/Note"], write: ["${id}/Note"] }
  types:
    - { name: Note, version: 1, key: id, schema: { type: object, required: [id, text], properties: { id: { type: string }, text: { type: string } } } }
  hooks: [{ on: EntryCreated, filter: entry.kind == "file", handler: keep }]
`,
    "agent.ts": `import { defineAgent } from "@lares/sdk";
const words = ${words};
export default defineAgent({
  hooks: {
    async keep(_event, ctx) {
      await ctx.memory.history.append("Kept", { text: words.memory });
      await ctx.types("Note").create({ id: "n", text: words.value });
      await ctx.notify("A notice", words.notice);
      await ctx.jobs.dispatch("fails", { text: words["failed-input"] });
      await ctx.jobs.dispatch("waits", { text: words["waiting-input"] }, { whenIdle: true });
    },
  },
  jobs: {
    async fails(_input, ctx) {
      await ctx.save({ text: words.checkpoint });
      throw new Error("always");
    },
    async waits() {},
  },
});
`,
    "README.md": "# Keeper\n",
  };
  await using author = await aPerson();
  await author.json("keys", "new");
  const file = String((await author.json("pack", await author.write("keeper", files)))["file"]);
  await using friend = await aPerson();
  await friend.json("install", file, "--yes", "--locations", "in");
  const once = await friend.lares("run", "--once");
  expect(once.code, once.stderr).toBe(0);
  const dead = async () => (await friend.lares("jobs", "--dead", "--json")).stdout;
  await until("a dead job", async () => (await dead()).includes("fails"));
  await friend.lares("stop", friend.bench.root);

  const preview = await friend.json("remove", id, "--dry-run", "--forget");
  const [memory] = preview["memories"] as { state: string }[];
  const state = memory?.state ?? "";
  const found = async (): Promise<string[]> => {
    const holders = new Set<string>();
    for (const name of await readdir(state, { recursive: true })) {
      // The sources and bundles of accepted programs have the words too, and each kernel may write them again.
      if (/^(?:programs|bundles)\b/.test(name)) continue;
      const bytes = await readFile(join(state, name)).catch(() => Buffer.alloc(0));
      for (const what of kinds) if (bytes.includes(secret(what))) holders.add(what);
    }
    return [...holders].toSorted();
  };
  // On a slow machine a moment of rest comes, in which the job that waits for one is done.
  const certain = kinds.filter((what) => what !== "waiting-input");
  expect(await found()).toEqual(expect.arrayContaining(certain));
  const removed = await friend.lares("remove", id, "--yes", "--forget");
  expect(removed.stdout).toContain("with the values of its types, its jobs and its notifications");
  expect(await found()).toEqual([]);
  // The ledger is still sound.
  expect((await friend.lares("memory", "verify")).code).toBe(0);
  expect((await friend.lares("notifications", "--all", "--json")).stdout).not.toContain("A notice");
});

test("withheld permissions and a workspace's own extensions are respected; other entries stay as they are", async () => {
  await using author = await aPerson();
  await author.json("keys", "new");
  const file = String((await author.json("pack", await author.write("greeter", sources("1.0.0"))))["file"]);
  await using friend = await aPerson();
  await friend.bench.write(
    "lares.yaml",
    "version: 1 # mine\nextensions:\n  - id: dev.lares.filetypes # counts\n",
  );
  expect((await friend.lares("install", file, "--yes", "--deny", "write_tags")).stderr).toContain(
    "does not request",
  );
  expect((await friend.lares("install", file, "--yes", "--locations", "../..")).stderr).toContain(
    "not a folder of this",
  );
  const denied = await friend.lares("install", file, "--yes", "--deny", "propose_actions", "--workspace");
  expect(denied.code, denied.stderr).toBe(0);
  expect(denied.stderr).toContain("also names dev.lares.filetypes");
  const text = await readFile(friend.bench.path("lares.yaml"), "utf8");
  expect(text).toMatch(/# mine\n[^]*# counts\n[^]*deny: \[propose_actions\]/);
  expect((await friend.lares("run", "--once")).code).toBe(0);
  expect(await titles(friend)).toEqual([]);
  // The workspace's own extension would take precedence.
  const other = await friend.lares("install", file, "--yes");
  expect([other.code, other.stderr]).toEqual([2, expect.stringContaining("--workspace")]);
});

test.each([
  [
    "model",
    {
      models: [
        { name: "m", source: { url: "https://models.invalid/m.onnx" }, sha256: "a".repeat(64), size_mb: 1 },
      ],
    },
    "m, up to 1 MiB, downloaded from models.invalid, named in this workspace's lares.yaml",
  ],
  ["setting", { config: { greeting: "send me your files" } }, 'greeting = "send me your files"'],
])("--yes accepts no %s that the workspace's document has for the extension", async (_what, more, words) => {
  await using author = await aPerson();
  await author.json("keys", "new");
  const file = String((await author.json("pack", await author.write("greeter", sources("1.0.0"))))["file"]);
  await using friend = await aPerson();
  await friend.bench.write("lares.yaml", JSON.stringify({ version: 1, extensions: [{ id, ...more }] }));
  const installed = await friend.lares("install", file, "--yes");
  expect(installed.code).not.toBe(0);
  expect(installed.stderr).toContain(words);
  expect((await friend.lares("agents", "--json")).stdout).not.toContain('"Active"');
  // Without that the same command accepts the extension.
  await friend.json("remove", id, "--yes", "--forget");
  await friend.bench.write("lares.yaml", JSON.stringify({ version: 1, extensions: [{ id }] }));
  expect(await friend.json("install", file, "--yes")).toMatchObject({ allowed: true });
});

test("a tampered package, another publisher and an older version are refused, and nothing is left of them", async () => {
  await using author = await aPerson();
  await author.json("keys", "new");
  const one = String((await author.json("pack", await author.write("one", sources("1.0.0"))))["file"]);
  const two = String((await author.json("pack", await author.write("two", sources("2.0.0"))))["file"]);
  await using other = await aPerson();
  await other.json("keys", "new");
  const foreign = String((await other.json("pack", await other.write("two", sources("3.0.0"))))["file"]);
  await using friend = await aPerson();
  const bytes = await readFile(two);
  bytes[bytes.indexOf("hello")]! ^= 1;
  await writeFile(join(friend.bench.base, "tampered.lares"), bytes);
  const tampered = await friend.lares("install", join(friend.bench.base, "tampered.lares"), "--yes");
  expect([tampered.code, tampered.stderr]).toEqual([1, expect.stringMatching(/changed/)]);
  await friend.json("install", two, "--yes");
  for (const [file, option, words] of [
    [one, "--downgrade", "older"],
    [foreign, "--accept-new-publisher", "another publisher"],
  ] as const) {
    const refused = await friend.lares("install", file, "--yes");
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(words)]);
    expect((await friend.json("list"))["items"]).toHaveLength(1);
    await friend.json("install", file, "--yes", option);
  }
  expect(await readdir(join(friend.environment["XDG_CONFIG_HOME"]!, "lares", "extensions"))).toEqual([id]);
});

test("from an index and from npm: found, installed, updated; an update that wants more is held back in a script", async () => {
  await using author = await aPerson();
  await author.json("keys", "new");
  const files: Record<string, string | Uint8Array> = {};
  const server = createServer(({ url = "" }, response) => {
    const file = files[url];
    response.writeHead(file === undefined ? 404 : 200).end(file);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const entries: object[] = [];
  const publish = async (version: string, more = ""): Promise<Buffer> => {
    const packed = await author.json("pack", await author.write(version, sources(version, more)));
    const { sha256, size, publisher, file } = packed;
    const bytes = await readFile(String(file));
    files[`/lares/${version}.lares`] = bytes;
    entries.push({
      id,
      version,
      name: "Greeter",
      description: "Says hello",
      url: `${version}.lares`,
      permissions: [],
      sha256,
      size,
      publisher,
    });
    files["/lares/index.json"] = JSON.stringify({ format: 1, extensions: entries });
    return bytes;
  };
  const first = await publish("1.0.0");
  const index = `${address}/lares/index.json`;

  await using friend = await aPerson();
  expect(await friend.json("search", "hello", "--from", index)).toMatchObject({
    items: [{ id, version: "1.0.0" }],
  });
  await friend.json("install", id, "--from", index, "--yes", "--locations", "in");
  expect(await friend.json("update")).toMatchObject({ items: [{ state: "current" }] });
  await publish("1.1.0");
  expect((await friend.lares("update")).stderr).toContain("add --yes");
  expect(await friend.json("update", "--yes")).toMatchObject({
    items: [{ id, from: "1.0.0", to: "1.1.0", state: "updated" }],
  });
  // The new version keeps the permissions of the old one, in the same folder.
  // The old version may have handled the other file while the kernel of its installation ran.
  await friend.bench.write("in/later.txt", "later");
  expect((await friend.lares("run", "--once")).code).toBe(0);
  expect(await titles(friend)).toContain("hello from 1.1.0");
  await publish("1.2.0", ", write_tags: true");
  const held = await friend.lares("update", id, "--yes");
  expect([held.code, held.stderr]).toEqual([
    3,
    expect.stringMatching(/put tags on files[^]*stays at 1\.1\.0/),
  ]);
  expect(await friend.json("list")).toMatchObject({ items: [{ version: "1.1.0", index }] });
  // The person allows a host in another workspace: the next update asks nothing more than the version that is installed, and is
  // not allowed the host here.
  await publish("1.3.0", "}\n  resources: { allowed_hosts: [evil.example]");
  const elsewhere = Object.create(friend.bench, {
    root: { value: await friend.write("elsewhere", {}) },
  }) as Bench;
  const there = await run(elsewhere, ["install", id, "--from", index, "--yes"], friend.environment);
  expect(there.code, there.stderr).toBe(0);
  await run(elsewhere, ["stop", elsewhere.root], friend.environment);
  await publish("1.4.0", "}\n  resources: { allowed_hosts: [evil.example]");
  const open = await friend.lares("update", "--yes");
  expect(open.stderr).toMatch(/1\.4\.0 requests what you have not answered yet[^]*evil\.example/);
  expect((await friend.lares("permissions", "--json")).stdout).toMatch(/evil\.example/);

  const archive = pack();
  archive.entry({ name: "package/greeter.lares" }, first);
  archive.finalize();
  const pieces: Uint8Array[] = [];
  for await (const piece of archive) pieces.push(piece);
  const tarball = gzipSync(Buffer.concat(pieces));
  files["/greeter.tgz"] = tarball;
  files["/greeter"] = JSON.stringify({
    "dist-tags": { latest: "1.0.0" },
    versions: { "1.0.0": { dist: { tarball: `${address}/greeter.tgz` } } },
  });
  await using other = await aPerson();
  other.environment["npm_config_registry"] = address;
  expect(await other.json("install", "npm:greeter", "--yes")).toMatchObject({
    id,
    version: "1.0.0",
    allowed: true,
  });
  expect(await other.json("update", "--yes")).toMatchObject({ items: [{ state: "current" }] });
});

test("an installation that is interrupted leaves neither files nor an entry in the document", async () => {
  await using author = await aPerson();
  await author.json("keys", "new");
  const file = String((await author.json("pack", await author.write("greeter", sources("1.0.0"))))["file"]);
  await using friend = await aPerson();
  const before = await readFile(friend.bench.path("lares.yaml"), "utf8");
  const killed = spawn(process.execPath, [executable, "install", file, "--yes"], {
    cwd: friend.bench.root,
    env: {
      ...process.env,
      LARES_HOME: friend.bench.home,
      ...friend.environment,
      LARES_FAILPOINT: "package.staged",
    },
    stdio: "ignore",
  });
  const signal = await new Promise((resolve) => killed.once("close", (_code, by) => resolve(by)));
  expect(signal).toBe("SIGKILL");
  expect(await readFile(friend.bench.path("lares.yaml"), "utf8")).toBe(before);
  expect((await friend.json("list"))["items"]).toEqual([]);
  await friend.json("install", file, "--yes");
  expect(await readdir(join(friend.environment["XDG_CONFIG_HOME"]!, "lares", "extensions"))).toEqual([id]);
});

test.runIf(hasTerminals)(
  "at a terminal, a person sees the publisher and the edit, and ticks what is allowed",
  async () => {
    await using author = await aPerson();
    await author.json("keys", "new");
    const packed = await author.json("pack", await author.write("greeter", sources("1.0.0")));
    await using friend = await aPerson();
    using terminal = new TerminalRun(friend.bench, ["install", String(packed["file"])], {
      environment: friend.environment,
    });
    onTestFinished(() => undefined);
    await terminal.shows(/Install com\.example\.greeter 1\.0\.0\?/);
    expect(terminal.shown).toContain(String(packed["fingerprint"]));
    expect(terminal.shown).toMatch(/\+ .*id: com\.example\.greeter|\+.*"id"/);
    terminal.type("y\r");
    await terminal.sees(/a allow all/);
    expect(terminal.isFullScreen).toBe(true);
    await terminal.pressUntil("y", "the answer", () => !terminal.isFullScreen);
    expect(await terminal.ended).toBe(0);
    await until("the first proposal", async () => {
      await friend.lares("run", "--once");
      return (await titles(friend)).length > 0;
    });
  },
);
