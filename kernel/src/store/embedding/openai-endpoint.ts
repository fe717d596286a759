import { invalidParams } from "../../base/errors.ts";

/** Where to ask, as it may be shown: without what follows the path, which may hold secrets. */
export interface Endpoint {
  readonly url: URL;
  readonly shown: string;
}

/**
 * `<base>/v1/embeddings`, or `<base>/embeddings` where the base ends in /v1 already. What an agent remembers is
 * private, so it goes over https, except to this machine. Throws InvalidParams.
 */
export function endpointOf(base: string): Endpoint {
  const url = URL.parse(base);
  if (url === null) {
    throw invalidParams('The embedder\'s "url" is no URL. Write one like "https://api.openai.com/v1".');
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
  const path = url.pathname.replace(/\/+$/u, "");
  url.pathname = path.endsWith("/v1") ? `${path}/embeddings` : `${path}/v1/embeddings`;
  url.hash = "";
  return { url, shown: `${url.origin}${url.pathname}` };
}

const isThisMachine = (host: string): boolean =>
  host === "localhost" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/u.test(host);

/** A key that can stand in a header; what is wrong with one is told without it. Throws InvalidParams. */
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
