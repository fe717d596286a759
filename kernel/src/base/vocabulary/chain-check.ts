import { type Static, Type } from "typebox";

/** The result of proving a hash chain of records. */
export const ChainCheck = Type.Object({
  ok: Type.Boolean({ description: "Every record is as it was written" }),
  records: Type.Integer({ minimum: 0, description: "Records that were checked" }),
  head: Type.Union([Type.String(), Type.Null()], {
    description: "The last hash of the chain, 64 hexadecimal digits; null while it is empty",
  }),
  firstBad: Type.Optional(
    Type.Object(
      {
        seq: Type.Integer({ description: "The record's number, from 1" }),
        reason: Type.String({ description: "What is wrong with it" }),
      },
      { description: "The first record that is not as it was written" },
    ),
  ),
});
export type ChainCheck = Static<typeof ChainCheck>;
