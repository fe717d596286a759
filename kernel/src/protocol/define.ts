import type { Static, TSchema } from "typebox";

/** One request of the wire: what it takes and what it answers. */
export interface RequestShape {
  readonly params: TSchema;
  readonly result: TSchema;
}

/** Keeps the exact schemas in the type, so that types are read from them. */
export function define<Shapes extends Record<string, RequestShape>>(shapes: Shapes): Shapes {
  return shapes;
}

export type ParamsIn<Shapes extends Record<string, RequestShape>, Method extends keyof Shapes> = Static<
  Shapes[Method]["params"]
>;
export type ResultIn<Shapes extends Record<string, RequestShape>, Method extends keyof Shapes> = Static<
  Shapes[Method]["result"]
>;
