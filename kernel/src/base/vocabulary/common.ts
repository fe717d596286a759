import { Type, type Static } from "typebox";

/** Nothing beyond what is written down: a misspelt field is an error, not a silence. */
export const closed = { additionalProperties: false } as const;

export const Hash = Type.Unsafe<`sha256:${string}`>(
  Type.String({ pattern: "^sha256:[0-9a-f]{64}$", description: "SHA-256, lower case hexadecimal" }),
);
export type Hash = Static<typeof Hash>;

export const Timestamp = Type.String({ description: "UTC, ISO 8601 with milliseconds" });

export const Path = Type.String({
  minLength: 1,
  maxLength: 4096,
  description: 'Relative to the workspace, "/" separators, no leading "./"',
});

/** A line of a document that a person can open. */
export const Place = Type.Object(
  {
    path: Type.String({ description: "Absolute, on the kernel's machine" }),
    line: Type.Integer({ minimum: 1, description: "Counted from 1" }),
  },
  closed,
);
export type Place = Static<typeof Place>;
