import { finishedInTurns } from "../../base/next-turn.ts";
import { authorizationHeaders } from "../../base/vocabulary/authorization-headers.ts";
import { namesTarget, type EgressTarget } from "../../policy/egress.ts";
import { ExactSecrets } from "../known-secrets.ts";
import type { SecretScanner } from "../../secret-scan/scanner.ts";
import type { HostRequest, Substitution } from "../messages.ts";
import { maskOf } from "../mask.ts";
import { Denied, Leak } from "../failures.ts";
import type { ExchangePort } from "./exchange.ts";
import type { Hop } from "./send.ts";

const knownSecretRule = "stored secret";
/** How often a value is put into one text: it may be a thousand times as long as what stands for it. */
const maxTimes = 32;

/** What is done with each request just before it is sent, and with what its answer redirects to. */
export interface Guard extends Pick<ExchangePort, "guard" | "redirecting"> {
  /** Returns the secrets whose values have not been inserted, although the request has their placeholders. */
  unfilled(): readonly string[];
}

/**
 * Returns the guard of one request: it refuses what holds a secret, and then puts the values of secrets in place of
 * the texts that stand for them.
 */
export function guardOf(
  { known = [], substitutions = [], masks = false }: Pick<HostRequest, "known" | "substitutions" | "masks">,
  scanner: SecretScanner,
): Guard {
  const exact = new ExactSecrets(known);
  const filled = new Set<string>();
  const unfilled = (): readonly string[] =>
    substitutions.map(({ secret }) => secret).filter((secret) => !filled.has(secret));
  const redirecting = (location: string): void => {
    // A server that was sent a secret may send it back here, and the parser of addresses would change its letters.
    for (const text of [location, decoded(location)])
      if (exact.find(Buffer.from(text)) !== null) throw new Leak(knownSecretRule, "url");
  };
  if (masks) {
    const masked = maskOf(exact, scanner);
    return {
      redirecting,
      unfilled,
      guard(hop) {
        const text = textOf(hop.body);
        const marked = masked(text);
        return marked === text ? hop : { ...hop, body: Buffer.from(marked) };
      },
    };
  }
  return {
    redirecting,
    unfilled,
    async guard(hop, target) {
      await refuseLeaks(hop, exact, substitutions, scanner);
      let ready = hop;
      for (const substitution of substitutions) {
        if (!namesTarget(target, substitution.hosts)) continue;
        const next = withValue(ready, target, substitution);
        if (isChanged(ready, next)) filled.add(substitution.secret);
        ready = next;
      }
      return ready;
    },
  };
}

/** A placeholder would look like a secret after "authorization:". */
function without(text: string, substitutions: readonly Substitution[]): string {
  return substitutions.reduce(
    (current, { token }) => current.replaceAll(token, " ".repeat(token.length)),
    text,
  );
}

async function refuseLeaks(
  { url, headers, body }: Hop,
  exact: ExactSecrets,
  substitutions: readonly Substitution[],
  scanner: SecretScanner,
): Promise<void> {
  const check = async (
    where: "url" | "header" | "body",
    bytes: Uint8Array,
    texts: readonly string[],
  ): Promise<void> => {
    if ((await finishedInTurns(exact.finding(bytes))) !== null) throw new Leak(knownSecretRule, where);
    for (const text of texts) {
      const rule = await finishedInTurns(firstRule(without(text, substitutions), scanner));
      if (rule !== null) throw new Leak(rule, where);
    }
  };
  const plainUrl = decoded(url);
  if (exact.find(Buffer.from(plainUrl)) !== null) throw new Leak(knownSecretRule, "url");
  await check("url", Buffer.from(url), [url, plainUrl]);
  for (const [name, value] of headers) {
    const line = `${name}: ${value}`;
    const credentials = basicOf(name, value);
    // An encoded placeholder would look like a secret.
    const stands = substitutions.some(({ token }) => credentials?.includes(token) === true);
    const decodedLine = credentials === null ? [] : [`://${credentials}@`];
    await check("header", Buffer.from(line), stands ? decodedLine : [line, ...decodedLine]);
  }
  if (body.length > 0) await check("body", body, [textOf(body)]);
}

/** Characters that are scanned in one step, and those before and after them that are read with them. */
const stepLength = 64 * 1024;
const lookBehind = 1024;
/** More than a rule reads after the beginning of a secret. */
const lookAhead = 20 * 1024;

/** Returns the rule of a secret in the text, or null, in short steps: others wait for answers meanwhile. */
function* firstRule(text: string, scanner: SecretScanner): Generator<void, string | null> {
  for (let at = 0; at === 0 || at < text.length; at += stepLength) {
    const from = Math.max(0, at - lookBehind);
    const read = text.slice(from, at + stepLength + lookAhead);
    // What begins outside of the step is found by the one before or after it, which sees it whole.
    const found = scanner
      .find(read)
      .find(({ start }) => from + start >= at && from + start < at + stepLength);
    if (found !== undefined) return found.rule;
    if (at + stepLength < text.length) yield;
  }
  return null;
}

const textOf = (body: Uint8Array): string =>
  Buffer.from(body.buffer, body.byteOffset, body.length).toString("utf8");

/** Returns the text with every escape of an address decoded; those that are none, or no text, stay. */
function decoded(url: string): string {
  return url
    .replaceAll("+", " ")
    .replaceAll(/(?:%[0-9a-f]{2})+/gi, (escapes) =>
      Buffer.from(escapes.replaceAll("%", ""), "hex").toString("utf8"),
    );
}

/** Returns the user name and password of a Basic authorization; null for anything else. */
function basicOf(name: string, value: string): string | null {
  const [, encoded] = /^basic\s+([A-Za-z0-9+/=_-]+)\s*$/i.exec(value) ?? [];
  if (name.toLowerCase() !== "authorization" || encoded === undefined) return null;
  return Buffer.from(encoded, "base64").toString("utf8");
}

function isChanged(before: Hop, after: Hop): boolean {
  return (
    before.url !== after.url ||
    before.body !== after.body ||
    before.headers.some(([, text], at) => text !== after.headers[at]?.[1])
  );
}

function withValue(hop: Hop, { host }: EgressTarget, { token, value, in: place }: Substitution): Hop {
  const [kind = "", name] = place.split(/:(.*)/s);
  if (kind === "header") {
    const names: readonly string[] = name === undefined ? authorizationHeaders : [name];
    return {
      ...hop,
      headers: hop.headers.map(([header, text]) => {
        if (!names.includes(header.toLowerCase())) return [header, text] as const;
        const replaced = inHeader(header, text, (each) => replacedIn(each, token, value, host));
        if (/[\r\n\0]/.test(replaced) && replaced !== text)
          throw new Denied(
            host,
            "The value of the secret contains a line break, so it cannot be sent in a header.",
          );
        return [header, replaced] as const;
      }),
    };
  }
  if (kind === "query") {
    const url = new URL(hop.url);
    // Listed before it is changed.
    const places = url.searchParams
      .entries()
      .toArray()
      .filter(([key, text]) => key === name && text.includes(token));
    for (const [key, text] of places) url.searchParams.set(key, replacedIn(text, token, value, host));
    // Without a value the address stays as it was written.
    return places.length === 0 ? hop : { ...hop, url: url.href };
  }
  const parts = partsBetween(hop.body, token, host);
  if (parts.length === 1) return hop;
  const written = Buffer.from(writtenIn(contentTypeOf(hop), value), "utf8");
  return { ...hop, body: Buffer.concat(parts.flatMap((part, at) => (at === 0 ? [part] : [written, part]))) };
}

/** Returns the parts of a body around a token: bytes, because a body need not be text. */
function partsBetween(body: Uint8Array, token: string, host: string): Buffer[] {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  const parts: Buffer[] = [];
  let from = 0;
  for (let at = bytes.indexOf(token); at !== -1; at = bytes.indexOf(token, from)) {
    if (parts.length === maxTimes) throw tooOften(host);
    parts.push(bytes.subarray(from, at));
    from = at + token.length;
  }
  return [...parts, bytes.subarray(from)];
}

function replacedIn(text: string, token: string, value: string, host: string): string {
  const parts = text.split(token, maxTimes + 2);
  if (parts.length > maxTimes + 1) throw tooOften(host);
  return parts.join(value);
}

function tooOften(host: string): Denied {
  return new Denied(host, `A placeholder may occur at most ${maxTimes} times in one text.`);
}

function inHeader(header: string, text: string, replaced: (text: string) => string): string {
  const credentials = basicOf(header, text);
  const filled = credentials === null ? null : replaced(credentials);
  return filled === credentials || filled === null
    ? replaced(text)
    : `Basic ${Buffer.from(filled).toString("base64")}`;
}

const contentTypeOf = ({ headers }: Hop): string =>
  headers.find(([name]) => name.toLowerCase() === "content-type")?.[1].toLowerCase() ?? "";

function writtenIn(contentType: string, value: string): string {
  if (contentType.includes("json")) return JSON.stringify(value).slice(1, -1);
  if (contentType.includes("x-www-form-urlencoded")) return encodeURIComponent(value);
  return value;
}
