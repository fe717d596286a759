import { spawn } from "node:child_process";
import { expect } from "vitest";
import { failpointVariable } from "../failpoint.ts";

/**
 * Runs a program that dies at a failpoint if it comes there. Returns true if it did, false if it finished; anything else
 * fails the test. What Node compiles is kept in `compiled`.
 */
export async function diesAt(failpoint: string, args: readonly string[], compiled: string): Promise<boolean> {
  const running = spawn(process.execPath, args, {
    env: { ...process.env, [failpointVariable]: failpoint, NODE_OPTIONS: "", NODE_COMPILE_CACHE: compiled },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let errors = "";
  running.stderr.on("data", (data: Buffer) => (errors += data.toString()));
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) =>
    running.once("close", (exitCode, exitSignal) => resolve([exitCode, exitSignal])),
  );
  if (signal === "SIGKILL") return true;
  expect([code, errors]).toEqual([0, ""]);
  return false;
}
