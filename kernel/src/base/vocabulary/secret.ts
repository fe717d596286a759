import { Type, type Static } from "typebox";

/** Lower case, because the environment's variables (`LARES_SECRET_<NAME>`) have no case of their own. */
export const secretNamePattern = "^[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?$";
export const maxSecretNameLength = 64;
/** The rule for names of secrets, as the end of a sentence. */
export const secretNameRule = `at most ${maxSecretNameLength} of a-z, 0-9, "_" and "-", with a letter or digit at both ends`;

/** What may be told about a secret: never its value. */
export const SecretItem = Type.Object(
  {
    name: Type.String({ description: "The name by which documents and agents refer to it" }),
    hosts: Type.Array(Type.String(), { description: "The hosts to which it may be sent; none: to no host" }),
    in: Type.String({
      description:
        "Where in a request it may stand: `header` (any of the authorization headers), `header:<name>`, `query:<key>` or `body`",
    }),
    created: Type.Union([Type.String(), Type.Null()], {
      description: "When it was stored (ISO 8601); null for one that only the environment has",
    }),
    source: Type.Union([Type.Literal("store"), Type.Literal("environment")], {
      description: "Where its value comes from; `LARES_SECRET_<NAME>` in the environment wins",
    }),
  },
  { description: "A secret of the user, without its value" },
);
export type SecretItem = Static<typeof SecretItem>;

/** Shorter values are not searched for: they would be found in texts that have nothing to do with them. */
export const minFoundSecretBytes = 8;
