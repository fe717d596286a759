import { Type } from "typebox";

/** An id or a name in a client's request. */
export const Name = Type.String({ minLength: 1, maxLength: 256 });

/** How many rows at most. Above the maximum is an error, not a silent cut. */
export const Limit = Type.Integer({ minimum: 1, maximum: 10_000, default: 100 });

/** A point in time in a question: ISO 8601, or an age such as "7d". */
export const When = Type.String({
  minLength: 1,
  maxLength: 40,
  description: 'ISO 8601, or an age: "30s", "15m", "12h", "7d"',
});

export const Empty = Type.Object({});
export const Base64 = Type.String({ description: "Standard base64, padded" });
