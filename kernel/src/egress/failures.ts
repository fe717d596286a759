import { messageOf } from "../base/errors.ts";
import type { EgressFailure } from "./messages.ts";

/** Policy does not let the request, or a redirect of it, leave. */
export class Denied extends Error {
  readonly host: string;

  constructor(host: string, reason: string) {
    super(reason);
    this.host = host;
  }
}

/** The request holds what looks like a secret. */
export class Leak extends Error {
  readonly rule: string;
  readonly where: "url" | "header" | "body";

  constructor(rule: string, where: "url" | "header" | "body") {
    super(`The request holds what looks like a secret (${rule}).`);
    this.rule = rule;
    this.where = where;
  }
}

/** Ends a request before its answer has ended. */
export class Stopped extends Error {
  readonly class: "Timeout" | "Cancelled";

  constructor(failureClass: "Timeout" | "Cancelled", message: string) {
    super(message);
    this.class = failureClass;
  }
}

export function failureOf(error: unknown, host: string, mayHaveLeft: boolean): EgressFailure {
  if (error instanceof Denied)
    return { class: "Denied", host: error.host, reason: error.message, mayHaveLeft };
  if (error instanceof Leak)
    return { class: "Leak", host, rule: error.rule, where: error.where, mayHaveLeft };
  if (error instanceof Stopped) return { class: error.class, host, message: error.message, mayHaveLeft };
  return { class: "Network", host, message: `${host} could not be reached: ${reasonOf(error)}`, mayHaveLeft };
}

/** How TLS names a certificate that no known authority has signed. */
const unknownAuthorities = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

/** Returns an error that says what a person can do about a connection that could not be made. */
export function connectionError(error: unknown, proxy: string | null): Error {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (unknownAuthorities.has(code))
    return new Error(
      `its certificate was not issued by a known authority (${code}). Name the authority's certificate in "egress.ca_file" of your lares.yaml, if you trust it.`,
    );
  const reason = reasonOf(error);
  if (proxy === null) return error instanceof Error && error.message === reason ? error : new Error(reason);
  return new Error(
    `the proxy ${proxy} did not connect: ${reason.replace(/\.$/, "")}. Check "egress.proxy" in your lares.yaml, or HTTPS_PROXY.`,
  );
}

/** Errors of several connection attempts, as Node reports them together, have no message of their own. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map((each) => systemReason(each)).join("; ");
  return systemReason(error);
}

/** Returns what the system's error means to a person. */
function systemReason(error: unknown): string {
  if (!(error instanceof Error)) return messageOf(error);
  const { code, hostname, address, port } = error as Error & {
    readonly code?: unknown;
    readonly hostname?: unknown;
    readonly address?: unknown;
    readonly port?: unknown;
  };
  switch (code) {
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `the name ${String(hostname)} was not found (${code}). Check the name and the network connection.`;
    case "ECONNREFUSED":
      return `nothing listens at ${String(address)}:${String(port)} (${code}). Start the server, or check the address.`;
    default:
      return tlsReason(error.message) ?? messageOf(error);
  }
}

/** OpenSSL's text: a number of the thread, a code, the library, a function, the reason, then places in its own source. */
const openSsl = /\b[0-9A-F]+:error:[0-9A-F]+:[^:]*:[^:]*:([^:\n]*)/;
/** What OpenSSL calls an answer without any TLS, as a plain http server gives it. */
const notTls = /wrong version number|packet length too long|http request|record layer failure/;

/** Translates OpenSSL's text for a person. Returns null for any other text. */
function tlsReason(text: string): string | null {
  const reason = openSsl.exec(text)?.[1]?.trim();
  if (reason === undefined) return null;
  return notTls.test(reason)
    ? "the server does not speak https there. Check the scheme and the port of the address: a server without encryption has http://."
    : `the encrypted connection could not be set up (${reason}).`;
}
