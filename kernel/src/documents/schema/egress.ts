import { Type, type Static } from "typebox";
import { closed } from "../../base/vocabulary/common.ts";

const Host = (description: string) =>
  Type.String({ minLength: 1, maxLength: 261, description, examples: ["nas.lan"] });

const LeakRule = Type.Object(
  {
    name: Type.String({
      pattern: "^[A-Za-z0-9](?:[A-Za-z0-9 ._-]{0,62}[A-Za-z0-9])?$",
      description: "What stands in a secret's place, as [secret: name]",
      examples: ["acme key"],
    }),
    keywords: Type.Array(
      Type.String({
        pattern: "^[!-~]{3,64}$",
        description:
          "Three or more characters without spaces, in any case, with which such a secret begins, or that stand at most 1,000 characters before it",
        examples: ["acme_"],
      }),
      {
        minItems: 1,
        maxItems: 16,
        description: "Texts at which the pattern is tried; without one of them nothing is found",
      },
    ),
    pattern: Type.String({
      minLength: 1,
      maxLength: 512,
      description:
        "A regular expression of RE2, without look-around and back-references, for at most 512 characters",
      examples: ["acme_[a-z0-9]{20}"],
    }),
  },
  { ...closed, description: "How one kind of secret looks" },
);

/** `egress:` in the user's document. */
export const Egress = Type.Object(
  {
    proxy: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 2048,
        description: "The proxy that requests go through; default HTTPS_PROXY of the environment",
        examples: ["http://proxy.example.com:3128"],
      }),
    ),
    no_proxy: Type.Optional(
      Type.Array(Host("A host, or a domain with a dot in front"), {
        maxItems: 256,
        description: "Hosts that are reached without the proxy",
      }),
    ),
    ca_file: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 4096,
        description: "A PEM file with certificate authorities to trust beside the built-in ones",
      }),
    ),
    private_hosts: Type.Optional(
      Type.Array(Host("A host, with a port or without"), {
        maxItems: 256,
        description: "Hosts inside this network that may be reached, also by http",
      }),
    ),
    leak_rules: Type.Optional(
      Type.Array(LeakRule, {
        maxItems: 64,
        description:
          "Secrets of your own kinds, beside those that Lares knows: refused in requests of agents, marked on the way to models and in their answers, redacted in traces",
      }),
    ),
  },
  { ...closed, description: "How requests leave this machine" },
);
export type EgressDocument = Static<typeof Egress>;
export type LeakRuleDocument = Static<typeof LeakRule>;
