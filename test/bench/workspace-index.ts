// Prints how long the workspace's index takes as a ratio to a bare recursive readdir + lstat of the same tree in the
// same run, with what Node offers for it and written by hand: `node test/bench/workspace-index.ts [files] [--json]`.
import { execFileSync } from "node:child_process";
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog } from "../../kernel/src/base/log.ts";
import { systemClock } from "../../kernel/src/platform/clock.ts";
import { openDatabase } from "../../kernel/src/platform/database/database.ts";
import { openRootedFs } from "../../kernel/src/platform/files/rooted-fs.ts";
import { workspaceMigrations } from "../../kernel/src/workspace/migrations.ts";
import { openWorkspace } from "../../kernel/src/workspace/workspace.ts";

const files = Number(process.argv[2] ?? 100_000);
const home = mkdtempSync(join(tmpdir(), "lares-bench-"));
const root = join(home, "workspace");

function makeTree(): void {
  for (let made = 0, folder = 0; made < files; folder++) {
    const path = join(root, `area-${folder % 20}`, `folder-${folder}`);
    mkdirSync(path, { recursive: true });
    for (let at = 0; at < 100 && made < files; at++, made++) {
      writeFileSync(join(path, `document-number-${at}.txt`), `${folder} ${at}`);
    }
  }
}

/** What Node itself offers for it. */
function recursive(): void {
  for (const name of readdirSync(root, { recursive: true, encoding: "utf8" })) lstatSync(`${root}/${name}`);
}

/** Handwritten: the fastest known way with synchronous calls. */
function bare(folder: string): number {
  let count = 0;
  for (const name of readdirSync(folder)) {
    const path = `${folder}/${name}`;
    count += 1 + (lstatSync(path).isDirectory() ? bare(path) : 0);
  }
  return count;
}

async function bareAsynchronous(folder: string): Promise<number> {
  let count = 0;
  for (const name of await readdir(folder)) {
    const path = `${folder}/${name}`;
    count += 1 + ((await lstat(path)).isDirectory() ? await bareAsynchronous(path) : 0);
  }
  return count;
}

async function timed(run: () => unknown): Promise<number> {
  const startedMs = performance.now();
  await run();
  return performance.now() - startedMs;
}

function sumMs({ user, system }: { readonly user: number; readonly system: number }): number {
  return (user + system) / 1000;
}

/** Peak resident memory of this process since its start. */
function peakMemoryMb(): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? 0) / 1024;
}

async function index(): Promise<{
  ms: number;
  /** CPU time of all threads, and of the loop's thread. */
  processorMs: number;
  loopProcessorMs: number;
  longestTurnMs: number;
  heapMb: number;
  peakMb: number;
  queryMs: number;
  countMs: number;
}> {
  const database = await openDatabase({
    path: join(home, "ledger.sqlite"),
    migrations: workspaceMigrations,
    log: silentLog,
  });
  globalThis.gc?.();
  const heapBefore = process.memoryUsage().heapUsed;
  let longestTurnMs = 0;
  let lastTurnMs = performance.now();
  // A timer, not one turn after the other: that would occupy one of the processors.
  const turns = setInterval(() => {
    const nowMs = performance.now();
    longestTurnMs = Math.max(longestTurnMs, nowMs - lastTurnMs);
    lastTurnMs = nowMs;
  }, 1);
  const processorBefore = process.cpuUsage();
  const loopBefore = process.threadCpuUsage();
  const startedMs = performance.now();
  const workspace = await openWorkspace(
    { roots: [{ name: "workspace", path: root }], stateFolder: home, index: { hidden: false, ignore: [] } },
    {
      database,
      clock: systemClock,
      log: silentLog,
      open: (path) => openRootedFs(path),
      deliver: () => ({ statements: [], committed: () => {} }),
      indexed: () => {},
      rootReturned: () => {},
    },
  );
  await workspace.start();
  await workspace.indexed;
  const ms = performance.now() - startedMs;
  const processorMs = sumMs(process.cpuUsage(processorBefore));
  const loopProcessorMs = sumMs(process.threadCpuUsage(loopBefore));
  clearInterval(turns);
  const peakMb = peakMemoryMb();
  globalThis.gc?.();
  const heapMb = (process.memoryUsage().heapUsed - heapBefore) / 1e6;
  await workspace.query({ path: "**/*-7.txt" }, () => true);
  const queryMs = await timed(() => workspace.query({ path: "**/*-7.txt", limit: 100 }, () => true));
  const countMs = await timed(() => workspace.count({ media: "text" }, () => true));
  await workspace[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
  return { ms, processorMs, loopProcessorMs, longestTurnMs, heapMb, peakMb, queryMs, countMs };
}

try {
  makeTree();
  // Flushes pending writes, so that they do not affect the first measurement.
  execFileSync("sync");
  bare(root);
  const walks = [await timed(() => bare(root)), await timed(() => bare(root))];
  const recursives = [await timed(recursive)];
  const walkBefore = process.threadCpuUsage();
  bare(root);
  const bareProcessorMs = sumMs(process.threadCpuUsage(walkBefore));
  const asynchronousMs = await timed(() => bareAsynchronous(root));
  // The machine's speed changes within a minute, so each start has a bare walk before and after it.
  const starts = [await index()];
  walks.push(await timed(() => bare(root)), await timed(() => bare(root)));
  recursives.push(await timed(recursive));
  starts.push(await index());
  walks.push(await timed(() => bare(root)), await timed(() => bare(root)));
  recursives.push(await timed(recursive));
  const synchronousMs = Math.min(...walks);
  const recursiveMs = Math.min(...recursives);
  if (process.argv.includes("--json")) {
    console.log(
      JSON.stringify({
        recursiveMs,
        bareSynchronousMs: synchronousMs,
        bareAsynchronousMs: asynchronousMs,
        bareProcessorMs,
        starts,
      }),
    );
  } else {
    const ratio = (ms: number): string =>
      `${(ms / recursiveMs).toFixed(2)} × Node's recursive readdir, ${(ms / synchronousMs).toFixed(2)} × by hand (synchronous), ${(ms / asynchronousMs).toFixed(2)} × by hand (promises)`;
    console.log(
      `${files} files; readdir + lstat: ${recursiveMs.toFixed(0)} ms with Node's recursive readdir, by hand ${synchronousMs.toFixed(0)} ms synchronous, ${asynchronousMs.toFixed(0)} ms with promises`,
    );
    for (const [at, run] of starts.entries()) {
      console.log(
        `start ${at + 1}: ${ratio(run.ms)}; longest turn of the loop ${run.longestTurnMs.toFixed(0)} ms; heap ${run.heapMb.toFixed(0)} MB, peak of the process ${run.peakMb.toFixed(0)} MB; ` +
          `processor time ${(run.processorMs / bareProcessorMs).toFixed(2)} × bare, ${(run.loopProcessorMs / bareProcessorMs).toFixed(2)} × on the loop; ` +
          `glob query ${run.queryMs.toFixed(1)} ms; count of all ${run.countMs.toFixed(1)} ms`,
      );
    }
  }
} finally {
  rmSync(home, { recursive: true });
}
