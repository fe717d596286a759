import { authorizationHeaders } from "../../base/vocabulary/secret.ts";
import { namesTarget, type EgressTarget } from "../../policy/egress.ts";
import { ExactSecrets } from "../known-secrets.ts";
import type { SecretScanner } from "../../secret-scan/scanner.ts";
import type { HostRequest, Substitution } from "../messages.ts";
import { maskOf } from "./mask.ts";
import { Denied, Leak } from "../failures.ts";
import type { Hop } from "./send.ts";

const knownSecretRule = "stored secret";
/** How often a value is put into one text: it may be a thousand times as long as what stands for it. */
const maxTimes = 32;

/**
 * Returns the guard of one request: it refuses what holds a secret, and then puts the values of secrets in place of
 * the texts that stand for them. Applied to each hop just before it is sent.
 */
export function guardOf(
  { known = [], substitutions = [], masks = false }: Pick<HostRequest, "known" | "substitutions" | "masks">,
  scanner: SecretScanner,
): (hop: Hop, target: EgressTarget) => Hop {
  const exact = new ExactSecrets(known);
  if (masks) {
    const masked = maskOf(exact, scanner);
    return (hop) => {
      const text = textOf(hop.body);
      const marked = masked(text);
      return marked === text ? hop : { ...hop, body: Buffer.from(marked) };
    };
  }
  return (hop, target) => {
    refuseLeaks(hop, exact, substitutions, (text) => scanner.find(without(text, substitutions))[0]?.rule);
    return substituted(hop, target, substitutions);
  };
}

/** A text that stands for a secret would look like one after "authorization:". */
function without(text: string, substitutions: readonly Substitution[]): string {
  return substitutions.reduce((current, { token }) => current.replaceAll(token, ""), text);
}

function refuseLeaks(
  { url, headers, body }: Hop,
  exact: ExactSecrets,
  substitutions: readonly Substitution[],
  ruleOf: (text: string) => string | undefined,
): void {
  const check = (where: "url" | "header" | "body", bytes: Uint8Array, texts: readonly string[]): void => {
    if (exact.find(bytes) !== null) throw new Leak(knownSecretRule, where);
    for (const text of texts) {
      const rule = ruleOf(text);
      if (rule !== undefined) throw new Leak(rule, where);
    }
  };
  check("url", Buffer.from(url), [url, decoded(url)]);
  for (const [name, value] of headers) {
    const line = `${name}: ${value}`;
    const credentials = basicOf(name, value);
    // Encoded, a text that stands for a secret would look like one.
    const stands = substitutions.some(({ token }) => credentials?.includes(token) === true);
    const decodedLine = credentials === null ? [] : [`://${credentials}@`];
    check("header", Buffer.from(line), stands ? decodedLine : [line, ...decodedLine]);
  }
  if (body.length > 0) check("body", body, [textOf(body)]);
}

const textOf = (body: Uint8Array): string =>
  Buffer.from(body.buffer, body.byteOffset, body.length).toString("utf8");

function decoded(url: string): string {
  try {
    return decodeURIComponent(url.replaceAll("+", " "));
  } catch (error) {
    if (error instanceof URIError) return url;
    throw error;
  }
}

/** Returns the user name and password of a Basic authorization; null for anything else. */
function basicOf(name: string, value: string): string | null {
  const [, encoded] = /^basic\s+([A-Za-z0-9+/=_-]+)\s*$/i.exec(value) ?? [];
  if (name.toLowerCase() !== "authorization" || encoded === undefined) return null;
  return Buffer.from(encoded, "base64").toString("utf8");
}

function substituted(hop: Hop, target: EgressTarget, substitutions: readonly Substitution[]): Hop {
  return substitutions
    .filter(({ hosts }) => namesTarget(target, hosts))
    .reduce((current, substitution) => withValue(current, target, substitution), hop);
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
            "The value of the secret holds a line break, so it cannot stand in a header.",
          );
        return [header, replaced] as const;
      }),
    };
  }
  if (kind === "query") {
    const url = new URL(hop.url);
    // Listed before it is changed.
    for (const [key, text] of url.searchParams.entries().toArray())
      if (key === name && text.includes(token))
        url.searchParams.set(key, replacedIn(text, token, value, host));
    return { ...hop, url: url.href };
  }
  const text = Buffer.from(hop.body.buffer, hop.body.byteOffset, hop.body.length);
  if (!text.includes(token)) return hop;
  const written = writtenIn(contentTypeOf(hop), value);
  // Latin-1 keeps every byte of a body that is no text.
  const latin = Buffer.from(written, "utf8").toString("latin1");
  return {
    ...hop,
    body: Buffer.from(replacedIn(text.toString("latin1"), token, latin, host), "latin1"),
  };
}

function replacedIn(text: string, token: string, value: string, host: string): string {
  const parts = text.split(token, maxTimes + 2);
  if (parts.length > maxTimes + 1)
    throw new Denied(
      host,
      `The text that stands for a secret may be in one place at most ${maxTimes} times.`,
    );
  return parts.join(value);
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
