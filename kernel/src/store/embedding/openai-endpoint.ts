import { invalidParams } from "../../base/errors.ts";

/** The URL as it may be shown: without query and fragment, which may contain secrets. */
export interface Endpoint {
  readonly url: URL;
  readonly shown: string;
}

/**
 * Returns `<base>/v1/embeddings`, or `<base>/embeddings` if the base ends in /v1. What an agent remembers is
 * private, so only https is allowed, except to this machine. Throws InvalidParams.
 */
export function endpointOf(base: string): Endpoint {
  const url = URL.parse(base);
  if (url === null) {
    throw invalidParams('The embedder\'s "url" is not a URL. Write one like "https://api.openai.com/v1".');
  }
  if (url.username !== "" || url.password !== "") {
    throw invalidParams(
      'The embedder\'s "url" has a name or a password in it. Put the key into LARES_EMBEDDER_KEY.',
    );
  }
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isThisMachine(url.hostname))) {
    throw invalidParams(
      `The embedder's "url" begins with ${url.protocol}//${url.host}. Texts leave this machine over https only; use https, or a tunnel that ends at localhost.`,
    );
  }
  const path = url.pathname.replace(/(?<!\/)\/+$/u, "");
  url.pathname = path.endsWith("/v1") ? `${path}/embeddings` : `${path}/v1/embeddings`;
  url.hash = "";
  return { url, shown: `${url.origin}${url.pathname}` };
}

const isThisMachine = (host: string): boolean =>
  host === "localhost" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/u.test(host);

/** Returns the key if a header can contain it. The error does not show the key. Throws InvalidParams. */
export function checkedKey(key: string | undefined): string | null {
  const trimmed = key?.trim() ?? "";
  if (trimmed === "") return null;
  if (!/^[\x21-\x7e]{1,4096}$/u.test(trimmed)) {
    throw invalidParams(
      "LARES_EMBEDDER_KEY has signs that no key has: blanks, line ends, or none of ASCII's.",
    );
  }
  return trimmed;
}
