import { Type, type Static } from "typebox";
import { closed } from "../../base/vocabulary/common.ts";

const Host = (description: string) =>
  Type.String({ minLength: 1, maxLength: 261, description, examples: ["nas.lan"] });

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
  },
  { ...closed, description: "How requests leave this machine" },
);
export type EgressDocument = Static<typeof Egress>;
