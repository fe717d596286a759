import { limitExceeded } from "../base/errors.ts";
import { RecordForm } from "../journal/record.ts";
import { maxLineBytes, recordKinds } from "../memory-contract/records.ts";
import type { Refusals } from "../journal/tail.ts";

/** The records that a memory's journal has. */
export const memoryRecords = new RecordForm(recordKinds);

/** The id under which events that are too old, and superseded states, are redacted. All else is redacted by its own id. */
export const retentionId = "retention";

/** What is said to a caller whose record does not fit. */
export const memoryRefusals: Refusals = {
  tooLong: (lineBytes) =>
    limitExceeded(
      "memory_record_bytes",
      lineBytes,
      `This would be a record of ${lineBytes} bytes; one may have at most ${maxLineBytes}. Nothing was written. Keep large data in a file, and its path in memory.`,
    ),
  full: (wantedBytes, maxBytes) =>
    limitExceeded(
      "max_storage_mb",
      wantedBytes,
      `This would grow the memory to ${wantedBytes} bytes, over its max_storage_mb of ${Math.floor(maxBytes / (1024 * 1024))}. Nothing was written. Forgetting what is not needed, or a cleanup of old events, makes it smaller; or raise the limit in the manifest.`,
    ),
};
