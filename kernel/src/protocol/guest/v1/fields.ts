import { Type } from "typebox";

/** A name that an agent or its manifest chose. */
export const Name = (description: string) => Type.String({ minLength: 1, maxLength: 256, description });

/** The result of a call that only does something. */
export const Nothing = Type.Unknown({ description: "Nothing of interest" });
