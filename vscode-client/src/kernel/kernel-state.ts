import type { Status } from "../protocol.ts";
import type { ConnectionState } from "./connection.ts";
import type { KernelState } from "./kernel.ts";

/** Returns the state of the kernel from its process and its last status. */
export function kernelStateOf(
  connection: ConnectionState,
  status: Status | undefined,
  isEditorTrusted: boolean,
  /** Why nothing is known, if an answer is long overdue. */
  silence: string | null,
): KernelState {
  if (connection.kind !== "up") return connection;
  if (silence !== null) return { kind: "silent", reason: silence };
  if (!isEditorTrusted) return { kind: "untrusted", by: "editor" };
  if (status === undefined) return { kind: "starting" };
  return status.trusted ? { kind: "running" } : { kind: "untrusted", by: "documents" };
}

export function isSameState(one: KernelState, other: KernelState): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
