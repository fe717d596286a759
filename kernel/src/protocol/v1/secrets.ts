import { maxSecretValueBytes } from "../../base/vocabulary/bounds.ts";
import { Type } from "typebox";
import { SecretItem } from "../../base/vocabulary/secret.ts";
import { define } from "../define.ts";

const Name = Type.String({
  minLength: 1,
  maxLength: 64,
  description: "The secret's name: a-z, 0-9, `_` and `-`",
  examples: ["anthropic"],
});

export const secretRequests = define({
  "lares/secrets/list": {
    about: "Returns the user's secrets without their values, by name. No method returns a value.",
    errors: {},
    params: Type.Object({}),
    result: Type.Object({ items: Type.Array(SecretItem, { description: "The secrets" }) }),
  },
  "lares/secrets/set": {
    about: "Stores a secret for this user, encrypted, or replaces the one of the same name.",
    errors: { LimitExceeded: "There are 1,000 secrets already." },
    params: Type.Object({
      name: Name,
      value: Type.String({
        minLength: 1,
        maxLength: maxSecretValueBytes,
        description: "The value, at most 65,536 bytes; it appears nowhere else",
      }),
      hosts: Type.Array(Type.String({ minLength: 1, maxLength: 260 }), {
        minItems: 1,
        maxItems: 16,
        description: "The hosts to which it may be sent, as `api.example.com`; a port may follow",
      }),
      in: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 72,
          default: "header",
          description:
            "Where in a request it may stand: `header` (any of the authorization headers), `header:<name>`, `query:<key>` or `body`",
        }),
      ),
    }),
    result: SecretItem,
  },
  "lares/secrets/remove": {
    about: "Removes a stored secret.",
    errors: { NotFound: "There is no stored secret of this name." },
    params: Type.Object({ name: Name }),
    result: Type.Null({ description: "It is removed" }),
  },
});
