import { execFile } from "node:child_process";
import { plainLine } from "../../../kernel/src/base/plain-text.ts";
import { maxReasonLength } from "./kernel-process.ts";
import type { Launch } from "./launch.ts";

/** The time within which `lares stop` asks, waits, kills and waits again. */
const patienceMs = 30_000;
/** Its output is one line. */
const maxOutputBytes = 64 * 1024;

/** Returns the arguments with which `lares` ends the kernel of these folders (absolute paths). */
export function stopArguments(folders: readonly string[]): string[] {
  // After "--", because a folder's name may begin with a dash.
  return ["stop", "--json", "--", ...folders];
}

/**
 * Ends the workspace's kernel. The kernel outlives its front and may not respond any more, so a separate process finds
 * it by its lock and ends it. Resolves with a sentence for the log; rejects with the reason why it is still running.
 * Other editors on the workspace find the next kernel.
 */
export function endKernel(launch: Launch): Promise<string> {
  if (launch.kind === "refused") return Promise.reject(new Error(launch.reason));
  const { command, args, env } = launch;
  const options = { env, timeout: patienceMs, maxBuffer: maxOutputBytes, windowsHide: true };
  return new Promise((resolve, reject) => {
    execFile(command, args, options, (error, stdout, stderr) => {
      if (error === null) resolve(sentenceOf(stdout));
      else {
        const said = plainLine(stderr.trim() || error.message).slice(0, maxReasonLength);
        reject(new Error(said));
      }
    });
  });
}

function sentenceOf(stdout: string): string {
  const { pid, killed } = answerIn(stdout);
  if (typeof pid !== "number") return "No kernel was running.";
  return killed === true
    ? `The kernel (process ${pid}) did not answer and was killed.`
    : `The kernel (process ${pid}) was ended.`;
}

/** Parses the answer of `lares stop --json`; empty if the settings name another program. */
function answerIn(stdout: string): { readonly pid?: unknown; readonly killed?: unknown } {
  try {
    const answer: unknown = JSON.parse(stdout);
    return typeof answer === "object" && answer !== null ? answer : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}
