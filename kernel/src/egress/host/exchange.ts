import { unlessAborted } from "../../base/abort.ts";
import { decideHost, type EgressRules, type EgressTarget, targetOf } from "../../policy/egress.ts";
import { egressBounds as bounds } from "../bounds.ts";
import type { EgressHead, Headers } from "../messages.ts";
import type { Connections } from "./connections.ts";
import { connectionError, Denied } from "../failures.ts";
import { type Hop, send } from "./send.ts";

export interface ExchangePort {
  readonly signal: AbortSignal;
  /** Called for each target, before anything is sent to it. */
  heading(target: EgressTarget): void;
  /** Returns a hop in the form that is sent, or throws. */
  guard(hop: Hop, target: EgressTarget): Hop | Promise<Hop>;
  /** Throws for a redirect that may be neither followed nor reported. */
  redirecting(location: string): void;
  sending(): void;
}

interface Exchanged {
  readonly head: EgressHead;
  /** Decompressed. Destroying it closes the connection. */
  readonly body: Awaited<ReturnType<typeof send>>["body"];
}

const redirectStatuses = new Set([301, 302, 303, 307, 308]);
/** Headers that are kept when a redirect leads to another origin: they never contain credentials. */
const harmlessHeaders = new Set([
  "accept",
  "accept-language",
  "accept-encoding",
  "content-type",
  "user-agent",
]);

/**
 * Sends one request, and those that its redirects ask for, each of which is decided as a request of its own. Resolves
 * with the head of the last answer.
 */
export async function exchange(
  first: Hop,
  rules: EgressRules,
  connections: Connections,
  port: ExchangePort,
): Promise<Exchanged> {
  const redirects: { host: string; path: string }[] = [];
  let hop: Hop = { ...first, method: first.method.toUpperCase() };
  for (;;) {
    const target = targetOf(hop.url);
    if ("reason" in target) throw new Denied(target.host, target.reason);
    port.heading(target);
    const refusal = decideHost(target, rules);
    if (refusal !== null) throw new Denied(refusal.host, refusal.reason);
    const ready = await unlessAborted(Promise.resolve(port.guard(hop, target)), port.signal);
    const { dispatcher, proxy } = await unlessAborted(connections.to(target, rules), port.signal);
    let isConnected = false;
    const sending = (): void => {
      isConnected = true;
      port.sending();
    };
    const reply = await send(dispatcher, target, ready, port.signal, sending).catch((error: unknown) => {
      throw isConnected || port.signal.aborted ? error : connectionError(error, proxy);
    });
    const location = reply.headers.find(([name]) => name === "location")?.[1];
    if (!redirectStatuses.has(reply.status) || location === undefined)
      return {
        head: { status: reply.status, headers: reply.headers, redirects, viaProxy: proxy !== null },
        body: reply.body,
      };
    reply.body.destroy();
    if (rules.provider !== undefined)
      throw new Denied(target.host, `${target.host} redirects, which a provider of models may not do.`);
    if (redirects.length >= bounds.maxRedirects)
      throw new Denied(target.host, `${target.host} redirects more than ${bounds.maxRedirects} times.`);
    port.redirecting(location);
    hop = redirected(hop, reply.status, location, target);
    const next = targetOf(hop.url);
    if (!("reason" in next)) redirects.push({ host: next.host, path: next.path });
  }
}

/** Returns the request that a redirect asks for. To another origin neither credentials nor a body are sent. */
function redirected(hop: Hop, status: number, location: string, { host }: EgressTarget): Hop {
  const url = URL.parse(location, hop.url);
  if (url === null) throw new Denied(host, `${host} redirects to something that is not an address.`);
  // A fragment is never sent.
  url.hash = "";
  const becomesGet =
    (status === 303 && hop.method !== "HEAD") ||
    ((status === 301 || status === 302) && hop.method === "POST");
  const next: Hop = becomesGet
    ? {
        method: "GET",
        url: url.href,
        headers: hop.headers.filter(([name]) => !name.toLowerCase().startsWith("content-")),
        body: new Uint8Array(),
      }
    : { ...hop, url: url.href };
  if (url.origin === new URL(hop.url).origin) return next;
  if (next.body.length > 0)
    throw new Denied(url.hostname, `${host} redirects to another host, which would receive the body.`);
  return { ...next, headers: withoutCredentials(next.headers) };
}

function withoutCredentials(headers: Headers): Headers {
  return headers.filter(([name]) => harmlessHeaders.has(name.toLowerCase()));
}
