import { kindOfAddress } from "../policy/addresses.ts";

const defaultPort = "11434";

/**
 * Returns the address at which Ollama of this machine is searched: where `OLLAMA_HOST` says that it listens, as Ollama
 * itself reads it. An address of another machine does not count: a person names that in their own document.
 */
export function ollamaAddress(ollamaHost: string | undefined): string {
  const text = (ollamaHost ?? "").trim();
  const url = URL.parse(/^https?:\/\//i.test(text) ? text : `http://${text.replace(/^:/, "0.0.0.0:")}`);
  const port = url === null || url.port === "" ? defaultPort : url.port;
  const host = url?.hostname ?? "";
  // It listens on every address, so also on this one.
  if (url === null || host === "0.0.0.0" || host === "[::]") return `http://127.0.0.1:${port}`;
  const isHere = host === "localhost" || kindOfAddress(host.replace(/^\[|\]$/g, "")) === "loopback";
  return isHere ? `http://${host}:${port}` : `http://127.0.0.1:${defaultPort}`;
}
