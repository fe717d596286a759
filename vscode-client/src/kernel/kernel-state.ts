import type { Status } from "../protocol.ts";
import type { ConnectionState } from "./connection.ts";
import type { KernelState } from "./kernel.ts";

/** How the kernel is, from how its process is and what it last said of itself. */
export function kernelStateOf(
  connection: ConnectionState,
  status: Status | undefined,
  isEditorTrusted: boolean,
  /** Why nothing is known of it, where it should have answered long ago. */
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
