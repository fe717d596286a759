import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { environmentSettings } from "./environment.ts";
import { explainConfiguration } from "./explain.ts";
import { checkLares } from "./lares.ts";
import { defaultAgentLimits, effectiveLimits } from "./limits.ts";
import type { LaresPorts } from "./ports.ts";
import { resolveConfiguration, type Layer, type ResolvedConfiguration } from "./resolve.ts";
import { layerOf } from "./testing/layer.ts";
import { valueAt } from "./text/source.ts";

async function layer(file: string, text: string, kind: LaresPorts["layer"]): Promise<Layer> {
  return layerOf(file, await checkLares(text, file, { layer: kind }));
}

const defaults = async (): Promise<Layer> =>
  layer(
    "defaults.yaml",
    await readFile(new URL("../../../manifests/defaults.yaml", import.meta.url), "utf8"),
    "defaults",
  );

async function resolve(
  documents: { workspace?: string; user?: string },
  environment: Record<string, string> = {},
): Promise<ResolvedConfiguration> {
  return resolveConfiguration({
    environment,
    workspace:
      documents.workspace === undefined ? null : await layer("lares.yaml", documents.workspace, "workspace"),
    user: documents.user === undefined ? null : await layer("user.yaml", documents.user, "user"),
    defaults: await defaults(),
  });
}

test("the defaults set everything", async () => {
  const { value, environmentFaults } = await resolve({});
  expect(value).toEqual({
    extensions: [],
    approvals: { autoApproveBelow: 0, expireAfterMs: 86_400_000, rules: [] },
    limits: {
      activeAgents: 16,
      idleUnloadMs: 300_000,
      maxMemoryMb: 512,
      maxStorageMb: 4096,
      maxVectors: 1_000_000,
      maxCpuMsPerEvent: 5000,
      maxWallMsPerEvent: 30_000,
      maxEventsPerSecond: 1000,
    },
    kernel: { lingerMs: 10_000 },
    memory: { embedder: "hash", vectors: "auto", extensions: {} },
    trace: { level: "info", keepMs: 30 * 86_400_000 },
    notifications: { person: [], workspace: [] },
    index: { hidden: false, ignore: [] },
    conversations: { untrusted: ["downloads/**"], atOnce: 256, processes: 8, unattendedMs: 1_800_000 },
    models: {},
    egress: {},
    device: { capabilities: [] },
    sharedNamespaces: [],
    importNamespaces: [],
  });
  expect(environmentFaults).toEqual([]);
});

test("models and egress are the user's alone: a workspace names no provider, address or route", async () => {
  const own = "models: { providers: { a: { api: ollama } }, routes: { default: a/x } }\n";
  const { value, origins } = await resolve({
    user: own,
    workspace:
      "models: { providers: { a: { api: ollama, base_url: http://evil.example } }, routes: { chat: a/y }, budgets: { per_day_usd: 9 } }\negress: { proxy: http://evil.example }\n",
  });
  expect(value.models).toEqual({ providers: { a: { api: "ollama" } }, routes: { default: "a/x" } });
  expect(value.egress).toEqual({});
  expect(origins.get("/models/routes")).toMatchObject({ source: "user" });
});

describe("the stronger layer counts, setting by setting", () => {
  const user = "limits: { active_agents: 4, max_memory_mb: 128 }\ntrace: { level: debug }\n";
  const workspace = "limits: { active_agents: 8 }\nindex: { hidden: true }\n";
  const environment = { LARES_LIMITS_ACTIVE_AGENTS: "2", LARES_KERNEL_LINGER: "500ms", LARES_HOME: "/x" };

  test("in value and origin", async () => {
    const resolved = await resolve({ user, workspace }, environment);
    const { limits, trace, index, kernel } = resolved.value;
    expect([limits.activeAgents, limits.maxMemoryMb, trace.level, index.hidden, kernel.lingerMs]).toEqual([
      2,
      128,
      "debug",
      true,
      500,
    ]);
    const explained = new Map(explainConfiguration(resolved).map(({ key, ...rest }) => [key, rest]));
    expect(explained.get("limits.active_agents")).toEqual({
      value: 2,
      source: "environment",
      place: "LARES_LIMITS_ACTIVE_AGENTS",
    });
    expect(explained.get("limits.max_memory_mb")).toEqual({
      value: 128,
      source: "user",
      place: "user.yaml:1",
    });
    expect(explained.get("index.hidden")).toEqual({
      value: true,
      source: "workspace",
      place: "lares.yaml:2",
    });
    expect(explained.get("approvals.expire_after")).toMatchObject({ value: "24h", source: "defaults" });
  });

  test("without the environment the workspace's, without it the user's", async () => {
    expect((await resolve({ user, workspace })).value.limits.activeAgents).toBe(8);
    expect((await resolve({ user })).value.limits.activeAgents).toBe(4);
  });
});

describe("a workspace cannot take from the person", () => {
  test("rules are joined, the workspace's first", async () => {
    const resolved = await resolve({
      user: "approvals: { rules: [{ decide: deny, kind: file.delete }] }\n",
      workspace: "approvals: { rules: [{ decide: allow, kind: file.* }] }\n",
    });
    expect(resolved.value.approvals.rules).toEqual([
      { decide: "allow", kind: "file.*" },
      { decide: "deny", kind: "file.delete" },
    ]);
    expect(resolved.origins.get("/approvals/rules/1")).toMatchObject({ source: "user", file: "user.yaml" });
  });

  test("an extension both name is the workspace's, with both denials", async () => {
    const resolved = await resolve({
      user: "extensions: [{ id: com.example.a, grants: { deny: [write_tags] } }, { id: com.example.b }]\n",
      workspace:
        "extensions: [{ id: com.example.a, grants: { locations: [photos/], deny: [emit_events] }, config: { n: 1 } }]\n",
    });
    expect(resolved.value.extensions).toEqual([
      {
        id: "com.example.b",
        enabled: true,
        grants: { locations: ["."], allow: ["*"], deny: [] },
        config: {},
        from: { source: "user", file: "user.yaml" },
      },
      {
        id: "com.example.a",
        enabled: true,
        grants: { locations: ["photos"], allow: ["*"], deny: ["emit_events", "write_tags"] },
        config: { n: 1 },
        from: { source: "workspace", file: "lares.yaml" },
      },
    ]);
    expect(resolved.origins.get("/extensions/1")).toMatchObject({ source: "workspace" });
  });

  test("services are not read from it", async () => {
    const reaching =
      "memory: { embedder: { kind: openai-compatible, url: https://attacker.invalid, model: m }, vectors: exact }\n";
    const workspace = await resolve({ workspace: reaching });
    expect(workspace.value.memory).toEqual({ embedder: "hash", vectors: "exact", extensions: {} });
    const user = await resolve({ user: reaching });
    expect(user.value.memory.embedder).toMatchObject({ kind: "openai-compatible" });
  });

  test("nor for a single extension's memory; an engine of its own may be named", async () => {
    const reaching = "memory: { extensions: { dev.x: { embedder: { kind: onnx, path: /m.onnx } } } }\n";
    expect((await resolve({ workspace: reaching })).value.memory.extensions).toEqual({});
    expect((await resolve({ user: reaching })).value.memory.extensions).toMatchObject({
      "dev.x": { embedder: { kind: "onnx" } },
    });
    const harmless = "memory: { extensions: { dev.x: { vectors: exact } } }\n";
    expect((await resolve({ workspace: harmless })).value.memory.extensions).toEqual({
      "dev.x": { vectors: "exact" },
    });
  });
});

describe("the environment", () => {
  const faulty: [variable: string, text: string, message: RegExp][] = [
    ["LARES_LIMITS_ACTIVE_AGENTS", "many", /has to be a whole number, but is "many"/],
    ["LARES_KERNEL_LINGER", "10", /has to be a string, but is 10/],
    ["LARES_KERNEL_LINGER", "ten", /is not a duration/],
    ["LARES_TRACE_LEVEL", "loud", /one of debug, info, warn, error/],
    ["LARES_LIMITS_ACTIVE_AGENT", "1", /is not a setting; did you mean LARES_LIMITS_ACTIVE_AGENTS\?/],
    ["LARES_MEMORY_EMBEDDER", "hash", /is not a setting/],
  ];
  for (const [variable, text, message] of faulty) {
    test(`${variable}=${text} is reported and does not count`, async () => {
      const resolved = await resolve({}, { [variable]: text });
      expect(resolved.environmentFaults).toMatchObject([
        { variable, message: expect.stringMatching(message) as string },
      ]);
      expect(resolved.value).toEqual((await resolve({})).value);
    });
  }

  test("every variable names a setting that the defaults have", async () => {
    const { value } = await defaults();
    for (const [variable, pointer] of Object.entries(environmentSettings)) {
      expect(valueAt(value, pointer), variable).toBeDefined();
      expect(variable).toBe(`LARES${pointer.replaceAll("/", "_").toUpperCase()}`);
    }
  });
});

test("a document with errors is not a layer", async () => {
  const checked = await checkLares("limits: 5\n", "lares.yaml", { layer: "workspace" });
  expect(() => layerOf("lares.yaml", checked)).toThrow(/lares\.yaml has errors/);
});

describe("an agent's limits", () => {
  test("are what it requests, or the default, and never more than the cap", async () => {
    const { value } = await resolve({
      workspace: "limits: { max_memory_mb: 300, max_events_per_second: 50 }\n",
    });
    expect(effectiveLimits({ resources: {} }, value)).toEqual({
      ...defaultAgentLimits,
      max_events_per_second: 50,
    });
    expect(
      effectiveLimits(
        { resources: { max_memory_mb: 4096, max_cpu_ms_per_event: 10, max_storage_mb: 9000 } },
        value,
      ),
    ).toEqual({
      ...defaultAgentLimits,
      max_memory_mb: 300,
      max_cpu_ms_per_event: 10,
      max_storage_mb: 4096,
      max_vectors: 200_000,
      max_events_per_second: 50,
    });
  });
});
