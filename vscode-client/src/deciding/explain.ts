import { window } from "vscode";
import type { KernelError } from "../kernel/kernel.ts";
import { message } from "../model/text.ts";

/** Returns the name of a kernel's refusal, such as "Stale"; undefined for any other error. */
export function refusalOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const code: unknown = (error as Partial<KernelError>).data?.code;
  return typeof code === "string" ? code : undefined;
}

/** Refusals whose own message is meant for users of the protocol. */
const sentences: Readonly<Record<string, string>> = {
  DigestMismatch:
    "It has changed since it was shown to you, so nothing was done. Look at it again, and then decide.",
  Untrusted: "This workspace is not trusted, so nothing was done. Review what it asks for first.",
  Busy: "The kernel is starting; try again in a moment.",
};

/** Returns a message for a person from whatever was thrown. */
export function explain(error: unknown): string {
  const own = sentences[refusalOf(error) ?? ""];
  return own ?? message(error instanceof Error ? error.message : String(error));
}

/** Runs a command; an error is shown in one sentence that begins with `what`. */
export async function reporting(what: string, run: () => Promise<unknown>): Promise<void> {
  try {
    await run();
  } catch (error) {
    void window.showErrorMessage(`${what}: ${explain(error)}`);
  }
}
