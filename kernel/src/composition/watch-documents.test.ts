import { mkdir, mkdtemp, realpath, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { silentLog } from "../base/log.ts";
import { systemClock } from "../platform/clock.ts";
import { DocumentWatch, mostUnsettledMs, settleMs } from "./watch-documents.ts";

let base = "";
let changes = 0;

beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "lares-watch-")));
  changes = 0;
});
afterEach(() => rm(base, { recursive: true }));

function watchExtension(): DocumentWatch {
  const places = {
    roots: [],
    userFolder: join(base, "none"),
    extensionFolders: [join(base, "extension")],
    lookedAt: [],
  };
  const watch: DocumentWatch = new DocumentWatch(systemClock, silentLog, () => {
    changes += 1;
    // As the governor does after each reading.
    watch.watch(places);
  });
  watch.watch(places);
  return watch;
}

async function notices(what: string, act: () => Promise<void>): Promise<void> {
  const before = changes;
  await act();
  await vi.waitFor(() => expect(changes, what).toBeGreaterThan(before), { timeout: 10_000 });
  // What belongs to this act has been told of when nothing came for longer than changes are gathered.
  let seen: number;
  do {
    seen = changes;
    await new Promise((resolve) => setTimeout(resolve, 150));
  } while (seen !== changes);
}

it("notices every save, of editors that write and of editors that rename, also in folders made later", async () => {
  const program = join(base, "extension", "agent.ts");
  await mkdir(join(base, "extension", "lib"), { recursive: true });
  await writeFile(program, "1");
  using _watch = watchExtension();
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

it("once it is told that folders are others, notices what is saved in those", async () => {
  const program = join(base, "extension", "agent.ts");
  await mkdir(join(base, "extension"));
  using watch = watchExtension();
  await notices("the end of the folder", () => rename(join(base, "extension"), join(base, "old")));
  await mkdir(join(base, "extension"));
  await notices("the renewal", async () => watch.renew());
  await notices("a file in it", () => writeFile(program, "1"));
});

it("waits for the rest of a save that comes in pieces, and not for ever", async () => {
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
  using watch = new DocumentWatch(clock, silentLog, () => void (changes += 1));
  watch.watch({ roots: [root], userFolder: join(base, "none"), extensionFolders: [], lookedAt: [] });
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
