import { neverAborted } from "../base/abort.ts";
import { LaresError } from "../base/errors.ts";
import { chainStart } from "../memory-contract/records.ts";
import { findSegments, type Segment } from "../memory-contract/segments.ts";
import type { ObjectStore } from "../platform/files/object-store.ts";
import { findParts } from "./find.ts";
import { verifyParts } from "./parts.ts";
import type { RecordForm } from "./record.ts";
import { type FirstBad, type KnownEnd, scanJournal } from "./scan.ts";

export interface Verification {
  readonly ok: boolean;
  /** The number of intact records in the chain. */
  readonly records: number;
  /** Hash of the last intact record, 64 hexadecimal digits. */
  readonly head: string;
  readonly firstBad?: FirstBad;
}

/** Returns the error for a journal that is not what was written. */
export function damageError(name: string, folder: string, firstBad: FirstBad): LaresError {
  return new LaresError(
    "StorageError",
    `The ${name} journal in "${folder}" is damaged at seq ${firstBad.seq}: ${firstBad.reason}. It was left as it is; put the folder back from a backup.`,
    { firstBad },
  );
}

/** Proves a journal that is not open, up to the end that is known of it, and its parts, if it has any. Rejects with the signal's reason once it is aborted. */
export async function verifyJournal(
  folder: string,
  anchor: KnownEnd | undefined,
  form: RecordForm<string>,
  { parts, signal }: { readonly parts?: Pick<ObjectStore, "stream">; readonly signal?: AbortSignal } = {},
): Promise<Verification> {
  const segments = await findSegments(folder);
  const verification = await verifySegments(segments, anchor ?? chainStart, form, signal);
  if (!verification.ok || parts === undefined) return verification;
  return withBadPart(verification, await verifyParts(parts, await findParts(segments, form), signal));
}

/** Returns what was found in the chain, and after it in its parts. */
export function withBadPart(verification: Verification, firstBad: FirstBad | null): Verification {
  return firstBad === null ? verification : { ...verification, ok: false, firstBad };
}

/** Proves the chain in these segments, from its root. Rejects with the signal's reason once it is aborted. */
export async function verifySegments(
  segments: readonly Segment[],
  anchor: KnownEnd,
  form: RecordForm<string>,
  signal = neverAborted,
): Promise<Verification> {
  const pause = async (): Promise<void> => signal.throwIfAborted();
  const { end, firstBad } = await scanJournal(segments, anchor, form, undefined, { pause });
  return {
    ok: firstBad === null,
    records: end.seq,
    head: end.hash,
    ...(firstBad === null ? {} : { firstBad }),
  };
}
