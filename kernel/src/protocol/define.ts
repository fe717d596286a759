import type { Static, TSchema } from "typebox";
import type { ErrorCode } from "../base/errors.ts";

/** The errors of a method, in addition to `commonErrors` of `common-errors.ts`, and their causes. */
export type MethodErrors = Readonly<Partial<Record<ErrorCode, string>>>;

/** A request of the protocol: its params and result. */
export interface RequestShape {
  /** What the method does, for readers of `schemas/`: sentences in Markdown. */
  readonly about: string;
  readonly errors: MethodErrors;
  readonly params: TSchema;
  readonly result: TSchema;
}

/** A notification, or a command of `workspace/executeCommand`: its contents. */
export interface ParamsShape {
  /** What it reports or does, for readers of `schemas/`: sentences in Markdown. */
  readonly about: string;
  readonly params: TSchema;
}

/** Preserves the exact schemas in the type, so that static types can be derived from them. */
export function define<Shapes extends Record<string, RequestShape>>(shapes: Shapes): Shapes {
  return shapes;
}

/** Like `define`, for messages without a result. */
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
