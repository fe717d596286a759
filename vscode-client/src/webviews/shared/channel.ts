import * as v from "valibot";

/**
 * The messages between a view and the extension: the view sends requests, the extension answers and pushes
 * notifications. Each view has one contract (`messages.ts`), and both sides validate messages against it, because pages
 * show foreign text and the extension has the authority.
 */
export interface Contract {
  readonly requests: Readonly<Record<string, RequestShape>>;
  readonly pushes: Readonly<Record<string, v.GenericSchema>>;
}
interface RequestShape {
  readonly params: v.GenericSchema;
  readonly result: v.GenericSchema;
}

export type RequestName<C extends Contract> = keyof C["requests"] & string;
export type PushName<C extends Contract> = keyof C["pushes"] & string;
export type Params<C extends Contract, Name extends RequestName<C>> = v.InferOutput<
  C["requests"][Name]["params"]
>;
export type Result<C extends Contract, Name extends RequestName<C>> = v.InferOutput<
  C["requests"][Name]["result"]
>;
export type Push<C extends Contract, Name extends PushName<C>> = v.InferOutput<C["pushes"][Name]>;

/** Why a request failed, in a sentence for the person; `code` as the kernel names it. */
export interface Failure {
  readonly message: string;
  readonly code?: string;
}

/** Characters of a failure's message that a view shows. */
export const maxFailureCharacters = 2_000;

const Id = v.pipe(v.number(), v.integer(), v.minValue(1));
const Name = v.pipe(v.string(), v.maxLength(64));

/** From the view to the extension. */
export const Ask = v.object({ id: Id, ask: Name, params: v.unknown() });
export type Ask = v.InferOutput<typeof Ask>;

/** From the extension to the view. */
export const Told = v.union([
  v.object({
    answer: Id,
    failure: v.object({
      message: v.pipe(v.string(), v.maxLength(maxFailureCharacters)),
      code: v.optional(Name),
    }),
  }),
  v.object({ answer: Id, result: v.unknown() }),
  v.object({ push: Name, params: v.unknown() }),
]);
export type Told = v.InferOutput<typeof Told>;

/** The limits of a single message, checked before its shape is validated. */
export interface Bounds {
  /** Values of any kind, including the keys of objects. */
  readonly maxValues: number;
  /** UTF-16 code units of all strings and keys together. */
  readonly maxCharacters: number;
}
/** Requests of a view are small; a form's arguments are the largest. */
export const askBounds: Bounds = { maxValues: 20_000, maxCharacters: 1_000_000 };
/** An answer contains up to a page of an agent's memory. */
export const toldBounds: Bounds = { maxValues: 400_000, maxCharacters: 16_000_000 };

/** Returns true if a structured-cloned value is within the bounds; stops at the first violation. */
export function isWithin(value: unknown, { maxValues, maxCharacters }: Bounds): boolean {
  const open: unknown[] = [value];
  let values = 0;
  let characters = 0;
  while (open.length > 0) {
    const next = open.pop();
    values++;
    if (typeof next === "string") characters += next.length;
    else if (Array.isArray(next)) {
      if (values + open.length + next.length > maxValues) return false;
      open.push(...(next as unknown[]));
    } else if (typeof next === "object" && next !== null) {
      for (const [key, member] of Object.entries(next)) {
        characters += key.length;
        values++;
        open.push(member);
        if (values + open.length > maxValues) return false;
      }
    }
    if (values > maxValues || characters > maxCharacters) return false;
  }
  return true;
}

/** Returns the value as validated by the schema, without unknown members; undefined if it does not match. */
export function readAs<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
): { readonly value: v.InferOutput<Schema> } | undefined {
  const read = v.safeParse(schema, value);
  return read.success ? { value: read.output } : undefined;
}
