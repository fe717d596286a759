import { appendFileSync, readFileSync } from "node:fs";
import process from "node:process";
import type { FailpointName } from "./failpoints.ts";

/**
 * Names the failpoint at which the process dies: `name`, or `name@3` for the third time it is passed. Several,
 * with commas between them, need a mark file. Only the environment a process was started with can set it: nothing
 * a client, a document or an extension says reaches it, and of the kernel's children only those get it that have
 * failpoints of their own.
 */
export const failpointVariable = "LARES_FAILPOINT";
/**
 * A file that gets a line for each death. It says which of several failpoints is next: the first process dies at
 * the first, the one after it at the second, and when all have had their turn, processes live.
 */
export const failpointMarkVariable = "LARES_FAILPOINT_MARK";

const markFile = process.env[failpointMarkVariable] ?? "";
const [chosen, times] = nextDeath();
let passesLeft = times === undefined ? 1 : Number(times);

/**
 * Does nothing, unless the environment named this point: then the process ends here and now by SIGKILL,
 * as if its power had been cut, so that what a crash leaves behind can be tested.
 */
export function failpoint(name: FailpointName): void {
  if (name !== chosen) return;
  passesLeft -= 1;
  if (passesLeft > 0) return;
  if (markFile !== "") appendFileSync(markFile, `${name} ${process.pid}\n`);
  process.kill(process.pid, "SIGKILL");
  // The signal reaches a worker thread's process a moment later: nothing may happen in between.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

/** For a child that has failpoints of its own: what it needs to die at them, where all that are named are its own. */
export function failpointsPassedOn(prefix: string): {
  readonly environment: Readonly<Record<string, string>>;
  /** What it has to read and write for that. */
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
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return 0;
    throw error;
  }
}
