import type { JsonValue } from "./json.ts";

/** Makes a type readonly at every depth. Values that may be any JSON are readonly already. */
export type DeepReadonly<Value> = JsonValue extends Value
  ? Value
  : Value extends object
    ? { readonly [Key in keyof Value]: DeepReadonly<Value[Key]> }
    : Value;
