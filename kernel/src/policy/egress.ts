import ipaddr from "ipaddr.js";
import { isSameAddress, kindOfAddress } from "./addresses.ts";

/** Where a request wants to go, in one spelling: lower case, punycode, no brackets, no dot at the end. */
export interface EgressTarget {
  readonly scheme: "https" | "http";
  readonly host: string;
  readonly port: number;
  /** Without query and fragment: what a trace may show. */
  readonly path: string;
  readonly isLiteral: boolean;
}

/** Why a request may not leave, in a sentence. `host` is "" for an address that names none. */
interface EgressRefusal {
  readonly host: string;
  readonly reason: string;
}

/** What the person's own settings and the request's principal have to say. */
export interface EgressRules {
  /** Hosts that the principal may reach: for an agent manifest ∩ grant, for a provider its own. */
  readonly allowedHosts: readonly string[];
  /** True for a person's downloads, which may reach any public host over https. */
  readonly anyPublicHost?: boolean;
  /** The person's `egress.private_hosts`: may be reached at private addresses, and by http. */
  readonly privateHosts: readonly string[];
  /** The endpoints of providers with private addresses; each is open to its provider only. */
  readonly providerHosts: readonly { readonly provider: string; readonly host: string }[];
  /** The provider that the request is made for; absent for an agent's. */
  readonly provider?: string;
}

const maxUrlLength = 8_192;

/** Reads an address. Refuses other schemes, user names in it, and what no URL parser agrees about. */
export function targetOf(url: string): EgressTarget | EgressRefusal {
  if (url.length > maxUrlLength)
    return {
      host: "",
      reason: `An address has at most ${maxUrlLength} characters; this one has ${url.length}.`,
    };
  const parsed = parseUrl(url);
  if (parsed === null)
    return { host: "", reason: "It is not a complete address, as https://example.com/path." };
  const host = hostOf(parsed);
  if (parsed.protocol !== "https:" && parsed.protocol !== "http:")
    return { host, reason: `"${parsed.protocol.slice(0, 32)}" is not a scheme for requests. Use https.` };
  if (host === "") return { host, reason: "The address names no host." };
  if (parsed.username !== "" || parsed.password !== "")
    return { host, reason: "An address may not hold a user name or a password. Send them in a header." };
  const scheme = parsed.protocol === "https:" ? "https" : "http";
  const port = parsed.port === "" ? (scheme === "https" ? 443 : 80) : Number(parsed.port);
  return { scheme, host, port, path: parsed.pathname, isLiteral: ipaddr.isValid(host) };
}

/** Returns the host as rules and people write it: with its port, unless that is the scheme's own. */
export function placeName({ scheme, host, port }: EgressTarget): string {
  const name = host.includes(":") ? `[${host}]` : host;
  return port === (scheme === "https" ? 443 : 80) ? name : `${name}:${port}`;
}

/** Decides what a name alone can decide, before it is resolved. Null: it may be resolved. */
export function decideHost(target: EgressTarget, rules: EgressRules): EgressRefusal | null {
  const { host } = target;
  if (rules.anyPublicHost !== true && !namesTarget(target, rules.allowedHosts))
    return {
      host,
      reason: `${placeName(target)} is not among the hosts that it may reach. They are requested by "allowed_hosts" in its manifest, and a person has to accept them.`,
    };
  if (target.scheme === "http" && !mayBePlain(target, rules))
    return {
      host,
      reason: `${host} may be reached by https only. http is for this machine and for "egress.private_hosts".`,
    };
  return target.isLiteral ? decideAddress(target, host, rules) : null;
}

/**
 * Decides about an address that the host's name was resolved to; the connection must use exactly this one. Null: it may be
 * connected to.
 */
export function decideAddress(
  target: EgressTarget,
  address: string,
  rules: EgressRules,
): EgressRefusal | null {
  const { host } = target;
  const kind = kindOfAddress(address);
  const place = target.isLiteral ? `${host} is an address` : `${host} leads to ${address},`;
  if (kind === "never") return { host, reason: `${place} where nothing can be reached.` };
  if (target.scheme === "http" && kind !== "loopback" && !isPrivate(target, rules))
    return { host, reason: `${place} which may be reached by https only.` };
  if (kind === "public") return null;
  const owners = ownersOf(target, rules, address);
  if (owners.length > 0 && !owners.some((owner) => owner.provider === rules.provider))
    return {
      host,
      reason: `${host}:${target.port} is the address of a provider of models, and nothing else may reach it.`,
    };
  if (isPrivate(target, rules)) return null;
  return {
    host,
    reason: `${place} inside this machine or its network. A person can name it in "egress.private_hosts" of their own lares.yaml.`,
  };
}

/** True if the host is named for private addresses: for everybody by the person, or as this provider's own endpoint. */
function isPrivate(target: EgressTarget, rules: EgressRules): boolean {
  const owners = ownersOf(target, rules);
  if (owners.length > 0) return owners.some((owner) => owner.provider === rules.provider);
  return namesTarget(target, rules.privateHosts);
}

/** Returns the providers whose endpoint this is: by its name, and by its address where that is known. */
function ownersOf(
  target: EgressTarget,
  { providerHosts }: EgressRules,
  address?: string,
): EgressRules["providerHosts"] {
  return providerHosts.filter(
    ({ host }) =>
      namesTarget(target, [host]) || (address !== undefined && isEndpoint(host, address, target.port)),
  );
}

/** True if the host is an address, or this machine by name, and leads to this address and port. */
function isEndpoint(name: string, address: string, port: number): boolean {
  const parsed = parseUrl(`https://${bracketed(name)}`);
  if (parsed === null) return false;
  const host = hostOf(parsed);
  const isThere = isLocalName(host) ? kindOfAddress(address) === "loopback" : isSameAddress(host, address);
  return isThere && portOf(name) === port;
}

function mayBePlain(target: EgressTarget, rules: EgressRules): boolean {
  // What "localhost" leads to is decided again when it is resolved.
  const isLocal = target.isLiteral ? kindOfAddress(target.host) === "loopback" : isLocalName(target.host);
  return isLocal || isPrivate(target, rules);
}

function isLocalName(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost");
}

/** True if one of the names is the target's host; a name with a port is for this port only. */
export function namesTarget(target: EgressTarget, names: readonly string[]): boolean {
  return names.some((name) => {
    const named = parsedHost(name);
    if (named === null || hostOf(named) !== target.host) return false;
    const port = portOf(name);
    return port === null || port === target.port;
  });
}

/** Returns the port that a name was written with, also the scheme's own; null if there is none. */
function portOf(name: string): number | null {
  const port = /:(\d+)$/.exec(bracketed(name).replace(/^\[[^\]]*\]/, "x"))?.[1];
  return port === undefined ? null : Number(port);
}

/** True if a list of hosts may hold the name: a whole host, with a port or without. Others never name a target. */
export function isHost(name: string): boolean {
  const named = parsedHost(name);
  return named !== null && !/[*?,\s]/.test(name);
}

function parsedHost(name: string): URL | null {
  const parsed = parseUrl(`https://${bracketed(name)}`);
  if (parsed === null || parsed.pathname !== "/" || parsed.search !== "" || parsed.username !== "")
    return null;
  return parsed;
}

/** People write IPv6 addresses in lists without brackets. */
function bracketed(name: string): string {
  return name.includes("::") || name.split(":").length > 2
    ? name.startsWith("[")
      ? name
      : `[${name}]`
    : name;
}

function hostOf(url: URL): string {
  const host = url.hostname.replace(/\.$/, "");
  return host.startsWith("[") ? host.slice(1, -1) : host;
}

function parseUrl(text: string): URL | null {
  try {
    return new URL(text);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}
