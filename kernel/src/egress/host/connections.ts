import type { LookupFunction } from "node:net";
import type { Dispatcher, ProxyAgent } from "undici";
// Not the index: it takes twice as long to load, and the first answer waits for it.
import Pool from "undici/lib/dispatcher/pool.js";
import { kindOfAddress } from "../../policy/addresses.ts";
import { decideAddress, type EgressRules, type EgressTarget } from "../../policy/egress.ts";
import { egressBounds as bounds } from "../bounds.ts";
import { connectionError, Denied } from "../failures.ts";
import { Lookups, type Resolve, type ResolvedAddress } from "./lookups.ts";

interface ProxySettings {
  readonly url: string;
  /** Names whose hosts, and those beneath them, are reached directly; "*" for all. */
  readonly except: readonly string[];
}

interface Route {
  readonly dispatcher: Dispatcher;
  /** The proxy's host and port; null if the target is reached directly. */
  readonly proxy: string | null;
}

const connectionOptions = {
  pipelining: 1,
  // Cancelling a request has to close its socket.
  allowH2: false,
  connections: bounds.maxConnectionsPerHost,
  maxHeaderSize: bounds.maxHeadBytes,
  keepAliveTimeout: bounds.keepAliveMs,
  keepAliveMaxTimeout: bounds.keepAliveMs,
  // Each request has its own timers.
  headersTimeout: 0,
  bodyTimeout: 0,
} as const;

/**
 * Connections to the addresses that policy allowed. A name is resolved and decided for each request; connections are shared
 * only between requests for the same name and the same allowed addresses.
 */
export class Connections {
  readonly #lookups: Lookups;
  readonly #proxy: (ProxySettings & { readonly host: string }) | null;
  /** Belongs to the proxy; null if its address is invalid. */
  #agent: Promise<ProxyAgent | null> | undefined;
  /** The least recently used first. */
  readonly #pools = new Map<string, Pool>();

  constructor({ resolve, proxy }: { readonly resolve: Resolve; readonly proxy: ProxySettings | null }) {
    this.#lookups = new Lookups(resolve);
    this.#proxy = proxy === null ? null : { ...proxy, host: URL.parse(proxy.url)?.host ?? "" };
  }

  /** Rejects with `Denied` if no address of the target may be connected to. */
  async to(target: EgressTarget, rules: EgressRules): Promise<Route> {
    if (this.#proxy !== null && needsProxy(target, this.#proxy.except)) {
      if (target.isLiteral)
        throw new Denied(target.host, `${target.host} is an address, and a proxy decides only names.`);
      const agent = await (this.#agent ??= proxyAgent(this.#proxy.url));
      if (agent === null)
        throw new Denied(
          target.host,
          'The address of the proxy is none. Write it as http://proxy.example.com:3128 in "egress.proxy" of your lares.yaml, or in HTTPS_PROXY.',
        );
      return { dispatcher: agent, proxy: this.#proxy.host };
    }
    const addresses = target.isLiteral ? [] : await this.#allowedAddresses(target, rules);
    return { dispatcher: this.#poolOf(target, addresses), proxy: null };
  }

  async #allowedAddresses(target: EgressTarget, rules: EgressRules): Promise<readonly ResolvedAddress[]> {
    const addresses = await this.#lookups
      .of(target.host, rules.provider === undefined)
      .catch((error: unknown) => {
        throw connectionError(error, null);
      });
    const refusals = addresses.map(({ address }) => decideAddress(target, address, rules));
    const allowed = addresses.filter((_, index) => refusals[index] === null);
    if (allowed.length > 0) return allowed;
    throw new Denied(target.host, refusals[0]?.reason ?? `${target.host} has no address.`);
  }

  #poolOf({ scheme, host, port }: EgressTarget, addresses: readonly ResolvedAddress[]): Pool {
    const origin = `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}`;
    const key = [origin, ...addresses.map(({ address }) => address).toSorted()].join(" ");
    const pool =
      this.#pools.get(key) ??
      new Pool(origin, {
        ...connectionOptions,
        connect: { lookup: pinnedTo(addresses), timeout: bounds.connectTimeoutMs, autoSelectFamily: true },
      });
    this.#pools.delete(key);
    this.#pools.set(key, pool);
    for (const [oldest, unused] of this.#pools) {
      if (this.#pools.size <= bounds.maxPools) break;
      this.#pools.delete(oldest);
      // Requests that are running on it end first; their failures are reported to whoever made them.
      unused.close().catch(() => undefined);
    }
    return pool;
  }
}

/** Returns null if the address is none, or of a kind of proxy that is not known. */
async function proxyAgent(uri: string): Promise<ProxyAgent | null> {
  const protocol = URL.parse(uri)?.protocol ?? "";
  if (!["http:", "https:", "socks5:", "socks:"].includes(protocol)) return null;
  const undici = await import("undici");
  return new undici.ProxyAgent({
    ...connectionOptions,
    uri,
    connectTimeout: bounds.connectTimeoutMs,
    // A proxy that accepts a connection and never answers is as one that cannot be reached.
    clientFactory: (origin, options) =>
      new Pool(origin, { ...options, headersTimeout: bounds.connectTimeoutMs }),
  });
}

/** Answers every lookup with the addresses that were decided on; literals never ask. */
function pinnedTo(addresses: readonly ResolvedAddress[]): LookupFunction {
  return (_host, options, callback) => {
    const [first] = addresses;
    // Node expects the answer in a later turn.
    setImmediate(() => {
      if (first === undefined) callback(new Error("No address was allowed."), "", 0);
      else if (options.all === true) callback(null, [...addresses]);
      else callback(null, first.address, first.family);
    });
  };
}

function needsProxy({ host, isLiteral }: EgressTarget, except: readonly string[]): boolean {
  const isLocal = isLiteral
    ? kindOfAddress(host) === "loopback"
    : host === "localhost" || host.endsWith(".localhost");
  if (isLocal) return false;
  return !except.some((name) => {
    const domain = name.replace(/^\*?\./, "").toLowerCase();
    return name === "*" || host === domain || host.endsWith(`.${domain}`);
  });
}
