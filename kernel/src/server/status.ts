import type { Handlers } from "./handlers.ts";
import type { KernelServices } from "./ports.ts";
import type { Session } from "./session.ts";

/** `lares/status`, and `lares/trust`: a person's word on the workspace's documents. */
export function statusHandlers(
  kernel: KernelServices,
  trustChanged: (session: Session) => Promise<void>,
): Handlers {
  const status = (session: Session) => ({ ...kernel.status.read(), trusted: session.trusted });
  return {
    "lares/status": async (_params, session) => status(session),
    "lares/trust": async ({ trusted, digest }, session) => {
      if (trusted) await kernel.trust.accept(digest);
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
  };
}
