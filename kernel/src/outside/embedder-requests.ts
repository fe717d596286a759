import { EgressError } from "../egress/client/answer.ts";
import { OutsideError, type OutsideFailure, type PostOutside } from "../memory-contract/store-port.ts";
import type { KernelModels } from "./open-models.ts";

/** The name under which an embedder's address is its own; no provider can have it. */
const owner = "memory.embedder";

/**
 * Has the egress host send what embedders ask of services. Secrets in the texts are marked on the way. `who` is in the
 * traces: the agent whose texts they are, or the kernel for a memory.
 */
export function postForEmbedders(
  { egress, issued, networkRules }: Pick<KernelModels, "egress" | "issued" | "networkRules">,
  who = "kernel",
): PostOutside {
  return async ({ url, headers, timeoutMs, maxBytes }, body, signal) => {
    const host = URL.parse(url)?.host ?? "";
    const { privateHosts, providerHosts } = await networkRules();
    try {
      const answer = await egress.request({
        who,
        method: "POST",
        url,
        headers,
        body,
        rules: {
          allowedHosts: [host],
          privateHosts,
          // Only the person's own document names an embedder's address.
          providerHosts: [...providerHosts, { provider: owner, host }],
          provider: owner,
        },
        limits: { timeoutMs, idleMs: timeoutMs, maxBytes },
        known: issued.known,
        masks: true,
        signal,
      });
      const chunks: Uint8Array[] = [];
      let next = await answer.body.next();
      for (; next.done !== true; next = await answer.body.next()) chunks.push(next.value);
      if (next.value.isTruncated) throw new OutsideError("TooLong", "The answer is too long.");
      return { status: answer.status, headers: answer.headers, body: Buffer.concat(chunks) };
    } catch (error) {
      if (!(error instanceof EgressError)) throw error;
      throw new OutsideError(failureOf(error), error.message);
    }
  };
}

function failureOf({ failure }: EgressError): OutsideFailure {
  return failure.class === "Leak" ? "Denied" : failure.class;
}
