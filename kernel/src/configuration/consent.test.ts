import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, describe, test } from "vitest";
import type { CatalogSnapshot } from "./catalog-snapshot.ts";
import { computeInForce, isAccepted } from "./in-force.ts";
import { configurationInForce } from "./settings-in-force.ts";
import { program, workspace, documents, agentsInForce } from "./testing/consent-workspace.ts";
import { decisions } from "./testing/snapshots.ts";

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
