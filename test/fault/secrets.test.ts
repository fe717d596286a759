/** The user's secrets at the command line: processes that die, disks that fail, and files that others changed. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Bench } from "../support/bench.ts";
import { seeded } from "../support/seed.ts";
import { FailingDisk, whyNoFailingDisk } from "./support/failing-disk.ts";

const EXECUTABLE = fileURLToPath(new URL("../../kernel/bin/lares.js", import.meta.url));
const VALUE = "correct-horse-battery-staple-0451";
const random = seeded();

let bench: Bench;
let keyPath: string;
let databasePath: string;
beforeAll(async () => {
  bench = await Bench.create({ extensions: [] });
  keyPath = join(bench.base, "config", "lares", "secrets.key");
  databasePath = join(bench.home, "user.sqlite");
});
afterAll(() => bench[Symbol.asyncDispose]());
beforeEach(async () => {
  await rm(join(bench.base, "config"), { recursive: true, force: true });
  for (const name of await readdir(bench.home).catch(() => []))
    if (name.startsWith("user.")) await rm(join(bench.home, name));
});

function start(args: readonly string[], input: string, environment: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [EXECUTABLE, "secrets", ...args], {
    cwd: bench.root,
    stdio: ["pipe", "pipe", "pipe"],
    env: {
      ...process.env,
      LARES_HOME: bench.home,
      XDG_CONFIG_HOME: join(bench.base, "config"),
      NO_COLOR: "1",
      ...environment,
    },
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (piece: string) => (said += piece));
  // It may have been killed before it reads.
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  const ended = once(child, "close").then(([code]) => ({ code: code as number | null, said }));
  return { child, ended };
}
const set = (name: string, environment?: NodeJS.ProcessEnv) =>
  start(["set", name, "--host", "api.example.com"], VALUE, environment).ended;
async function names(): Promise<readonly string[]> {
  const { code, said } = await start(["list", "--json"], "").ended;
  expect(code, said).toBe(0);
  return (JSON.parse(said) as { items: { name: string }[] }).items.map(({ name }) => name);
}

/** Checks that no file contains the value, whatever happened. */
async function checkNothingLeaked(): Promise<void> {
  for (const folder of [bench.home, join(bench.base, "config")])
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])) {
      if (!entry.isFile()) continue;
      expect((await readFile(join(entry.parentPath, entry.name))).includes(VALUE), entry.name).toBe(false);
    }
}

test("killed at random moments while it stores: confirmed secrets are readable, and the key is intact", async () => {
  const confirmed: string[] = [];
  for (let round = 0; round < 16; round++) {
    const name = `s${round}`;
    const { child, ended } = start(["set", name, "--host", "api.example.com"], VALUE);
    const dying = new AbortController();
    void pause(random() * 900, undefined, { signal: dying.signal }).then(
      () => child.kill("SIGKILL"),
      () => undefined,
    );
    const { code } = await ended;
    dying.abort();
    if (code === 0) confirmed.push(name);
  }
  // An undisturbed one: it reads the existing key, or creates the first.
  expect(await set("last")).toMatchObject({ code: 0 });
  const stored = await names();
  expect(stored).toEqual(expect.arrayContaining([...confirmed, "last"]));
  expect(await readFile(keyPath, "utf8")).toMatch(/^lares-secrets-key-1 [0-9a-f]{64}\n$/);
  expect((await stat(keyPath)).mode & 0o777).toBe(0o600);
  expect((await readdir(bench.home)).filter((name) => name.includes("damaged"))).toEqual([]);
  await checkNothingLeaked();
});

test("two writers at once, with no key yet: both are stored under one key", async () => {
  const ends = await Promise.all(["a", "b", "c", "d"].map((name) => set(name)));
  expect(ends.map(({ code, said }) => (code === 0 ? 0 : said))).toEqual([0, 0, 0, 0]);
  expect(await names()).toEqual(["a", "b", "c", "d"]);
  const database = new DatabaseSync(databasePath, { readOnly: true });
  const keys = database.prepare("SELECT DISTINCT key_id FROM secrets").all();
  database.close();
  expect(keys).toHaveLength(1);
});

describe("an invalid key file", () => {
  const faults: readonly [what: string, change: () => Promise<void>, sentence: RegExp][] = [
    ["is gone", () => rm(keyPath), /is missing.*Restore it from a backup/],
    ["can be read by others", () => chmod(keyPath, 0o644), /mode 0644.*chmod 600/],
    [
      "is another one",
      () => writeFile(keyPath, `lares-secrets-key-1 ${"ab".repeat(32)}\n`, { mode: 0o600 }),
      /encrypted with another key.*Put the old key file back/,
    ],
    [
      "has one changed byte",
      async () => {
        const key = await readFile(keyPath, "utf8");
        await writeFile(
          keyPath,
          key.replace(/.\n$/, (end) => (end.startsWith("0") ? "1\n" : "0\n")),
        );
      },
      /encrypted with another key/,
    ],
    ["is cut off", () => writeFile(keyPath, "lares-secrets-key-1 ab"), /does not hold a key/],
    ["is empty", () => writeFile(keyPath, ""), /does not hold a key/],
  ];
  test.each(faults)(
    "that %s is named with a remedy, and nothing is overwritten",
    async (_what, change, sentence) => {
      expect(await set("first")).toMatchObject({ code: 0 });
      const whole = await readFile(keyPath);
      await change();
      const changed = await readFile(keyPath).catch(() => null);
      const { code, said } = await set("second");
      expect([code, said.replaceAll(/\s+/g, " ")]).toEqual([
        expect.any(Number),
        expect.stringMatching(sentence),
      ]);
      expect(code).not.toBe(0);
      expect(await readFile(keyPath).catch(() => null)).toEqual(changed);
      expect(await names()).toEqual(["first"]);
      await rm(keyPath, { force: true });
      await writeFile(keyPath, whole, { mode: 0o600 });
      expect(await set("second")).toMatchObject({ code: 0 });
      await checkNothingLeaked();
    },
  );
});

const why = await whyNoFailingDisk();
describe.skipIf(why !== null)(why ?? "while the disk fails", () => {
  test.each(["ENOSPC", "EIO", "EDQUOT", "EROFS"] as const)(
    "%s under the key or the database: an error, and the next secret is stored",
    async (error) => {
      const disk = await FailingDisk.in(bench.base);
      for (const path of ["secrets.key", "user.sqlite"]) {
        const before = (await readdir(bench.home)).some((name) => name === "user.sqlite")
          ? await names()
          : [];
        await disk.fail({ error, path });
        const { code, said } = await set(`on-${path.replace(".", "-")}`, disk.environment);
        const struck = await disk.struck();
        await disk.mend();
        if (struck.length === 0) expect(code).toBe(0);
        else {
          expect([code, said]).toEqual([
            expect.any(Number),
            expect.stringMatching(/space|quota|writable|log|again/i),
          ]);
          expect(code).not.toBe(0);
          expect(await names()).toEqual(before);
        }
        expect(await set("next")).toMatchObject({ code: 0 });
        expect(await names()).toContain("next");
        await checkNothingLeaked();
      }
    },
  );
});
