import type { Status } from "../protocol.ts";
import { label } from "./text.ts";

/** A request for permissions; the page shows the details. */
export interface TrustQuestion {
  readonly digest: Status["trust"]["digest"];
  readonly title: string;
}

/** Returns the open question, or null if everything that the workspace requests is answered. */
export function trustQuestion(status: Status | undefined): TrustQuestion | null {
  if (status === undefined) return null;
  const { digest, pending, changedPrograms } = status.trust;
  if (pending.length === 0 && status.trusted) return null;
  return { digest, title: titleOf(status.trusted, changedPrograms) };
}

function titleOf(isTrusted: boolean, changedPrograms: readonly string[]): string {
  if (changedPrograms.length > 0) {
    const names = changedPrograms.map((id) => label(id)).join(", ");
    return changedPrograms.length === 1
      ? `The program of ${names} has changed and waits for your approval.`
      : `The programs of ${names} have changed and wait for your approval.`;
  }
  return isTrusted
    ? "The agents of this workspace ask for more than you allowed."
    : "This workspace has agents. Choose what they may do; nothing runs before.";
}
