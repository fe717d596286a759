import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { snapshot } from "../../support/actions.ts";
import { Bench, tool } from "../../support/bench.ts";
import type { Client } from "../../support/client.ts";
import { ALL_PERMISSIONS } from "../../support/agents.ts";
import type { Action, TraceEntry } from "../../support/types.ts";
import { until } from "../../support/until.ts";

/** Granted only the folder in/. */
const CONFINED = "test.confined";
/** Granted the whole workspace, in which a few places are closed to all agents. */
const EVERYWHERE = "test.everywhere";
const SECRET = "the secret outside";
/** The kernel's state folder, inside the workspace, which is the worst place for it. */
const STATE = "state-of-lares";

/** Makes any host call, bypassing the SDK, and returns each result. */
const ASKER = `
import { defineAgent } from "@lares/sdk";
const guest = globalThis[Symbol.for("lares.guest")];
export default defineAgent({
  tools: {
    async ask({ calls }) {
      return Promise.all(calls.map(({ method, params }) => guest.call(method, params).then(
        (value) => ({ value: value ?? null }),
        ({ message, data }) => ({ error: { message, code: data?.code ?? null } }),
      )));
    },
  },
});
`;

interface Call {
  readonly method: string;
  readonly params: Record<string, unknown>;
}
interface Outcome {
  readonly value?: unknown;
  readonly error?: { readonly message: string; readonly code: string | null };
}

const about = { title: "A harmless title", reason: "None." };
const propose = (effect: Record<string, unknown>): Call => ({
  method: "actions/propose",
  params: { effects: [effect], ...about },
});

/** Every host call that reads what a path names. */
const reads = (path: string): Call[] => [
  { method: "vdfs/get", params: { path } },
  { method: "vdfs/read", params: { path } },
  { method: "vdfs/thumbnail", params: { path, max_px: 64, format: "jpeg" } },
  { method: "vdfs/sidecar/read", params: { path, sidecar: "faces" } },
];

/** Every way of changing it, including both ends of a move. */
const changes = (path: string): Call[] => [
  propose({ kind: "file.write", path, content: "owned" }),
  propose({ kind: "file.write", path, content_base64: "b3duZWQ=", expected: null }),
  propose({ kind: "file.edit", path, edits: [{ find: "secret", replace: "owned" }] }),
  propose({ kind: "file.move", from: path, to: "in/taken.txt" }),
  propose({ kind: "file.move", from: "in/a.txt", to: path }),
  propose({ kind: "file.delete", path }),
  propose({ kind: "folder.create", path }),
  propose({ kind: "tag.add", path, tag: "#owned" }),
  propose({ kind: "tag.remove", path, tag: "#owned" }),
  propose({ kind: "field.set", path, namespace: "probe", key: "k", value: 1 }),
  propose({ kind: "sidecar.write", path, sidecar: "faces", data: {} }),
  { ...propose({ kind: "file.delete", path }), method: "actions/preview" },
];

let bench: Bench;
let client: Client;
let before: Record<string, string>;
beforeAll(async () => {
  bench = await Bench.create({
    home: STATE,
    files: {
      "in/a.txt": "a\n",
      "in2/near.txt": SECRET,
      "out/secret.txt": SECRET,
      ".git/config": SECRET,
      "in/.git/config": SECRET,
      "in/sub/.GIT/hooks/post-commit": SECRET,
    },
    extensions: [CONFINED, EVERYWHERE].map((id) => ({
      id,
      program: ASKER,
      grants: { locations: [id === CONFINED ? "in/" : "."] },
      manifest: {
        permissions: ALL_PERMISSIONS,
        tools: [{ name: "ask", description: "ask", handler: "ask", parameters: { type: "object" } }],
      },
    })),
  });
  await mkdir(join(bench.base, "outside"));
  await writeFile(join(bench.base, "outside/private.txt"), SECRET);
  await symlink("../out/secret.txt", bench.path("in/link.txt"));
  await symlink("../../outside", bench.path("in/leaves"));
  await symlink("/etc", bench.path("in/etc"));
  await symlink("../.git", bench.path("in/harmless"));
  await symlink("../in", bench.path("out/back"));
  client = await bench.open();
  before = await worldOf(bench);
});
afterAll(() => bench[Symbol.asyncDispose]());

/** Returns everything except the kernel's own state, byte by byte. */
async function worldOf({ base }: Bench): Promise<Record<string, string>> {
  const all = await snapshot(base);
  return Object.fromEntries(Object.entries(all).filter(([path]) => !path.includes(STATE)));
}

async function ask(id: string, calls: readonly Call[]): Promise<(Outcome & Call)[]> {
  const outcomes = await tool<Outcome[]>(client, id, "ask", { calls });
  return outcomes.map((outcome, at) => ({ ...(calls[at] as Call), ...outcome }));
}

/** Tries all calls with one spelling: each is refused with this error, or answers that nothing exists. */
async function refused(id: string, path: string, code: string, why: string): Promise<void> {
  const wanted = `The path ${JSON.stringify(path)} ${why}.`;
  for (const outcome of await ask(id, [...reads(path), ...changes(path)])) {
    expect(outcome).toMatchObject({ error: { code, message: wanted } });
  }
}

const outside = `lies outside the locations granted to ${CONFINED} (in)`;
const parent = 'contains ".."; write it relative to the workspace';
const absolute = "is absolute; write it relative to the workspace";
const backslash = 'contains a backslash; write "/" between folders';
const drive = "names a drive; write it relative to the workspace";
const control = "contains a control character";
const stream = (name: string): string =>
  `contains ":" in "${name}", which Windows reads as a drive or a stream`;
const trailing = (name: string): string =>
  `contains "${name}", which ends in a dot or a space that Windows drops`;
const device = (name: string): string => `contains "${name}", which is a device on Windows`;

describe("a path outside the granted folder is refused by every call, in this spelling", () => {
  test.each<[string, string]>([
    ["out/secret.txt", outside],
    ["./out/secret.txt", outside],
    ["out//secret.txt", outside],
    ["in2/near.txt", outside],
    ["IN/a.txt", outside],
    ["In/a.txt", outside],
    [".", outside],
    ["./", outside],
    ["lares.yaml", outside],
    ["out/back/a.txt", outside],
    ["../outside/private.txt", parent],
    ["in/../out/secret.txt", parent],
    ["in/./../out/secret.txt", parent],
    ["in/x/../../out/secret.txt", parent],
    ["in/..", parent],
    ["..", parent],
    ["/etc/passwd", absolute],
    ["//etc/passwd", absolute],
    ["//server/share/x.txt", absolute],
    ["///in/a.txt", absolute],
    ["\\\\server\\share\\x.txt", backslash],
    ["\\\\?\\C:\\Windows\\win.ini", backslash],
    ["\\\\.\\pipe\\lares", backslash],
    ["in\\..\\out\\secret.txt", backslash],
    ["..\\outside\\private.txt", backslash],
    ["in/..\\out/secret.txt", backslash],
    ["C:/Windows/win.ini", drive],
    ["c:in/a.txt", drive],
    ["file:///etc/passwd", stream("file:")],
    ["in/file:///etc/passwd", stream("file:")],
    ["in/a.txt:stream", stream("a.txt:stream")],
    ["in/a.txt::$DATA", stream("a.txt::$DATA")],
    ["in/a.txt\0.png", control],
    ["in/\u001b[2J.txt", control],
    ["in/a.txt\n", control],
    ["\0", control],
    ["in/..\u0000/out/secret.txt", control],
    ["in/\u007f", control],
    ["in/.. /out/secret.txt", trailing(".. ")],
    ["in/... /x", trailing("... ")],
    ["in./a.txt", trailing("in.")],
    ["in /a.txt", trailing("in ")],
    ["in/a.txt.", trailing("a.txt.")],
    ["in/.../x", trailing("...")],
    ["in/CON", device("CON")],
    ["in/nul.txt", device("nul.txt")],
    ["in/COM1 .log", device("COM1 .log")],
    ["in/LPT¹", device("LPT¹")],
    ["in/\ud800.txt", "is not valid Unicode"],
    ["in/\udc00/../../out", "is not valid Unicode"],
    // Look-alikes are ordinary names of something else, outside.
    ["%2e%2e/out/secret.txt", outside],
    ["%2fetc%2fpasswd", outside],
    ["․․/out/secret.txt", outside],
    ["‥/out/secret.txt", outside],
    ["．．/outside/private.txt", outside],
    ["／etc／passwd", outside],
    ["ｉｎ/a.txt", outside],
    ["\u200bin/a.txt", outside],
    ["in\u2215a.txt", outside],
    ["~/x", outside],
    ["$HOME/x", outside],
  ])("%j", async (path, why) => refused(CONFINED, path, "ScopeViolation", why));

  test("and by a notification with an action", async () => {
    const action = [{ kind: "file.delete", path: "out/secret.txt" }];
    const [outcome] = await ask(CONFINED, [
      { method: "notify", params: { title: "t", message: "m", severity: "info", action } },
    ]);
    expect(outcome).toMatchObject({
      error: { code: "ScopeViolation", message: `The path "out/secret.txt" ${outside}.` },
    });
    expect(client.notifications("lares/notify")).toEqual([]);
  });

  test("longer than any path, up to a message's length: refused, and the error stays short", async () => {
    for (const path of [
      `in/${"x".repeat(5000)}`,
      `${"in/../".repeat(5_000)}out/secret.txt`,
      "in/" + "a/".repeat(3000),
    ]) {
      for (const outcome of await ask(CONFINED, [...reads(path), ...changes(path)].slice(0, 12))) {
        expect(outcome.error?.code).toMatch(/^(ScopeViolation|InvalidParams)$/);
        expect(outcome.error?.message.length).toBeLessThan(1000);
      }
    }
  });
});

describe("a link that leads out of the granted folder", () => {
  test.each(["in/link.txt", "in/leaves/private.txt", "in/leaves", "in/etc/passwd", "in/harmless/config"])(
    "%s: nothing is read, and nothing changed behind it",
    async (path) => {
      for (const outcome of await ask(CONFINED, [...reads(path), ...changes(path)])) {
        // The index follows no link, so it may answer that nothing exists.
        if (outcome.error === undefined)
          expect(outcome).toMatchObject({
            method: /^vdfs\/(get|sidecar\/read)$/.test(outcome.method) ? outcome.method : "none",
            value: null,
          });
        else expect(outcome.error.code).toMatch(/^(ScopeViolation|NotFound)$/);
      }
    },
  );
});

describe("a path that is closed to all is closed to an agent with the whole workspace, in this spelling", () => {
  test.each<[string, string?]>([
    [".git/config"],
    [".git"],
    ["./.git//config"],
    [".GIT/config"],
    [".Git/config"],
    ["in/.git/config"],
    ["in/sub/.GIT/hooks/post-commit"],
    ["git~1/config"],
    ["GIT~1/config"],
    [".g\u200cit/config"],
    [".git\u200d/config"],
    ["\ufeff.git/config"],
    [".git./config", trailing(".git.")],
    [".git /config", trailing(".git ")],
    [".git::$INDEX_ALLOCATION/config", stream(".git::$INDEX_ALLOCATION")],
    [".git\\config", backslash],
    ["in/../.git/config", parent],
    [STATE],
    [`${STATE}/workspaces`],
    [`${STATE.toUpperCase()}/workspaces`],
    [`./${STATE}/x`],
  ])("%j", async (path, why = "is closed to every extension") => {
    await refused(EVERYWHERE, path, "ScopeViolation", why);
  });
});

describe("queries find nothing that is hidden", () => {
  const patterns = [
    "**",
    "**/*",
    "*",
    "../**",
    "in/../**",
    "/etc/*",
    "out/**",
    "./out/**",
    "{in,out}/**",
    "{in/..,out}/*",
    "**/secret.txt",
    "[o]ut/*",
    "out\\secret.txt",
    "in\\..\\out\\*",
    ".git/**",
    "**/.git/**",
    `${STATE}/**`,
    "in/leaves/**",
    "in/link.txt",
    "!in/**",
    "\0",
    "**/\u2025/**",
  ];
  test.each(patterns)("%j", async (path) => {
    const calls = [
      { method: "vdfs/query", params: { path } },
      { method: "vdfs/count", params: { path } },
    ];
    const [query, count] = await ask(CONFINED, calls);
    const items = (query?.value as { items: { path: string }[] } | undefined)?.items ?? [];
    for (const item of items) expect(item.path).toMatch(/^in(\/(a\.txt|sub))?$/);
    if (count?.error === undefined) expect(count?.value).toEqual({ count: items.length });
    const [all] = await ask(EVERYWHERE, calls);
    for (const item of (all?.value as { items: { path: string }[] } | undefined)?.items ?? []) {
      expect(item.path).not.toMatch(/\.git|state-of-lares|private|passwd/i);
    }
  });

  test("nor by the name, the content or the id of hidden files", async () => {
    const { items } = await client.request<{ items: { id: string; path: string; content_id: string }[] }>(
      "lares/entries/query",
      { path: "out/secret.txt" },
    );
    const [hidden] = items;
    expect(hidden?.path).toBe("out/secret.txt");
    const outcomes = await ask(CONFINED, [
      { method: "vdfs/query", params: { text: "secret" } },
      { method: "vdfs/get", params: { id: hidden?.id } },
      { method: "vdfs/copies", params: { content_id: hidden?.content_id } },
      { method: "vdfs/count", params: { text: "near" } },
    ]);
    expect(outcomes.map(({ value }) => value)).toEqual([
      { items: [] },
      null,
      { count: 0, paths: [] },
      { count: 0 },
    ]);
  });
});

describe("unknown methods, and calls without a permission", () => {
  test.each<[string, Record<string, unknown>, string]>([
    ["__proto__", {}, "MethodNotFound"],
    ["constructor", {}, "MethodNotFound"],
    ["toString", {}, "MethodNotFound"],
    ["lares/trust", { trusted: true }, "MethodNotFound"],
    ["lares/actions/approve", { id: "x", digest: "y" }, "MethodNotFound"],
    ["initialize", {}, "MethodNotFound"],
    ["VDFS/read", { path: "in/a.txt" }, "MethodNotFound"],
    ["vdfs/read ", { path: "in/a.txt" }, "MethodNotFound"],
    ["http/fetch", { url: "http://127.0.0.1" }, "EgressDenied"],
    ["credentials/get", { name: "token" }, "PermissionDenied"],
    ["blobs/read", { blob: "another's", length: 1 }, "NotFound"],
    ["blobs/write", { blob: "another's", base64: "" }, "NotFound"],
    ["ai/generate", { prompt: "hello" }, "PermissionDenied"],
    ["ai/models", {}, "PermissionDenied"],
    ["tools/call", { agent: EVERYWHERE, name: "ask", arguments: { calls: [] } }, "PermissionDenied"],
    ["events/emit", { name: "Ping", data: {} }, "PermissionDenied"],
    ["shared/read", { key: "k" }, "PermissionDenied"],
    ["jobs/dispatch", { name: "j", input: 1 }, "PermissionDenied"],
    ["memory/working/read", { namespace: "others" }, "PermissionDenied"],
    ["vdfs/read", { path: ["in/a.txt"] }, "InvalidParams"],
    ["vdfs/read", { path: { toString: "in/a.txt" } }, "InvalidParams"],
    ["vdfs/read", { path: "in/a.txt", as: EVERYWHERE }, "InvalidParams"],
    ["vdfs/read", { path: "in/a.txt", offset: -1 }, "InvalidParams"],
    ["vdfs/read", { path: "in/a.txt", length: 1e12 }, "InvalidParams"],
    ["actions/propose", { effects: [{ kind: "process.run", path: "in/a.txt" }], ...about }, "InvalidParams"],
    [
      "actions/propose",
      { effects: [{ kind: "file.write", path: "in/x", content: "x", mode: 0o777 }], ...about },
      "InvalidParams",
    ],
    ["actions/propose", { effects: [], ...about }, "InvalidParams"],
    ["actions/get", { id: "../../ledger" }, "NotFound"],
  ])("%s %j: %s", async (method, params, code) => {
    const [outcome] = await ask(CONFINED, [{ method, params }]);
    expect(outcome).toMatchObject({ error: { code } });
    expect(outcome?.error?.message).toMatch(/^\S.{15,}\.$/s);
  });
});

test("after all of this nothing has changed, nothing is pending, no secret was revealed, and the log names the callers", async () => {
  expect(await worldOf(bench)).toEqual(before);
  expect(await client.request<Action[]>("lares/actions/list", {})).toEqual([]);
  const traces = async (): Promise<TraceEntry[]> =>
    await client.request("lares/traces/query", { agent: CONFINED, limit: 1000 });
  const isTold = async (message: RegExp): Promise<boolean> =>
    (await traces()).some((trace) => message.test(trace.message));
  expect(await isTold(/^refused: The path "/)).toBe(true);
  // The counts are logged when the second is over.
  await until("the count of those not told", () =>
    isTold(/^refused: \d+ more of its calls within the same second$/),
  );
  expect(JSON.stringify(await traces())).not.toContain(SECRET);
});
