import { invalidParams } from "../base/errors.ts";
import { maxSecretNameLength, secretNamePattern, secretNameRule } from "../base/vocabulary/secret.ts";

/** Where a secret may be sent: to these hosts, and only in this place of a request. */
export interface Binding {
  readonly hosts: readonly string[];
  /** "header" (any of the authorization headers), "header:<name>", "query:<key>" or "body". */
  readonly in: string;
}

const maxSecretHosts = 16;
const maxHostLength = 253 + ":65535".length;
const maxPlaceNameLength = 64;

const defaultPlace = "header";

const secretName = new RegExp(secretNamePattern);
const hostName = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;
const ipv6 = /^\[[0-9a-f:.]{2,45}\]$/;
/** RFC 9110's token, and the characters that need no escape in a query. */
const headerName = /^[a-z0-9!#$%&'*+.^_`|~-]+$/;
const queryKey = /^[A-Za-z0-9._~-]+$/;

/** Returns the name; throws InvalidParams if it is invalid. */
export function checkedName(name: string): string {
  if (name.length > maxSecretNameLength || !secretName.test(name))
    throw invalidParams(`"${shown(name)}" is not a name of a secret. Use ${secretNameRule}.`);
  return name;
}

/** Returns the binding with hosts in lower case, sorted, each once; throws InvalidParams if it is invalid. */
export function checkedBinding(hosts: readonly string[], place: string = defaultPlace): Binding {
  if (hosts.length === 0 || hosts.length > maxSecretHosts)
    throw invalidParams(`A secret needs 1 to ${maxSecretHosts} hosts; got ${hosts.length}.`);
  return { hosts: [...new Set(hosts.map(checkedHost))].toSorted(), in: checkedPlace(place) };
}

function checkedHost(given: string): string {
  const host = given.length > maxHostLength ? "" : inAscii(given).toLowerCase();
  const port = /:(\d{1,5})$/.exec(host)?.[1];
  const bare = port === undefined ? host : host.slice(0, -port.length - 1);
  const isSound = bare.length <= 253 && (hostName.test(bare) || ipv6.test(bare));
  if (!isSound || (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)))
    throw invalidParams(
      `"${shown(given)}" is not a host. Write a name such as "api.example.com", without scheme and path; a port may follow.`,
    );
  return host;
}

/** Writes an international name as it is looked up, "xn--…"; every other text stays as it is. */
function inAscii(host: string): string {
  // A URL's parser drops line breaks.
  if (/^[ -~]*$/.test(host) || /[\p{Cc}\s]/u.test(host)) return host;
  const url = URL.parse(`https://${host}/`);
  return url === null || url.pathname !== "/" || url.username !== "" || url.search !== "" ? host : url.host;
}

function checkedPlace(given: string): string {
  if (given === "header" || given === "body") return given;
  const [, kind, name = ""] = /^(header|query):(.+)$/s.exec(given) ?? [];
  if (name.length <= maxPlaceNameLength) {
    if (kind === "header" && headerName.test(name.toLowerCase())) return `header:${name.toLowerCase()}`;
    if (kind === "query" && queryKey.test(name)) return `query:${name}`;
  }
  throw invalidParams(
    `"${shown(given)}" is not a place for a secret. Use "header" for the authorization headers, "header:<name>", "query:<key>" or "body".`,
  );
}

/** The value may have been given in place of a name or host by mistake: only the first characters are repeated. */
function shown(given: string): string {
  return given.length <= 4 ? given : `${given.slice(0, 4)}…`;
}
