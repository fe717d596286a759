import { isLocalOnly, reachableHosts } from "./outside.ts";
import { describe, expect, test } from "vitest";
import type { Authority, PermissionName, Permissions } from "../base/vocabulary/permissions.ts";
import {
  decideHostCall,
  decideSharedText,
  effectivePermissions,
  hostCallMethods,
  inGrantedScope,
  isVisible,
} from "./decide.ts";

const full: Permissions = {
  read_entries: { filter: "*.{jpg,png}" },
  write_sidecars: { kinds: ["faces"] },
  write_tags: true,
  write_custom_fields: { namespace: "photos" },
  dispatch_jobs: true,
  see_agents: true,
  propose_actions: ["file.*", "folder.create"],
  emit_events: ["Seen"],
  call_tools: ["other.agent/search", "whole.agent/*"],
  shared_data: { read: ["people"], write: ["people"] },
  shared_types: { read: ["other.agent/Person", "whole.agent/*"], write: ["other.agent/Person"] },
  use_models: [{ category: "chat" }, { category: "embedding" }],
  use_credentials: ["weather"],
};

function authority(change: Partial<Authority> = {}): Authority {
  return {
    extension: "dev.test.agent",
    requested: full,
    effective: full,
    denied: [],
    locations: ["photos", "archive"],
    protectedPaths: [],
    forbiddenPaths: ["photos/state"],
    memory: true,
    namespaces: {},
    hosts: ["api.example.com"],
    models: ["faces"],
    ...change,
  };
}

function without(name: PermissionName, permissions: Permissions): Permissions {
  const rest: Record<string, unknown> = { ...permissions };
  delete rest[name];
  return rest;
}

function outcome(who: Authority, method: string, params: unknown): string {
  const decision = decideHostCall(who, { method, params });
  if (decision.allowed) return "allowed";
  const { code, facts } = decision.error;
  return facts.permission === undefined ? code : `${code} ${JSON.stringify(facts.permission).slice(1, -1)}`;
}

const inside = "photos/a.jpg";
const outside = "secret/a.jpg";

interface Row {
  readonly method: string;
  readonly permission: PermissionName | null;
  readonly params: unknown;
  readonly outOfScope?: unknown;
  readonly filtered?: unknown;
}

const effect = (value: object): unknown => ({ title: "t", reason: "r", effects: [value] });

function effectRows(method: string): Row[] {
  const write = { kind: "file.write", content: "x" };
  return [
    {
      method,
      permission: "propose_actions",
      params: effect({ ...write, path: inside }),
      outOfScope: effect({ ...write, path: outside }),
    },
    {
      method,
      permission: "propose_actions",
      params: effect({ kind: "file.edit", path: inside, edits: [] }),
      outOfScope: effect({ kind: "file.edit", path: "../x", edits: [] }),
    },
    {
      method,
      permission: "propose_actions",
      params: effect({ kind: "file.move", from: inside, to: "archive/a.jpg" }),
      outOfScope: effect({ kind: "file.move", from: inside, to: outside }),
    },
    {
      method,
      permission: "propose_actions",
      params: effect({ kind: "file.move", from: inside, to: "archive/b.jpg" }),
      outOfScope: effect({ kind: "file.move", from: outside, to: inside }),
    },
    {
      method,
      permission: "propose_actions",
      params: effect({ kind: "file.delete", path: inside }),
      outOfScope: effect({ kind: "file.delete", path: "photos/.git/config" }),
    },
    {
      method,
      permission: "propose_actions",
      params: effect({ kind: "folder.create", path: "photos/new" }),
      outOfScope: effect({ kind: "folder.create", path: "/tmp/x" }),
    },
    {
      method,
      permission: "write_tags",
      params: effect({ kind: "tag.add", path: inside, tag: "x" }),
      outOfScope: effect({ kind: "tag.add", path: outside, tag: "x" }),
    },
    {
      method,
      permission: "write_tags",
      params: effect({ kind: "tag.remove", path: inside, tag: "x" }),
      outOfScope: effect({ kind: "tag.remove", path: outside, tag: "x" }),
    },
    {
      method,
      permission: "write_custom_fields",
      params: effect({ kind: "field.set", path: inside, namespace: "photos", key: "k", value: 1 }),
      outOfScope: effect({ kind: "field.set", path: outside, namespace: "other", key: "k", value: 1 }),
      filtered: effect({ kind: "field.set", path: inside, namespace: "other", key: "k", value: 1 }),
    },
    {
      method,
      permission: "write_sidecars",
      params: effect({ kind: "sidecar.write", path: inside, sidecar: "faces", data: {} }),
      outOfScope: effect({ kind: "sidecar.write", path: outside, sidecar: "places", data: {} }),
      filtered: effect({ kind: "sidecar.write", path: inside, sidecar: "places", data: {} }),
    },
  ];
}

const rows: Row[] = [
  { method: "vdfs/query", permission: "read_entries", params: { path: "**" } },
  { method: "vdfs/count", permission: "read_entries", params: {} },
  { method: "vdfs/copies", permission: "read_entries", params: { content_id: "sha256:x" } },
  { method: "vdfs/get", permission: "read_entries", params: { id: "1" } },
  ...["vdfs/get", "vdfs/read", "vdfs/thumbnail", "vdfs/sidecar/read"].map((method): Row => ({
    method,
    permission: "read_entries",
    params: { path: inside, sidecar: "faces" },
    outOfScope: { path: "secret/a.txt", sidecar: "faces" },
    filtered: { path: "photos/a.txt", sidecar: "faces" },
  })),
  ...effectRows("actions/preview"),
  ...effectRows("actions/propose"),
  { method: "actions/get", permission: null, params: { id: "1" } },
  { method: "actions/settled", permission: null, params: { id: "1" } },
  { method: "actions/withdraw", permission: null, params: { id: "1" } },
  { method: "agents/list", permission: "see_agents", params: {} },
  { method: "jobs/dispatch", permission: "dispatch_jobs", params: { name: "j" } },
  { method: "jobs/progress", permission: "dispatch_jobs", params: { fraction: 1 } },
  { method: "jobs/task", permission: "dispatch_jobs", params: { name: "t", input: 1 } },
  { method: "jobs/checkpoint", permission: "dispatch_jobs", params: { data: 1 } },
  { method: "tools/progress", permission: null, params: { call_id: "1", fraction: 1 } },
  {
    method: "tools/call",
    permission: "call_tools",
    params: { agent: "other.agent", name: "search" },
    filtered: { agent: "other.agent", name: "erase" },
  },
  { method: "tools/call", permission: "call_tools", params: { agent: "whole.agent", name: "any" } },
  { method: "tools/call", permission: null, params: { agent: "dev.test.agent", name: "own" } },
  { method: "events/emit", permission: "emit_events", params: { name: "Seen" }, filtered: { name: "Other" } },
  { method: "shared/read", permission: "shared_data", params: { key: "people" }, filtered: { key: "x" } },
  { method: "shared/write", permission: "shared_data", params: { key: "people" }, filtered: { key: "x" } },
  ...["types/get", "types/query"].flatMap((method): Row[] => [
    {
      method,
      permission: "shared_types",
      params: { type: "other.agent/Person" },
      filtered: { type: "other.agent/Place" },
    },
    { method, permission: "shared_types", params: { type: "whole.agent/Any" }, filtered: { type: "Person" } },
    { method, permission: null, params: { type: "dev.test.agent/Own" } },
  ]),
  ...["types/create", "types/update", "types/remove"].flatMap((method): Row[] => [
    {
      method,
      permission: "shared_types",
      params: { type: "other.agent/Person" },
      filtered: { type: "whole.agent/Any" },
    },
    { method, permission: null, params: { type: "dev.test.agent/Own" } },
  ]),
  {
    method: "ai/generate",
    permission: "use_models",
    params: { prompt: "p" },
    filtered: { category: "faces" },
  },
  { method: "ai/embed", permission: "use_models", params: { texts: ["t"] } },
  { method: "ai/infer", permission: null, params: { model: "faces", inputs: [] } },
  { method: "ai/models", permission: "use_models", params: {} },
  {
    method: "credentials/get",
    permission: "use_credentials",
    params: { name: "weather" },
    filtered: { name: "bank" },
  },
  { method: "http/fetch", permission: null, params: { url: "https://api.example.com/x" } },
  { method: "blobs/write", permission: null, params: { base64: "" } },
  { method: "blobs/read", permission: null, params: { blob: "b", length: 1 } },
  { method: "trace", permission: null, params: { level: "info", message: "m" } },
  { method: "notify", permission: null, params: { title: "t", message: "m" } },
  ...effectRows("notify").map((row): Row => {
    const asAction = (params: unknown): unknown => ({
      title: "t",
      action: (params as { effects: unknown }).effects,
    });
    return {
      ...row,
      params: asAction(row.params),
      ...(row.outOfScope === undefined ? {} : { outOfScope: asAction(row.outOfScope) }),
      ...(row.filtered === undefined ? {} : { filtered: asAction(row.filtered) }),
    };
  }),
];
const memoryMethods = hostCallMethods.filter((method) => method.startsWith("memory/"));

describe("http/fetch", () => {
  const fetching = (url: unknown, hosts?: readonly string[], onBehalfOf?: readonly Authority[]): string =>
    outcome(
      {
        ...authority(),
        ...(hosts === undefined ? {} : { hosts }),
        ...(onBehalfOf === undefined ? {} : { onBehalfOf }),
      },
      "http/fetch",
      { url },
    );

  test("reaches only the hosts of the manifest, on the ports that it names", () => {
    expect(fetching("https://api.example.com:8443/x")).toBe("allowed");
    for (const url of ["https://example.com/", "https://api.example.com.evil.example/", "https://[::1]/"])
      expect(fetching(url), url).toBe("EgressDenied");
    expect(fetching("https://api.example.com/", [])).toBe("EgressDenied");
    expect(fetching("https://api.example.com:8443/", ["api.example.com:443"])).toBe("EgressDenied");
    for (const url of ["ftp://api.example.com/", "https://u:p@api.example.com/", "/x", ""])
      expect(fetching(url), url).toBe("EgressDenied");
    expect(fetching(7)).toBe("InvalidParams");
  });

  test("reaches for another agent only hosts that this agent may reach too", () => {
    const caller = { ...authority(), extension: "dev.test.caller" };
    const url = "https://api.example.com/";
    expect(fetching(url, undefined, [caller])).toBe("allowed");
    const { hosts: _none, ...without } = caller;
    expect(fetching(url, undefined, [without])).toBe("EgressDenied");
    expect(
      reachableHosts({
        ...authority({ hosts: ["a.example", "b.example"] }),
        onBehalfOf: [{ ...caller, hosts: ["b.example"] }],
      }),
    ).toEqual(["b.example"]);
  });
});

test("texts are turned into vectors only under their own category, which no model answers", () => {
  const only = (category: string): Authority => authority({ effective: { use_models: [{ category }] } });
  const embed = { texts: ["t"] };
  expect(outcome(only("embedding"), "ai/embed", embed)).toBe("allowed");
  expect(outcome(only("chat"), "ai/embed", embed)).toBe("PermissionDenied use_models");
  expect(outcome({ ...authority(), onBehalfOf: [only("chat")] }, "ai/embed", embed)).toBe(
    "PermissionDenied use_models",
  );
  expect(outcome(only("embedding"), "ai/generate", { prompt: "p" })).toBe("PermissionDenied use_models");
  expect(outcome(only("embedding"), "ai/generate", { prompt: "p", category: "embedding" })).toBe(
    "InvalidParams",
  );
});

test("an agent runs only models that its own manifest declares, whoever called it, and none if models are denied", () => {
  const run = (model: unknown, by: Authority): string => outcome(by, "ai/infer", { model, inputs: [] });
  expect(run("faces", authority())).toBe("allowed");
  expect(run("other", authority())).toBe("PermissionDenied models");
  expect(run(7, authority())).toBe("InvalidParams");
  const { models: _none, ...without } = authority();
  expect(run("faces", without)).toBe("PermissionDenied models");
  expect(run("faces", { ...authority(), onBehalfOf: [{ ...without, extension: "dev.test.caller" }] })).toBe(
    "allowed",
  );
  expect(run("faces", authority({ denied: ["use_models"] }))).toBe("PermissionDenied use_models");
});

test("an agent uses a type for another, its own included, only as that one may use it itself", () => {
  const caller = (effective: Permissions): Authority => ({
    ...authority({ effective }),
    extension: "dev.test.caller",
  });
  const asked = (type: string, by: Authority, method = "types/get"): string =>
    outcome({ ...authority(), onBehalfOf: [by] }, method, { type });
  expect(asked("dev.test.agent/Own", caller({}))).toBe("PermissionDenied shared_types");
  expect(asked("dev.test.agent/Own", caller({ shared_types: { read: ["dev.test.agent/*"] } }))).toBe(
    "allowed",
  );
  const reader = caller({ shared_types: { read: ["other.agent/Person"] } });
  expect(asked("other.agent/Person", reader)).toBe("allowed");
  expect(asked("other.agent/Person", reader, "types/update")).toBe("PermissionDenied shared_types");
  expect(asked("dev.test.caller/Own", caller({}))).toBe("PermissionDenied shared_types");
});

test("a request stays on this machine if the agent, or one that it acts for, may ask only local models", () => {
  const local = authority({ effective: { use_models: [{ category: "chat", local_only: true }] } });
  expect(isLocalOnly(authority(), "chat")).toBe(false);
  expect(isLocalOnly(local, "chat")).toBe(true);
  expect(isLocalOnly({ ...authority(), onBehalfOf: [local] }, "chat")).toBe(true);
});

describe("every host call", () => {
  test("has a row in this table", () => {
    const covered = new Set([...rows.map((row) => row.method), ...memoryMethods]);
    expect(hostCallMethods.filter((method) => !covered.has(method))).toEqual([]);
    expect(memoryMethods).toHaveLength(13);
  });

  for (const [at, row] of rows.entries()) {
    const { method, permission, params, outOfScope, filtered } = row;
    const name = `${at} ${method} ${permission ?? "without a permission"}`;

    test(`${name}: granted → allowed`, () => {
      expect(outcome(authority(), method, params)).toBe("allowed");
    });

    if (permission === null) {
      test(`${name}: allowed with nothing granted`, () => {
        expect(outcome(authority({ requested: {}, effective: {} }), method, params)).toBe("allowed");
      });
      continue;
    }
    const refusals: readonly [string, Partial<Authority>, RegExp][] = [
      [
        "not asked for",
        { requested: without(permission, full), effective: without(permission, full) },
        /did not ask/,
      ],
      ["not granted", { effective: without(permission, full) }, /was not granted/],
      ["denied", { effective: without(permission, full), denied: [permission] }, /was denied/],
    ];
    for (const [why, change, message] of refusals) {
      // The permission is refused first, whatever else is wrong with the call.
      for (const asked of [params, outOfScope, filtered]) {
        if (asked === undefined) continue;
        test(`${name}: ${why} → PermissionDenied, before all else (${JSON.stringify(asked)})`, () => {
          const decision = decideHostCall(authority(change), { method, params: asked });
          expect(decision.allowed ? null : decision.error.code).toBe("PermissionDenied");
          expect(decision.allowed ? null : decision.error.message).toMatch(message);
          expect(decision.allowed ? null : decision.error.facts).toEqual({
            permission,
            extension: "dev.test.agent",
          });
        });
      }
    }
    if (outOfScope !== undefined) {
      test(`${name}: out of scope → ScopeViolation, before the filter`, () => {
        expect(outcome(authority(), method, outOfScope)).toBe("ScopeViolation");
        expect(outcome(authority({ locations: [] }), method, params)).toBe("ScopeViolation");
      });
    }
    if (filtered !== undefined) {
      test(`${name}: outside the permission's own filter → PermissionDenied`, () => {
        expect(outcome(authority(), method, filtered)).toBe(`PermissionDenied ${permission}`);
      });
    }
  }

  test.each(memoryMethods)(
    "%s: allowed with memory, refused without, and in a namespace nobody granted",
    (method) => {
      const nothing = authority({ requested: {}, effective: {} });
      expect(outcome(nothing, method, {})).toBe("allowed");
      expect(outcome(authority({ memory: false }), method, {})).toBe("PermissionDenied enable_memory");
      expect(outcome(nothing, method, { namespace: "team" })).toBe("PermissionDenied shared_namespaces");
    },
  );

  test.each(memoryMethods)("%s in a namespace: read needs a grant, a change one to write", (method) => {
    const mayRead = authority({ namespaces: { team: "read", mine: "read_write" } });
    const changes = /\/(?:swap|append|add|update|remove|relate|cleanup)$/.test(method)
      ? "PermissionDenied shared_namespaces"
      : "allowed";
    expect(outcome(mayRead, method, { namespace: "team" })).toBe(changes);
    expect(outcome(mayRead, method, { namespace: "mine" })).toBe("allowed");
    for (const namespace of ["other", "", "constructor", "__proto__", "toString", 7, null, ["team"]]) {
      expect(outcome(mayRead, method, { namespace })).toBe("PermissionDenied shared_namespaces");
    }
    const off = authority({ memory: false, namespaces: { team: "read_write" } });
    expect(outcome(off, method, { namespace: "team" })).toBe("PermissionDenied enable_memory");
  });

  test("a text in a shared memory needs the same grants, and the memory", () => {
    const allowed = (change: Partial<Authority>, namespace: string, wanted: "read" | "read_write") =>
      decideSharedText(authority(change), namespace, wanted).allowed;
    const namespaces = { team: "read", mine: "read_write" } as const;
    expect(allowed({ namespaces }, "team", "read")).toBe(true);
    expect(allowed({ namespaces }, "team", "read_write")).toBe(false);
    expect(allowed({ namespaces }, "mine", "read_write")).toBe(true);
    for (const namespace of ["other", "constructor", "__proto__"])
      expect(allowed({ namespaces }, namespace, "read")).toBe(false);
    expect(allowed({ namespaces, memory: false }, "mine", "read")).toBe(false);
  });
});

test.each(["vdfs/write", "", "__proto__", "constructor", "toString"])(
  "the unknown method %j is MethodNotFound",
  (method) => {
    expect(outcome(authority(), method, {})).toBe("MethodNotFound");
  },
);

test.each([
  ["vdfs/read", {}],
  ["vdfs/read", { path: 7 }],
  ["vdfs/thumbnail", { path: 7 }],
  ["vdfs/get", { path: null }],
  ["actions/propose", {}],
  ["actions/propose", { effects: "all" }],
  ["actions/propose", { effects: [{ kind: "file.write" }] }],
  ["actions/propose", { effects: [{ kind: "disk.format", path: inside }] }],
  ["tools/call", {}],
])("%s with the malformed %j is never allowed", (method, params) => {
  expect(outcome(authority(), method, params)).toBe("InvalidParams");
});

test("propose_actions lists kinds: other kinds are refused", () => {
  const only = authority({ effective: { ...full, propose_actions: ["file.move"] } });
  const remove = { kind: "file.delete", path: inside };
  expect(outcome(only, "actions/propose", effect(remove))).toBe("PermissionDenied propose_actions");
  expect(outcome(only, "actions/propose", effect({ kind: "file.move", from: inside, to: "photos/b" }))).toBe(
    "allowed",
  );
});

test("one bad effect refuses the whole proposal, and permission comes before path across effects", () => {
  const effects = [
    { kind: "file.write", path: outside, content: "" },
    { kind: "tag.add", path: inside, tag: "x" },
  ];
  expect(outcome(authority(), "actions/propose", { effects })).toBe("ScopeViolation");
  const noTags = authority({ effective: without("write_tags", full) });
  expect(outcome(noTags, "actions/propose", { effects })).toBe("PermissionDenied write_tags");
});

test("a granted location itself, and a folder with a closed place, are neither moved nor deleted", () => {
  const move = (from: string) => effect({ kind: "file.move", from, to: "archive/x" });
  expect(outcome(authority(), "actions/propose", move("photos"))).toBe("ScopeViolation");
  const nested = authority({ forbiddenPaths: ["photos/deep/state"] });
  expect(outcome(nested, "actions/propose", move("photos/deep"))).toBe("ScopeViolation");
  expect(outcome(nested, "actions/propose", move("photos/other.jpg"))).toBe("allowed");
});

test.each([
  ["file.edit", { edits: [{ find: "a", replace: "b" }] }],
  ["file.delete", {}],
  ["tag.add", { tag: "#t" }],
  ["tag.remove", { tag: "#t" }],
  ["field.set", { namespace: "photos", key: "k", value: 1 }],
  ["sidecar.write", { sidecar: "faces", data: {} }],
] as const)("%s of a path that the agent may not read is refused, as reading it is", (kind, more) => {
  const change = (path: string) => effect({ kind, path, ...more });
  const refusal = "PermissionDenied read_entries";
  expect(outcome(authority(), "actions/propose", change("photos/a.txt"))).toBe(refusal);
  expect(outcome(authority(), "actions/preview", change("photos/a.txt"))).toBe(refusal);
  const blind = authority({ effective: without("read_entries", full) });
  expect(outcome(blind, "actions/propose", change("photos/a.jpg"))).toBe(refusal);
  expect(outcome(authority(), "actions/propose", change("photos/a.jpg"))).not.toBe(refusal);
});

test("a file that the agent may not read is not moved, whatever its new name", () => {
  const move = effect({ kind: "file.move", from: "photos/a.txt", to: "photos/a.jpg" });
  expect(outcome(authority(), "actions/propose", move)).toBe("PermissionDenied read_entries");
});

test("new contents are limited by the agent's locations, not by its read filter", () => {
  const write = { kind: "file.write", path: "photos/a.txt", content: "" };
  expect(outcome(authority(), "actions/propose", effect(write))).toBe("allowed");
});

test.each([
  ["photos/a.jpg", true],
  ["photos/A.JPG", true],
  ["photos/deep/b.png", true],
  ["photos/a.txt", false],
  ["secret/a.jpg", false],
  ["photos/.git/a.jpg", false],
  ["photos/state/a.jpg", false],
  ["photos", false],
])("isVisible(%j) is %j", (path, visible) => {
  expect(isVisible(authority(), path, "file")).toBe(visible);
  expect(isVisible(authority({ effective: {} }), path, "file")).toBe(false);
});

test("a filter with a slash is matched with the whole path", () => {
  const who = authority({ effective: { read_entries: { filter: "photos/*.jpg" } } });
  expect(isVisible(who, "photos/a.jpg", "file")).toBe(true);
  expect(isVisible(who, "photos/deep/a.jpg", "file")).toBe(false);
});

test("without a filter everything in the locations is visible, folders too", () => {
  const who = authority({ effective: { read_entries: true } });
  expect(isVisible(who, "photos", "folder")).toBe(true);
  expect(inGrantedScope(who, "photos/x")).toBe(true);
  expect(inGrantedScope(who, "photos/../secret")).toBe(false);
});

describe("effectivePermissions", () => {
  const requested: Permissions = { read_entries: true, write_tags: true, dispatch_jobs: false };
  test.each([
    [{}, ["read_entries", "write_tags"], []],
    [{ allow: ["*"] }, ["read_entries", "write_tags"], []],
    [{ allow: ["read_entries"] }, ["read_entries"], []],
    [{ allow: [] }, [], []],
    [{ allow: ["*"], deny: ["write_tags"] }, ["read_entries"], ["write_tags"]],
    [{ allow: ["write_tags"], deny: ["write_tags"] }, [], ["write_tags"]],
    [{ allow: ["dispatch_jobs", "nonsense"] }, [], []],
    [{ deny: ["*"] }, [], ["read_entries", "write_tags"]],
  ])("of %j", (grants, effective, denied) => {
    const result = effectivePermissions(requested, grants);
    expect(Object.keys(result.effective)).toEqual(effective);
    expect(result.denied).toEqual(denied);
  });
});

describe("on behalf of another agent", () => {
  /** A caller that may do nothing; its memory is off. */
  const nobody = authority({
    extension: "dev.test.caller",
    requested: {},
    effective: {},
    locations: [],
    memory: false,
  });
  const all = ["other.agent/*", "whole.agent/*", "dev.test.agent/*"];
  const everyType = { read: all, write: all };
  const own = /^(?:jobs\/|events\/emit$|trace$|actions\/(?:get|settled)$)/;

  test.each(rows.map((row, at) => [at, row.method, row] as const))(
    "%i %s: what the caller may not do is refused, but for what is the agent's own",
    (_at, method, { params, permission }) => {
      // Callers need the permission even for the callee's own types.
      const isOwn = own.test(method) || (permission === null && !method.startsWith("types/"));
      const equal = authority({
        extension: "dev.test.equal",
        effective: { ...full, shared_types: everyType },
      });
      const acting = authority({ onBehalfOf: [equal, nobody] });
      expect(outcome(acting, method, params) === "allowed").toBe(isOwn);
      const forEqual = authority({ onBehalfOf: [equal] });
      expect(outcome(forEqual, method, params)).toBe("allowed");
    },
  );

  test.each(memoryMethods)("%s: its own memory stays its own, a shared one needs both", (method) => {
    const namespaces = { team: "read_write" } as const;
    const forNobody = authority({ namespaces, onBehalfOf: [nobody] });
    expect(outcome(forNobody, method, {})).toBe("allowed");
    expect(outcome(forNobody, method, { namespace: "team" })).not.toBe("allowed");
    const forEqual = authority({ namespaces, onBehalfOf: [authority({ namespaces })] });
    expect(outcome(forEqual, method, { namespace: "team" })).toBe("allowed");
  });

  test("it sees only what each of them sees, within the scope of each", () => {
    const caller = authority({ extension: "dev.test.caller", locations: ["photos/open"] });
    const acting = authority({ onBehalfOf: [caller] });
    for (const [path, seen] of [
      ["photos/open/a.jpg", true],
      ["photos/a.jpg", false],
      ["archive/a.jpg", false],
    ] as const) {
      expect(isVisible(acting, path, "file")).toBe(seen);
      expect(inGrantedScope(acting, path)).toBe(seen);
    }
    const filtered = authority({
      onBehalfOf: [authority({ effective: { read_entries: { filter: "*.png" } } })],
    });
    expect(isVisible(filtered, "photos/a.jpg", "file")).toBe(false);
    expect(isVisible(filtered, "photos/a.png", "file")).toBe(true);
  });
});
