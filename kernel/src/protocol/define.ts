import type { Static, TSchema } from "typebox";
import type { ErrorCode } from "../base/errors.ts";

/** What a method may answer with beside `commonErrors` of `common-errors.ts`, and when. */
export type MethodErrors = Readonly<Partial<Record<ErrorCode, string>>>;

/** One request of the wire: what it takes and what it answers. */
export interface RequestShape {
  /** What the method does, for readers of `schemas/`: sentences in Markdown. */
  readonly about: string;
  readonly errors: MethodErrors;
  readonly params: TSchema;
  readonly result: TSchema;
}

/** A notification, or a command of `workspace/executeCommand`: what it carries. */
export interface ParamsShape {
  /** What it tells or does, for readers of `schemas/`: sentences in Markdown. */
  readonly about: string;
  readonly params: TSchema;
}

/** Keeps the exact schemas in the type, so that types are read from them. */
export function define<Shapes extends Record<string, RequestShape>>(shapes: Shapes): Shapes {
  return shapes;
}

/** As `define`, for what has no result of its own. */
export function defineParams<Shapes extends Record<string, ParamsShape>>(shapes: Shapes): Shapes {
  return shapes;
}

export type ParamsIn<
  Shapes extends Record<string, { readonly params: TSchema }>,
  Method extends keyof Shapes,
> = Static<Shapes[Method]["params"]>;
export type ResultIn<Shapes extends Record<string, RequestShape>, Method extends keyof Shapes> = Static<
  Shapes[Method]["result"]
>;
