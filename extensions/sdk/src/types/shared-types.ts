import type { CallOptions } from "./call.ts";
import type { Operator, Position, Untyped } from "./memory.ts";

/** A value with its version, which each write raises. */
export interface SharedValue<Value = Untyped> {
  readonly version: number;
  readonly value: Value;
}

/** A condition on a field of a value; `field` is dotted, and a number is a place in an array. */
export type ValueCondition =
  | { readonly field: string; readonly op: Operator; readonly value: unknown }
  | { readonly field: string; readonly op: "near"; readonly value: Position; readonly km: number };

export interface SharedValueQuery extends CallOptions {
  /** Returned values meet all conditions; at most 32. Default: all values. */
  readonly where?: readonly ValueCondition[];
  /** 1 to 1,000, default 100. */
  readonly limit?: number;
  /** The `cursor` of the previous page. */
  readonly cursor?: string;
}

/** The values of one type, of this extension or of another one that the manifest's `shared_types` names. */
export interface SharedValues<Value = Untyped> {
  /** Adds a value. Rejects with `InvalidParams` if it does not fit the type, with `Conflict` if its key is taken. */
  create(value: Value): Promise<{ readonly version: number }>;
  /** Returns null if no value has this key. */
  get(key: string, options?: CallOptions): Promise<SharedValue<Value> | null>;
  /** Returns a page of values, ordered by key. `cursor` starts the next page; it is undefined on the last one. */
  query(
    query?: SharedValueQuery,
  ): Promise<{ readonly items: readonly SharedValue<Value>[]; readonly cursor?: string }>;
  /** Replaces the value if it is still at this version, else rejects with `Conflict` (`facts.revision`). It keeps its key. */
  update(key: string, version: number, value: Value): Promise<{ readonly version: number }>;
  /** Removes the value if it is still at this version, else rejects with `Conflict`. */
  remove(key: string, version: number): Promise<void>;
}
