import type { Handlers } from "./handlers.ts";

/** `lares/trust`, `lares/trust/*`: the requests of the workspace's documents, and a person's answer to them. */
export const trustHandlers = {
  "lares/trust": async ({ trusted, digest, grants }, { client }) => {
    if (trusted) await client.accept(digest, grants);
    else await client.revoke();
    return client.status();
  },
  "lares/trust/question": async (_params, { client }) => client.question(),
  "lares/trust/program": async ({ extension, path }, { client }) =>
    client.open.trust.program(extension, path),
} satisfies Partial<Handlers>;
