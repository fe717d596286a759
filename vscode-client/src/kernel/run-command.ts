import { execFile } from "node:child_process";
import { plainLine } from "../../../kernel/src/base/plain-text.ts";
import type { Launch } from "./launch.ts";

/** The output of one command: an index has at most some thousand entries. */
const maxOutputBytes = 16 * 1024 * 1024;
/** Errors of the command line are whole sentences, with fingerprints in them. */
const maxErrorLength = 1_000;

/** Runs a command of `lares` in a folder of the workspace, and returns the JSON that it prints. */
export type RunCommand = (words: readonly string[], folder: string, signal?: AbortSignal) => Promise<unknown>;

/**
 * Runs a command of `lares` that prints JSON. Rejects with the command's own sentence if it prints none. `signal` ends it as
 * Ctrl-C does, after which nothing of what it began is left.
 */
export function runCommand(launch: Launch, folder: string, signal?: AbortSignal): Promise<unknown> {
  if (launch.kind === "refused") return Promise.reject(new Error(launch.reason));
  const { command, args, env } = launch;
  const options = {
    cwd: folder,
    env,
    maxBuffer: maxOutputBytes,
    windowsHide: true,
    ...(signal === undefined ? {} : { signal }),
  };
  return new Promise((resolve, reject) => {
    execFile(command, args, options, (error, stdout, stderr) => {
      // A command that has something to report, such as changed files, prints it and exits with 1.
      const answer = answerIn(stdout);
      if (answer !== undefined && signal?.aborted !== true) resolve(answer);
      else reject(new Error(sentenceOf(stderr) || plainLine(error?.message ?? "It printed no JSON.")));
    });
  });
}

function answerIn(stdout: string): unknown {
  if (stdout.trim() === "") return undefined;
  try {
    return JSON.parse(stdout);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The error stands behind what the command showed before. */
function sentenceOf(stderr: string): string {
  const lines = stderr.split("\n");
  const first = lines.findLastIndex((line) => line.startsWith("error: "));
  const text =
    first < 0 ? (lines.findLast((line) => line.trim() !== "") ?? "") : lines.slice(first).join(" ");
  return plainLine(text.replace(/^error: /, ""))
    .trim()
    .slice(0, maxErrorLength);
}
