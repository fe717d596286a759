import type { Handlers } from "./handlers.ts";
import type { KernelServices } from "./ports.ts";
import type { Session } from "./session.ts";

/** `lares/status`, and `lares/trust/*`: what the workspace's documents ask for, and a person's word on it. */
export function statusHandlers(
  kernel: KernelServices,
  trustChanged: (session: Session) => Promise<void>,
): Handlers {
  const status = (session: Session) => ({ ...kernel.status.read(), trusted: session.trusted });
  return {
    "lares/status": async (_params, session) => status(session),
    "lares/trust": async ({ trusted, digest, grants }, session) => {
      if (trusted) await kernel.trust.accept(digest, grants);
      else {
        try {
          await kernel.trust.revoke();
        } catch (error) {
          // Taken back all the same, only not for the next kernel.
          session.trusted = false;
          await trustChanged(session);
          throw error;
        }
      }
      session.trusted = trusted;
      await trustChanged(session);
      return status(session);
    },
    "lares/trust/question": async (_params, session) => ({
      ...(await kernel.trust.question()),
      trusted: session.trusted,
    }),
    "lares/trust/program": ({ extension, path }) => kernel.trust.program(extension, path),
  };
}
