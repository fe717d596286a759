import { mkdir, symlink, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ALL_PERMISSIONS, call, host, probe } from "../support/agents.ts";
import { agent, Bench } from "../support/bench.ts";
import type { Client } from "../support/client.ts";

const NONE = "test.none"; // requests nothing
const DENIED = "test.denied"; // requests everything and is granted nothing
const SCOPED = "test.scoped"; // everything, in in/ only, and reads only *.txt
const PERMISSIONS = { ...ALL_PERMISSIONS, emit_events: ["Ping"], call_tools: [`${NONE}/*`] };

let bench: Bench;
let client: Client;
beforeAll(async () => {
  bench = await Bench.create({
    files: { "in/a.txt": "a\n", "in/hidden.md": "m\n", "out/secret.txt": "s\n", "in2/near.txt": "n\n" },
    extensions: [
      probe({ id: NONE, permissions: {} }),
      probe({ id: DENIED, permissions: PERMISSIONS, grants: { locations: ["."], deny: ["*"] } }),
      probe({
        id: SCOPED,
        permissions: { ...PERMISSIONS, read_entries: { filter: "*.txt" } },
        grants: { locations: ["in/"] },
      }),
    ],
  });
  await mkdir(bench.path("../outside"));
  await writeFile(bench.path("../outside/private.txt"), "private\n");
  await symlink("../out/secret.txt", bench.path("in/link-to-out.txt"));
  await symlink("../../outside", bench.path("in/leaves"));
  await symlink("/etc/hostname", bench.path("in/absolute.txt"));
  client = await bench.open();
});
afterAll(() => bench[Symbol.asyncDispose]());

const about = { title: "t", reason: "r" };
type Door = { permission: string; method: string; arguments(path: string): unknown[] };
/** Every host call that names a path, with the permission it needs. */
const doors: Door[] = [
  { permission: "read_entries", method: "vdfs.get", arguments: (path) => [path] },
  { permission: "read_entries", method: "vdfs.read", arguments: (path) => [path, { offset: 0, length: 1 }] },
  { permission: "write_tags", method: "vdfs.tags.add", arguments: (path) => [path, "#t"] },
  { permission: "write_tags", method: "vdfs.tags.remove", arguments: (path) => [path, "#t"] },
  { permission: "write_custom_fields", method: "vdfs.fields.set", arguments: (path) => [path, "k", 1] },
  { permission: "write_sidecars", method: "vdfs.sidecar.write", arguments: (path) => [path, "faces", {}] },
  {
    permission: "propose_actions",
    method: "actions.propose",
    arguments: (path) => [[{ kind: "file.write", path, content: "x" }], about],
  },
  {
    permission: "propose_actions",
    method: "actions.preview",
    arguments: (path) => [[{ kind: "file.delete", path }], about],
  },
  {
    permission: "propose_actions",
    method: "actions.propose",
    arguments: (path) => [[{ kind: "file.move", from: "in/a.txt", to: path }], about],
  },
];
const pathless: Door[] = [
  { permission: "read_entries", method: "vdfs.query", arguments: () => [{}] },
  { permission: "read_entries", method: "vdfs.count", arguments: () => [{}] },
  { permission: "read_entries", method: "vdfs.copies", arguments: () => [`sha256:${"0".repeat(64)}`] },
  { permission: "emit_events", method: "events.emit", arguments: () => ["Ping", {}] },
  { permission: "call_tools", method: "tools.call", arguments: () => [`${SCOPED}/seen`, {}] },
];

describe("without the permission every call is refused, whatever the path", () => {
  test.each([NONE, DENIED])("%s", async (id) => {
    expect((await agent(client, id)).permissions).toEqual([]);
    for (const door of [...doors, ...pathless]) {
      for (const path of ["in/a.txt", "../outside/private.txt", ".git/config"]) {
        const { error } = await host(client, id, door.method, ...door.arguments(path));
        expect({ ...door, path, error }).toMatchObject({
          error: { code: "PermissionDenied", data: { permission: door.permission, extension: id } },
        });
      }
    }
  });
});

describe("with the permission, a path outside the locations is a ScopeViolation that names it", () => {
  const paths = [
    "out/secret.txt",
    "in2/near.txt",
    "In/a.txt",
    "../outside/private.txt",
    "in/../out/secret.txt",
    "in/leaves/private.txt",
    "in/link-to-out.txt",
    "in/absolute.txt",
    "/etc/hostname",
    "C:/Windows/x.txt",
    "in\\..\\out\\secret.txt",
    "in/a.txt\0.png",
  ];
  test.each(paths.map((path) => [path]))("%j", async (path) => {
    for (const door of doors) {
      // A link is not an entry: the index, which never follows one, may also answer that nothing exists.
      if (door.method === "vdfs.get" && /leaves|link|absolute/.test(path)) continue;
      const { error, value } = await host(client, SCOPED, door.method, ...door.arguments(path));
      expect({ door: door.method, value, error }).toMatchObject({
        value: undefined,
        error: { code: "ScopeViolation" },
      });
      expect(error?.data).toHaveProperty("path");
    }
  });

  test("the location comes before the read filter, the filter after it", async () => {
    const read = (path: string) => host(client, SCOPED, "vdfs.readText", path);
    expect((await read("out/x.md")).error?.code).toBe("ScopeViolation");
    expect((await read("in/hidden.md")).error).toMatchObject({
      code: "PermissionDenied",
      data: { permission: "read_entries", extension: SCOPED },
    });
    expect(await call(client, SCOPED, "vdfs.readText", "in/a.txt")).toBe("a\n");
    expect(await call(client, SCOPED, "vdfs.readText", "./in//a.txt")).toBe("a\n");
  });

  test("inGrantedScope says the same", async () => {
    for (const [path, expected] of Object.entries({
      "in/a.txt": true,
      "in/new/x": true,
      "out/secret.txt": false,
      "in2/near.txt": false,
    })) {
      expect([path, await call(client, SCOPED, "inGrantedScope", path)]).toEqual([path, expected]);
    }
  });
});

test("refusals are traced, and change nothing", async () => {
  await host(client, NONE, "vdfs.tags.add", "in/a.txt", "#never");
  const traces = await client.request<{ level: string }[]>("lares/traces/query", { agent: NONE });
  expect(traces.length).toBeGreaterThan(0);
  const { items } = await client.request<{ items: { tags: string[] }[] }>("lares/entries/query", {
    path: "in/a.txt",
  });
  expect(items[0]?.tags).toEqual([]);
});
