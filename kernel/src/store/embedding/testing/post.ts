import { OutsideError, type PostOutside } from "../../../memory-contract/store-port.ts";

/** Sends requests from this process, as the egress host does for a kernel. */
export const postHere: PostOutside = async ({ url, headers, timeoutMs, maxBytes }, body, signal) => {
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, {
      method: "POST",
      redirect: "manual",
      headers: headers.map(([name, value]): [string, string] => [name, value]),
      body: Buffer.from(body),
      signal: AbortSignal.any([timeout, signal]),
    });
    const pieces: Uint8Array[] = [];
    let length = 0;
    for await (const piece of response.body ?? []) {
      length += piece.length;
      if (length > maxBytes) throw new OutsideError("TooLong", "The answer is too long.");
      pieces.push(piece);
    }
    return { status: response.status, headers: [...response.headers], body: Buffer.concat(pieces) };
  } catch (error) {
    if (error instanceof OutsideError) throw error;
    if (timeout.aborted) throw new OutsideError("Timeout", "It did not answer in time.");
    const cause = error instanceof Error ? (error.cause as { code?: string } | undefined) : undefined;
    throw new OutsideError("Network", cause?.code ?? String(error));
  }
};
