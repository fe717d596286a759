import { limitExceeded } from "../../base/errors.ts";
import { RecordForm } from "../../journal/record.ts";
import { maxLineBytes, recordKinds } from "../../memory-contract/records.ts";
import type { Refusals } from "../../journal/append-group.ts";

/** The kinds of records in a memory's journal. */
export const memoryRecords = new RecordForm(recordKinds);

/** The id under which old events and superseded states are redacted. Everything else is redacted by its own id. */
export const retentionId = "retention";

/** The errors for a record that does not fit. */
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
