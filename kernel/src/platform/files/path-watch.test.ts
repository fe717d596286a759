import { mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { silentLog } from "../../base/log.ts";
import { systemClock } from "../clock.ts";
import { mostUnsettledMs, PathWatch, settleMs, type Watched } from "./path-watch.ts";

/** Real time: the kernel gathers changes for `settleMs`; what belonged to an act has been reported after this. */
const gatheredMs = 3 * settleMs;

let base = "";
let changes = 0;

beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "lares-watch-")));
  changes = 0;
});
afterEach(() => rm(base, { recursive: true }));

/** Reads again at each change, as the configuration does. */
function watching(watched: Partial<Watched>): PathWatch {
  const all = { paths: [], listed: [], ...watched };
  const watch = new PathWatch({ clock: systemClock, log: silentLog, bases: [base] });
  watch.changed.on(() => {
    changes += 1;
    watch.watch(all);
  });
  watch.watch(all);
  return watch;
}

async function notices(what: string, act: () => Promise<void>): Promise<void> {
  const before = changes;
  await act();
  await vi.waitFor(() => expect(changes, what).toBeGreaterThan(before), { timeout: 10_000 });
  let seen: number;
  do {
    seen = changes;
    await new Promise((resolve) => setTimeout(resolve, gatheredMs));
  } while (seen !== changes);
}

it("notices every save, of editors that write and of editors that rename, also in folders made later", async () => {
  const program = join(base, "extension", "agent.ts");
  await mkdir(join(base, "extension", "lib"), { recursive: true });
  await writeFile(program, "1");
  using _watch = watching({ trees: [join(base, "extension")] });
  const byRenaming = async (path: string): Promise<void> => {
    await writeFile(`${path}.new`, "2");
    await rename(`${path}.new`, path);
  };
  await notices("a rename", () => byRenaming(program));
  await notices("a rename after a rename", () => byRenaming(program));
  await notices("a write after a rename", () => writeFile(program, "3"));
  await notices("a file in a folder", () => writeFile(join(base, "extension", "lib", "a.ts"), "1"));
  await notices("a new folder", () => mkdir(join(base, "extension", "later")));
  await notices("a file in it", () => writeFile(join(base, "extension", "later", "b.ts"), "1"));
});

it("notices saves in folders that replaced others, once it is told", async () => {
  const program = join(base, "extension", "agent.ts");
  await mkdir(join(base, "extension"));
  using watch = watching({ trees: [join(base, "extension")] });
  await notices("the end of the folder", () => rename(join(base, "extension"), join(base, "old")));
  await mkdir(join(base, "extension"));
  await notices("the renewal", async () => watch.renew());
  await notices("a file in it", () => writeFile(program, "1"));
});

it("waits for the rest of a save in pieces, and not for ever", async () => {
  const root = join(base, "root");
  await mkdir(root);
  let nowMs = 0;
  const armed: number[] = [];
  let due: (() => void) | null = null;
  const clock = {
    ...systemClock,
    monotonic: () => nowMs,
    timer: (delayMs: number, run: () => void) => {
      armed.push(delayMs);
      due = run;
      return { [Symbol.dispose]: () => void (due = null) };
    },
  };
  using watch = new PathWatch({ clock, log: silentLog, bases: [root] });
  watch.changed.on(() => void (changes += 1));
  watch.watch({ paths: [join(root, "lares.yaml")], listed: [] });
  const saved = async (): Promise<number | undefined> => {
    const before = armed.length;
    await writeFile(join(root, "lares.yaml"), `version: 1\n# ${before}\n`);
    await vi.waitFor(() => expect(armed.length).toBeGreaterThan(before), { timeout: 10_000 });
    return armed.at(-1);
  };
  expect(await saved()).toBe(settleMs);
  nowMs = settleMs - 1;
  expect(await saved()).toBe(settleMs);
  nowMs = mostUnsettledMs - 10;
  expect(await saved()).toBe(10);
  expect(changes).toBe(0);
  (due as (() => void) | null)?.();
  expect(changes).toBe(1);
});

it("notices what appears at a path, however much of the path is missing, removed and created again", async () => {
  const folder = join(base, "a", "b", "extension");
  const manifest = join(folder, "extension.yaml");
  using _watch = watching({ paths: [manifest] });
  await notices("the first folder of the way", () => mkdir(join(base, "a")));
  await notices("the rest of it", async () => void (await mkdir(folder, { recursive: true })));
  await notices("the file", () => writeFile(manifest, "1"));
  await notices("a write", () => writeFile(manifest, "2"));
  await notices("the end of the way", () => rename(join(base, "a"), join(base, "z")));
  await notices("another way", async () => void (await mkdir(folder, { recursive: true })));
  await notices("another file", () => writeFile(manifest, "3"));
  await notices("the end of the folder", () => rm(folder, { recursive: true }));
  await notices("one all at once", async () => {
    await mkdir(folder);
    await writeFile(manifest, "4");
  });
});

it("notices that a link on the way leads elsewhere", async () => {
  for (const name of ["one", "two"]) await mkdir(join(base, name));
  await symlink(join(base, "one"), join(base, "link"));
  using _watch = watching({ paths: [join(base, "link", "file")] });
  await notices("another link", async () => {
    await symlink(join(base, "two"), join(base, "new"));
    await rename(join(base, "new"), join(base, "link"));
  });
  await notices("a file behind it", () => writeFile(join(base, "two", "file"), "1"));
});

it("notices a name in a listed folder, and nothing beside watched paths", async () => {
  await mkdir(join(base, "listed", "deep"), { recursive: true });
  using watch = watching({ paths: [join(base, "file")], listed: [join(base, "listed")] });
  await notices("a new name", () => mkdir(join(base, "listed", "later")));
  const before = changes;
  await writeFile(join(base, "other"), "1");
  await writeFile(join(base, "listed", "deep", "file"), "1");
  await mkdir(join(base, "beside", "listed"), { recursive: true });
  watch.heardOf(join(base, "beside", "file"));
  await new Promise((resolve) => setTimeout(resolve, gatheredMs));
  expect(changes).toBe(before);
  await notices("a buffer", async () => watch.heardOf(join(base, "file")));
});

it("says whether it watches more than before, until all of it is watched", async () => {
  await mkdir(join(base, "folder"));
  using watch = new PathWatch({
    clock: systemClock,
    log: silentLog,
    bases: [base],
  });
  const watched = { paths: [join(base, "folder", "file")], listed: [] };
  expect(watch.watch(watched)).toBe(true);
  expect(watch.watch(watched)).toBe(false);
  expect(watch.watch({ ...watched, paths: [...watched.paths, join(base, "missing", "file")] })).toBe(false);
  await mkdir(join(base, "missing"));
  expect(watch.watch({ ...watched, paths: [...watched.paths, join(base, "missing", "file")] })).toBe(true);
});

it("watches no more folders than it may", async () => {
  const paths = Array.from({ length: 3000 }, (_, index) => join(base, String(index), "file"));
  for (const path of paths) await mkdir(dirname(path));
  using watch = watching({ paths });
  await notices("one of the first", () => writeFile(join(base, "0", "file"), "1"));
  const before = changes;
  await writeFile(join(base, "2999", "file"), "1");
  await new Promise((resolve) => setTimeout(resolve, gatheredMs));
  expect(changes).toBe(before);
  await notices("the one above all", async () => watch.heardOf(join(base, "1")));
});
