import { Type, type Static } from "typebox";
import { maxEffectsPerAction } from "./bounds.ts";
import { closed } from "./common.ts";

export const EffectIndex = Type.Integer({
  minimum: 0,
  maximum: maxEffectsPerAction - 1,
  description: "Which effect, by its index in the action's `effects`",
});

const ofEffect = { effect: EffectIndex };

/** The content that a person wants a file to have instead of the proposed one. */
export const ContentEdit = Type.Union([
  Type.Object({ ...ofEffect, content: Type.String({ description: "The whole content, as text" }) }, closed),
  Type.Object(
    { ...ofEffect, content_base64: Type.String({ description: "The whole content, as standard Base64" }) },
    closed,
  ),
]);
export type ContentEdit = Static<typeof ContentEdit>;
