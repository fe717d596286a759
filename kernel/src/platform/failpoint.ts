import { appendFileSync, readFileSync } from "node:fs";
import process from "node:process";
import { systemCode } from "../base/errors.ts";
import type { FailpointName } from "./failpoints.ts";

/**
 * Names the failpoint at which the process dies: `name`, or `name@3` for the third pass. Several, separated by
 * commas, need a mark file. Only the environment that a process was started with can set it, never a client, a
 * document or an extension; and the kernel passes it only to children that have failpoints of their own.
 */
export const failpointVariable = "LARES_FAILPOINT";
/**
 * A file that gets a line for each death and so determines which of several failpoints is next: the first process
 * dies at the first, the next one at the second, and later processes live.
 */
export const failpointMarkVariable = "LARES_FAILPOINT_MARK";

const markFile = process.env[failpointMarkVariable] ?? "";
const [chosen, times] = nextDeath();
let passesLeft = times === undefined ? 1 : Number(times);

/**
 * Does nothing unless the environment names this point. Then it kills the process with SIGKILL, as if its power had
 * been cut, so that tests can examine what a crash leaves behind.
 */
export function failpoint(name: FailpointName): void {
  if (name !== chosen) return;
  passesLeft -= 1;
  if (passesLeft > 0) return;
  if (markFile !== "") appendFileSync(markFile, `${name} ${process.pid}\n`);
  process.kill(process.pid, "SIGKILL");
  // In a worker thread, the signal takes effect a moment later; nothing may happen in between.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

/** Returns what a child needs to die at its own failpoints, if all named ones are its own. */
export function failpointsPassedOn(prefix: string): {
  readonly environment: Readonly<Record<string, string>>;
  /** Paths that it must be able to read and write for that. */
  readonly paths: readonly string[];
} {
  const points = process.env[failpointVariable] ?? "";
  const mark = process.env[failpointMarkVariable] ?? "";
  if (points === "" || !points.split(",").every((name) => name.startsWith(prefix))) {
    return { environment: {}, paths: [] };
  }
  return {
    environment: { [failpointVariable]: points, ...(mark === "" ? {} : { [failpointMarkVariable]: mark }) },
    paths: mark === "" ? [] : [mark],
  };
}

function nextDeath(): readonly (string | undefined)[] {
  const points = process.env[failpointVariable] ?? "";
  if (points === "") return [];
  const next = points.split(",")[markFile === "" ? 0 : deathsSoFar()] ?? "";
  return next.split("@");
}

function deathsSoFar(): number {
  try {
    return readFileSync(markFile, "utf8").split("\n").length - 1;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return 0;
    throw error;
  }
}
