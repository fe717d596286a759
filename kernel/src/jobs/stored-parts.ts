import type { JsonValue } from "../base/json.ts";
import { type Foreign, isForeign, nothingForeign } from "../base/vocabulary/foreign.ts";
import { type Lineage, ownAccord, readLineage } from "../base/vocabulary/principal.ts";

/** The columns of a job's row that are only read when it runs; null if another program changed the row. */
export interface StoredParts {
  readonly input: string;
  readonly checkpoint: string | null;
  readonly lineage: string | null;
  readonly read_before: string | null;
}

interface Parts {
  readonly input: JsonValue;
  readonly checkpoint?: JsonValue;
  readonly lineage: Lineage;
  readonly foreign: Foreign;
}

/** Returns null for a row that no kernel can have written. */
export function readParts({ input, checkpoint, lineage, read_before: foreign }: StoredParts): Parts | null {
  try {
    return {
      lineage: lineage === null ? ownAccord : readLineage(JSON.parse(lineage)),
      foreign: readForeign(foreign),
      input: JSON.parse(input) as JsonValue,
      ...(checkpoint === null ? {} : { checkpoint: JSON.parse(checkpoint) as JsonValue }),
    };
  } catch {
    return null;
  }
}

/** Returns null for what no kernel can have written. */
export function lineageIn(text: string): Lineage | null {
  try {
    return readLineage(JSON.parse(text));
  } catch {
    return null;
  }
}

/** Returns the column's text; null where there is nothing to store. */
export function foreignText(foreign: Foreign | undefined): string | null {
  return foreign === undefined || !isForeign(foreign) ? null : JSON.stringify(foreign);
}

export function readForeign(text: string | null): Foreign {
  return text === null ? nothingForeign : (JSON.parse(text) as Foreign);
}
