import { maxPathLength } from "./bounds.ts";
import { Type, type Static } from "typebox";
import type { JsonValue } from "../json.ts";

/** Rejects unknown properties, so that a misspelt field is an error instead of being ignored. */
export const closed = { additionalProperties: false } as const;

export const Hash = Type.Unsafe<`sha256:${string}`>(
  Type.String({ pattern: "^sha256:[0-9a-f]{64}$", description: "SHA-256, lower case hexadecimal" }),
);
export type Hash = Static<typeof Hash>;
/** A hash with a description of what was hashed. */
export const HashOf = (description: string) =>
  Type.Unsafe<Hash>({ ...Hash, description: `${description}; SHA-256, lower case hexadecimal` });

export const Json = (description: string) => Type.Unsafe<JsonValue>(Type.Unknown({ description }));

/** A time in UTC, ISO 8601 with milliseconds, with a description. */
export const Timestamp = (description: string) =>
  Type.String({ description: `${description}; UTC, ISO 8601 with milliseconds` });

export const Path = Type.String({
  minLength: 1,
  maxLength: maxPathLength,
  description: 'Relative to the workspace, "/" separators, no leading "./"',
});

export const PathOf = (description: string) => Type.String({ ...Path, description });

/** A line of a document that a person can open. */
export const Place = Type.Object(
  {
    path: Type.String({ description: "Absolute path on the kernel's machine" }),
    line: Type.Integer({ minimum: 1, description: "Line, counted from 1" }),
  },
  { ...closed, description: "The line of a document or program that this is about" },
);
export type Place = Static<typeof Place>;

export const Severity = Type.Union([Type.Literal("info"), Type.Literal("warning"), Type.Literal("error")], {
  description: "How much it matters",
});
