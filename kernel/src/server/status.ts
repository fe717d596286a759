import type { Handlers } from "./handlers.ts";

/** `lares/status`, and `lares/trust/*`: what the workspace's documents ask for, and a person's word on it. */
export const statusHandlers: Handlers = {
  "lares/status": async (_params, { client }) => client.status(),
  "lares/trust": async ({ trusted, digest, grants }, { client }) => {
    if (trusted) await client.accept(digest, grants);
    else await client.revoke();
    return client.status();
  },
  "lares/trust/question": async (_params, { client }) => client.question(),
  "lares/trust/program": async ({ extension, path }, { client }) =>
    client.open.trust.program(extension, path),
};
