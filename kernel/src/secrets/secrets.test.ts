import { chmod, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { silentLog } from "../base/log.ts";
import { randomHex } from "../platform/random.ts";
import { TestChild } from "../platform/testing/child.ts";
import { openNearDatabase } from "../platform/testing/near-database.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import { secretRows } from "../user-state/secret-rows.ts";
import { UserState } from "../user-state/user-state.ts";
import { checkedBinding, checkedName } from "./binding.ts";
import { Placeholders } from "./placeholders.ts";
import { Secrets } from "./secrets.ts";

const value = "sk-Ünicode/+ value~ 0123456789";

interface Place {
  readonly home: string;
  readonly keyPath: string;
}
async function place(): Promise<Place> {
  const home = await temporaryFolder();
  return { home, keyPath: join(home, "config", "secrets.key") };
}
/** The secrets as one process opens them, closed when `run` has ended. */
async function using<Result>(
  { home, keyPath }: Place,
  run: (secrets: Secrets) => Promise<Result>,
  environment: Record<string, string> = {},
): Promise<Result> {
  await using state = new UserState({ stateHome: home, log: silentLog, open: openNearDatabase });
  return await run(
    new Secrets({ rows: secretRows(state), keyPath, environment, clock: { now: () => 1_790_000_000_000 } }),
  );
}
const store = (at: Place, name = "anthropic"): Promise<unknown> =>
  using(at, (secrets) => secrets.set(name, value, ["API.example.com"]));
const read = (at: Place, name = "anthropic") => using(at, (secrets) => secrets.resolve(name));
function edit({ home }: Place, sql: string, ...params: (string | Uint8Array)[]): void {
  const database = new DatabaseSync(join(home, "user.sqlite"));
  database.prepare(sql).run(...params);
  database.close();
}

test("a stored secret is returned with its binding, listed without its value, and removed", async () => {
  const at = await place();
  await store(at);
  expect(await read(at)).toEqual({ value, hosts: ["api.example.com"], in: "header", source: "store" });
  const items = await using(at, (secrets) => secrets.list());
  expect(items).toEqual([
    {
      name: "anthropic",
      hosts: ["api.example.com"],
      in: "header",
      created: "2026-09-21T14:13:20.000Z",
      source: "store",
    },
  ]);
  await using(at, (secrets) => secrets.remove("anthropic"));
  await expect(read(at)).rejects.toMatchObject({
    code: "NotFound",
    message: 'There is no secret "anthropic". Store it: lares secrets set anthropic --host <host>',
  });
  await expect(using(at, (secrets) => secrets.remove("anthropic"))).rejects.toMatchObject({
    code: "NotFound",
  });
});

test("no file holds the value in any encoding", async () => {
  const at = await place();
  await using(at, async (secrets) => {
    await secrets.set("a", value, ["a.example"]);
    const bytes = Buffer.from(value);
    const forms = [
      value,
      encodeURIComponent(value),
      bytes.toString("hex"),
      ...[0, 1, 2].map((shift) =>
        Buffer.concat([Buffer.alloc(shift), bytes])
          .toString("base64")
          .slice(4, -4),
      ),
    ];
    for (const entry of await readdir(at.home, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const content = await readFile(join(entry.parentPath, entry.name));
      for (const form of forms) expect(content.includes(form), entry.name).toBe(false);
    }
  });
});

test("a flipped byte of a record, or a row bound to something else, is refused and left as it is", async () => {
  const at = await place();
  await store(at);
  const changes: [string, string][] = [
    ["hosts", '["evil.example"]'],
    ["place", "body"],
    ["name", "openai"],
    ["hosts", "no json"],
  ];
  for (const [column, changed] of changes) {
    const name = column === "name" ? changed : "anthropic";
    const original = column === "hosts" ? '["api.example.com"]' : column === "place" ? "header" : "anthropic";
    edit(at, `UPDATE secrets SET ${column} = ?`, changed);
    await expect(read(at, name)).rejects.toThrow(/was changed since it was stored/);
    edit(at, `UPDATE secrets SET ${column} = ?`, original);
  }
  expect((await read(at)).value).toBe(value);
  const database = new DatabaseSync(join(at.home, "user.sqlite"));
  const record = database.prepare("SELECT record FROM secrets").get()?.["record"] as Uint8Array;
  database.close();
  for (let index = 0; index < record.length; index += 7) {
    const flipped = Uint8Array.from(record, (byte, at) => (at === index ? byte ^ 1 : byte));
    edit(at, "UPDATE secrets SET record = ?", flipped);
    await expect(read(at)).rejects.toThrow(/was changed since it was stored/);
  }
  edit(at, "UPDATE secrets SET record = ?", record.subarray(0, 10));
  await expect(read(at)).rejects.toThrow(/was changed since it was stored/);
});

test("a missing, another, a broken or an open key file is a clear error, and nothing is overwritten", async () => {
  const at = await place();
  await store(at);
  const key = await readFile(at.keyPath, "utf8");
  expect((await stat(at.keyPath)).mode & 0o777).toBe(0o600);

  await chmod(at.keyPath, 0o644);
  await expect(read(at)).rejects.toThrow(/mode 0644.*chmod 600/);
  await expect(store(at, "b")).rejects.toThrow(/mode 0644/);
  await chmod(at.keyPath, 0o600);

  await writeFile(at.keyPath, `lares-secrets-key-1 ${"0".repeat(64)}\n`);
  await expect(read(at)).rejects.toThrow(/another key.*Nothing was changed/);
  await expect(store(at, "b")).rejects.toThrow(/another key/);
  await expect(store(at)).rejects.toThrow(/another key/);

  await writeFile(at.keyPath, "");
  await expect(read(at)).rejects.toThrow(/does not hold a key/);
  await expect(store(at)).rejects.toThrow(/does not hold a key/);
  expect(await readFile(at.keyPath, "utf8")).toBe("");

  await rm(at.keyPath);
  await expect(read(at)).rejects.toThrow(/is missing.*Restore it from a backup/);
  await expect(store(at, "b")).rejects.toThrow(/is missing/);
  await expect(stat(at.keyPath)).rejects.toThrow(/ENOENT/);

  await writeFile(at.keyPath, key, { mode: 0o600 });
  expect((await read(at)).value).toBe(value);
  expect(await using(at, (secrets) => secrets.list())).toHaveLength(1);
});

test("two processes that both make the key and store a secret can read each other's", async () => {
  const at = await place();
  const modules = {
    "{ UserState }": new URL("../user-state/user-state.ts", import.meta.url),
    "{ secretRows }": new URL("../user-state/secret-rows.ts", import.meta.url),
    "{ Secrets }": new URL("./secrets.ts", import.meta.url),
  };
  const children = ["a", "b", "c"].map(
    (name) =>
      new TestChild(
        `const log = { debug() {}, info() {}, warn() {}, error() {} };
        await using state = new UserState({ stateHome: ${JSON.stringify(at.home)}, log });
        const secrets = new Secrets({ rows: secretRows(state), keyPath: ${JSON.stringify(at.keyPath)}, environment: {},
          clock: { now: () => 0 } });
        await secrets.set("${name}", "value ${name}", ["${name}.example"]);`,
        { modules },
      ),
  );
  for (const child of children) expect(await child.ended()).toBe("exit 0");
  for (const name of ["a", "b", "c"]) expect((await read(at, name)).value).toBe(`value ${name}`);
  expect(await readdir(join(at.home, "config"))).toEqual(["secrets.key"]);
});

test("the environment's value wins and keeps the stored binding; without one it is bound to no host", async () => {
  const at = await place();
  await store(at, "my-key");
  const environment = { LARES_SECRET_MY_KEY: "from outside", LARES_SECRET_ONLY: "x", LARES_SECRET_EMPTY: "" };
  await using(
    at,
    async (secrets) => {
      expect(await secrets.resolve("my-key")).toEqual({
        value: "from outside",
        hosts: ["api.example.com"],
        in: "header",
        source: "environment",
      });
      expect(await secrets.resolve("only")).toMatchObject({ value: "x", hosts: [] });
      expect((await secrets.list()).map(({ name, source }) => [name, source])).toEqual([
        ["my-key", "environment"],
        ["only", "environment"],
      ]);
    },
    environment,
  );
});

test("names, hosts, places and values are checked before anything is written, and not repeated whole", async () => {
  const at = await place();
  for (const name of ["", "A", "a b", "-a", "a/b", "x".repeat(65), value])
    expect(() => checkedName(name)).toThrow(/is not a name/);
  for (const host of [
    "",
    "https://a.example",
    "a.example/x",
    "a..b",
    "a.example:0",
    "a.example:70000",
    "*.a",
    value,
  ])
    expect(() => checkedBinding([host]), host).toThrow(/is not a host/);
  expect(() => checkedBinding([])).toThrow(/1 to 16 hosts/);
  for (const place of [
    "",
    "headers",
    "header:",
    "header:a b",
    "header:a\r\nb",
    "query:a=b",
    "cookie:x",
    value,
  ])
    expect(() => checkedBinding(["a.example"], place), place).toThrow(/is not a place/);
  expect(checkedBinding(["B.example:8443", "a.example", "[::1]:80"], "header:X-Key")).toEqual({
    hosts: ["[::1]:80", "a.example", "b.example:8443"],
    in: "header:x-key",
  });
  expect(checkedBinding(["Bücher.example:8443"]).hosts).toEqual(["xn--bcher-kva.example:8443"]);
  await expect(using(at, (secrets) => secrets.set("a", "", ["a.example"]))).rejects.toThrow(
    /1 to 65536 bytes/,
  );
  await expect(using(at, (secrets) => secrets.set(value, "x", ["a.example"]))).rejects.not.toThrow(value);
  expect(await readdir(at.home)).toEqual([]);
});

test("a placeholder survives URLs, JSON and headers, and is worth nothing to another agent", () => {
  const placeholders = new Placeholders(randomHex);
  const token = placeholders.issue("a.one", "anthropic") ?? "";
  expect(placeholders.issue("a.one", "anthropic")).toBe(token);
  const other = placeholders.issue("a.two", "anthropic") ?? "";
  expect(other).not.toBe(token);
  expect(encodeURIComponent(token)).toBe(token);
  expect(JSON.stringify(token)).toBe(`"${token}"`);
  expect(new Headers({ authorization: `Bearer ${token}` }).get("authorization")).toBe(`Bearer ${token}`);
  expect(placeholders.of("a.one")).toEqual([{ token, secret: "anthropic" }]);
  expect(placeholders.of("a.two")).toEqual([{ token: other, secret: "anthropic" }]);
  expect(placeholders.of("a.three")).toEqual([]);
});
