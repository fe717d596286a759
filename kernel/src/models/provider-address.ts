/**
 * Returns why requests cannot go to a `base_url`, in a sentence that says how to write it; null if they can. Whether
 * connecting to the address is allowed is decided when a request is sent.
 */
export function providerAddressFault(url: string): string | null {
  const protocol = URL.canParse(url) ? new URL(url).protocol : undefined;
  if (protocol === "http:" || protocol === "https:") return null;
  // `localhost:8080` is read as an address whose scheme is "localhost".
  if (protocol !== undefined && url.includes("://"))
    return `Providers are reached by https, or by http in your own network, not by ${protocol.slice(0, -1)}.`;
  const meant = `http://${url.replace(/^\/*/, "")}`;
  const example = URL.canParse(meant) ? meant : "https://api.example.com/v1";
  return `"${url}" is not a complete address. Write the base_url with http:// or https://, such as ${example}.`;
}
