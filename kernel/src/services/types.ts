import type { JsonValue } from "../base/json.ts";

/** A type whose values agents share, with the definition that counts. */
interface StoredType {
  /** `<extension id>/<name>`. */
  readonly type: string;
  readonly version: number;
  /** The property that tells values apart. */
  readonly key: string;
  /** JSON Schema of its values. */
  readonly schema: Record<string, unknown>;
  readonly count: number;
  /** The length of all values as JSON. */
  readonly characters: number;
}

/** The values that agents share by types, as a person may see them. */
export interface TypeService {
  /** By name. */
  list(): Promise<StoredType[]>;
  /** A page of values, ordered by key. NotFound. */
  values(
    type: string,
    cursor?: string,
  ): Promise<{
    readonly items: readonly { readonly version: number; readonly value: JsonValue }[];
    readonly cursor?: string;
  }>;
}
