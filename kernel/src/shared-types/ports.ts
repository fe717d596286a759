import type { Foreign, ReadTexts } from "../base/vocabulary/foreign.ts";
import type { SharedTypeDefinition } from "../base/vocabulary/shared-type.ts";

/** The first of some values that does not fit a schema. */
export type Misfit =
  | {
      readonly kind: "unfit";
      /** Which of the values. */
      readonly index: number;
      /** JSON Pointer into the value. */
      readonly path: string;
      /** The requirement, as the end of a sentence without its full stop. */
      readonly message: string;
    }
  /** They could not be checked. */
  | { readonly kind: "unchecked"; readonly message: string };

export interface SharedTypePorts {
  /** Returns what an extension that is installed declares now; null if it declares no such type. */
  declared(extension: string, name: string): SharedTypeDefinition | null;
  /** Returns null if all values fit. `caller` is charged for the time. */
  misfitAmong(
    caller: string,
    type: string,
    schema: Record<string, unknown>,
    values: readonly unknown[],
  ): Promise<Misfit | null>;
  /** Texts that nobody vouches for, in values that a program migrates. */
  readonly foreign: MigrationMarks;
  /** Loads the extension's agent, which adopts its types. Throws AgentError if it cannot run. */
  wake(extension: string): Promise<unknown>;
}

export interface MigrationMarks {
  isMarked(type: string, key: string): boolean;
  /** Records that the owner's program is about to read these values. Returns everything that it has read. */
  reading(type: string, keys: readonly string[]): ReadTexts;
  /** Marks values, in addition to what they are marked with. */
  mark(type: string, keys: readonly string[], foreign: Foreign): Promise<void>;
}

/**
 * Asks the program of an extension to bring values of an older version into the form of the newest; as many values, in the same
 * order.
 */
export type Migrate = (
  name: string,
  fromVersion: number,
  values: readonly unknown[],
) => Promise<readonly unknown[]>;
