/** An entry of `contributes.tomlValidation`, as Even Better TOML and Tombi read it. */
export interface TomlValidation {
  readonly fileMatch: string;
  readonly url: string;
}

/**
 * The entries for schemas that are served below `schemasUrl`; throws if that is not a valid address for them.
 *
 * Both tools take an entry's `url` as it is and know http, https and file addresses only, so it cannot be a file of the
 * extension. Nor is one written down here: whoever has an address says what editors say.
 *
 * A bare name means documents of exactly that name, in any folder: the tools put "**" and a slash before it.
 */
export function tomlValidation(schemasUrl: string): readonly TomlValidation[] {
  const base = baseOf(schemasUrl);
  return ["lares", "extension"].map((name) => ({
    fileMatch: `${name}.toml`,
    url: `${base}/${name}.schema.json`,
  }));
}

/** Hosts that are this machine, where nobody in between can change a schema. */
const localHosts = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Without the slash at its end. */
function baseOf(schemasUrl: string): string {
  const url = URL.parse(schemasUrl);
  if (url === null)
    throw refused(schemasUrl, "it is not an address; write it as https://example.com/schemas");
  // A password is not repeated where others may read along.
  if (url.username !== "" || url.password !== "")
    throw refused(url.host, "it names a user or a password, and all who install the package could read them");
  if (url.protocol !== "https:" && !(url.protocol === "http:" && localHosts.has(url.hostname)))
    throw refused(schemasUrl, "it must begin with https:// (http:// does for localhost)");
  // The parser drops an empty query or fragment, so the text is asked too.
  if (/[?#]/.test(schemasUrl))
    throw refused(schemasUrl, "it has a query or a fragment, and the schemas' names are put at its end");
  return url.origin + url.pathname.replace(/\/+$/, "");
}

function refused(what: string, why: string): Error {
  return new Error(`--schemas-url ${what}: ${why}.`);
}
