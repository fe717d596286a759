/**
 * Checks `uri`, `uri-reference`, `iri` and `iri-reference` of RFC 3986 and RFC 3987. Every pattern here reads each
 * character a fixed number of times.
 */
export function isUri(text: string, ipv6: (text: string) => boolean, options: UriOptions): boolean {
  const [, scheme, authority, path = "", query = "", fragment = ""] =
    /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#([^]*))?/.exec(text) ?? [];
  if (scheme === undefined && !options.mayBeRelative) return false;
  const allowed = options.isInternational ? international : ascii;
  if (!allowed.path.test(path) || !allowed.query.test(query) || !allowed.query.test(fragment)) return false;
  if (authority === undefined) {
    // A relative path whose first segment has a colon would be parsed as a scheme.
    return scheme !== undefined || !/^[^/]*:/.test(path);
  }
  return (path === "" || path.startsWith("/")) && isAuthority(authority, allowed, ipv6);
}

interface UriOptions {
  readonly mayBeRelative: boolean;
  readonly isInternational: boolean;
}

interface Allowed {
  readonly user: RegExp;
  readonly host: RegExp;
  readonly path: RegExp;
  readonly query: RegExp;
}

/** RFC 3987 permits these in a query, too. */
const privateUse = String.raw`\u{e000}-\u{f8ff}\u{f0000}-\u{ffffd}\u{100000}-\u{10fffd}`;
const ascii = allowedCharacters("");
const international = allowedCharacters(
  String.raw`\u{a0}-\u{d7ff}\u{f900}-\u{fdcf}\u{fdf0}-\u{ffef}\u{10000}-\u{efffd}`,
);

function allowedCharacters(more: string): Allowed {
  const plain = `A-Za-z0-9._~!$&'()*+,;=\\-${more}`;
  const only = (characters: string): RegExp =>
    new RegExp(`^(?:[${plain}${characters}]|%[0-9A-Fa-f]{2})*$`, "u");
  return {
    user: only(":"),
    host: only(""),
    path: only(":@\\/"),
    query: only(`:@\\/?${more === "" ? "" : privateUse}`),
  };
}

function isAuthority(authority: string, { user, host }: Allowed, ipv6: (text: string) => boolean): boolean {
  const at = authority.lastIndexOf("@");
  if (at >= 0 && !user.test(authority.slice(0, at))) return false;
  const [, address, future, name, port = ""] =
    /^(?:\[(?:([0-9A-Fa-f:.]+)|([vV][0-9A-Fa-f]+\.[A-Za-z0-9._~!$&'()*+,;=:-]+))\]|([^:[\]]*))(?::(.*))?$/.exec(
      authority.slice(at + 1),
    ) ?? [];
  if (!/^\d*$/.test(port)) return false;
  if (address !== undefined) return ipv6(address);
  return future !== undefined || (name !== undefined && host.test(name));
}
