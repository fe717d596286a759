import { realpath } from "node:fs/promises";
import { homedir } from "node:os";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { join } from "node:path";
import { messageOf } from "../base/errors.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { removeLeftoverTemporaries } from "../platform/files/atomic-file.ts";
import { systemClock } from "../platform/clock.ts";
import { removeNetworkGlobals } from "../platform/network.ts";
import { acquireLock, type FileLock } from "../platform/processes/lock.ts";
import { connectLocal, type KernelPhase, listenLocal, type LocalSocket } from "../platform/sockets/socket.ts";
import type { KernelArguments } from "../platform/processes/spawn-kernel.ts";
import { stateHome, userConfigFolder } from "../platform/files/state-folder.ts";
import { redirectConsole } from "../platform/processes/stdio.ts";
import { createEndpoint } from "../protocol/v1/endpoint.ts";
import { KernelServer } from "../server/server.ts";
import { openKernel } from "./kernel.ts";
import { KernelLifetime } from "./kernel-lifetime.ts";
import { stderrLog } from "./log.ts";
import { openShownFiles } from "./shown-files.ts";

/** A kernel without a first client ends after this time. */
const unjoinedMs = 10_000;
/** Maximum wait for a previous kernel that is shutting down. */
const lockPatienceMs = 20_000;
const lockPollMs = 50;

/** Runs a workspace's kernel until it is no longer needed. Returns the process's exit code. */
export async function runKernel(options: KernelArguments & { version: string }): Promise<number> {
  redirectConsole();
  removeNetworkGlobals();
  const log = stderrLog({ least: process.env["LARES_LOG"] === "debug" ? "debug" : "info" });
  const clock = systemClock;
  // A disconnected client breaks pipes, which must not end the kernel.
  process.on("SIGHUP", () => undefined);
  const { stateFolder } = options;
  const lock = await takeLock(stateFolder, clock);
  if (lock === null) {
    log.info("Another kernel has this workspace; this one is not needed.");
    return 0;
  }
  try {
    // Temporary files of decisions or the token; no other process writes here now.
    await removeLeftoverTemporaries(stateFolder);
    await serve(options, clock, log);
    return 0;
  } catch (error) {
    log.error(`The kernel ended: ${messageOf(error)}`, {
      stack: error instanceof Error ? error.stack : undefined,
    });
    return 1;
  } finally {
    await lock.release();
  }
}

async function serve(options: KernelArguments & { version: string }, clock: Clock, log: Log): Promise<void> {
  const { stateFolder, keep, version } = options;
  const userFolder = userConfigFolder({ HOME: homedir(), ...process.env });
  let phase: KernelPhase = "starting";
  let accept: (stream: LocalSocket) => void = (stream) => void stream.destroy();
  // At once, so that clients know of a kernel that takes long to start.
  await using _socket = await listenLocal({
    stateFolder,
    log,
    phase: () => phase,
    accept: (stream) => accept(stream),
  });
  const kernel = await openKernel({
    keep,
    // Resolved once, here: protected paths are recognized by comparing real paths.
    stateFolder: await realpath(stateFolder),
    stateHome: await realpath(stateHome(process.env)),
    givenRoots: options.roots,
    roots: await Promise.all(options.roots.map((root) => realpath(root))),
    userFolder: await realpath(userFolder).catch(() => userFolder),
    environment: process.env,
    version,
    clock,
    log,
  });
  const lifetime = new KernelLifetime({
    clock,
    keep,
    unjoinedMs,
    lingerMs: () => kernel.lingerMs(),
    isAtWork: () => kernel.isAtWork(),
  });
  const server = new KernelServer({
    kernel: kernel.services,
    clients: kernel.clients,
    shownFiles: openShownFiles(await realpath(stateFolder)),
    clock,
    log,
    clientsChanged: (clients) => lifetime.clientsChanged(clients),
  });
  try {
    accept = (stream) => server.accept(createEndpoint({ source: stream, sink: stream, log }));
    phase = "open";
    for (const signal of ["SIGTERM", "SIGINT"] as const)
      process.once(signal, () => lifetime.end(`it was told to (${signal})`));
    const onFailure = (error: unknown): void => {
      log.error(`An error was not handled: ${messageOf(error)}`, {
        stack: error instanceof Error ? error.stack : undefined,
      });
    };
    process.on("unhandledRejection", onFailure);
    process.on("uncaughtException", onFailure);
    log.info(`The kernel ends: ${await lifetime.ended}.`);
  } finally {
    phase = "closing";
    server.close();
    await kernel[Symbol.asyncDispose]();
  }
}

/** Returns the lock, or null if a running kernel has it, so that this one is not needed. */
async function takeLock(stateFolder: string, clock: Clock): Promise<FileLock | null> {
  const path = join(stateFolder, "kernel.lock");
  const deadline = clock.monotonic() + lockPatienceMs;
  for (;;) {
    const outcome = await acquireLock(path);
    if (!("heldBy" in outcome)) return outcome;
    if (clock.monotonic() > deadline || (await isServed(stateFolder))) return null;
    await delay(lockPollMs);
  }
}

async function isServed(stateFolder: string): Promise<boolean> {
  const outcome = await connectLocal(stateFolder);
  if (outcome.kind === "connected") outcome.socket.destroy();
  return outcome.kind === "connected" || outcome.kind === "starting";
}
