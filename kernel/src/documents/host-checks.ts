import { isHost } from "../policy/egress.ts";
import { write } from "./fixes/repairs.ts";
import type { LaresDocument } from "./schema/lares.ts";
import { present } from "./sound-part.ts";
import { diagnostic, type Diagnostic } from "./text/diagnostics.ts";
import { pointerTo, type ParsedDocument } from "./text/source.ts";

/** Schemes of proxies that the egress host can use. */
const proxySchemes = ["http:", "https:", "socks5:", "socks:"];

/** Reports hosts in a list that name none, so that every request to them would be refused. */
export function checkHosts(
  hosts: readonly string[] | undefined,
  pointer: string,
  document: ParsedDocument,
): Diagnostic[] {
  return present(hosts).flatMap(([index, host]) => {
    if (isHost(host)) return [];
    const at = pointerTo(pointer, index);
    const message = /[*?]/.test(host)
      ? `"${host}" is a pattern; hosts are named one by one, as in api.example.com.`
      : `"${host}" is not a host. Write its name as in api.example.com, without scheme and path; a port may follow.`;
    const meant = hostIn(host);
    return [
      diagnostic("invalid-host", document.locate(at), message, [
        meant !== "" && isHost(meant) ? write(document, at, meant) : null,
      ]),
    ];
  });
}

/** Checks what the schema of `egress` cannot: hosts, and the proxy's address. */
export function checkEgress({ egress = {} }: LaresDocument, document: ParsedDocument): Diagnostic[] {
  const { proxy, private_hosts: privateHosts } = egress;
  const found = checkHosts(privateHosts, "/egress/private_hosts", document);
  if (proxy === undefined || (hostIn(proxy) !== "" && proxySchemes.includes(new URL(proxy).protocol)))
    return found;
  // It may hold a password, so it is not repeated.
  const message =
    "egress.proxy is not the address of a proxy, so no request leaves this machine. Write it as http://proxy.example.com:3128.";
  const meant = `http://${proxy}`;
  const isBare = /^[a-z0-9.-]+:\d+$/i.test(proxy);
  return [
    ...found,
    diagnostic("invalid-proxy", document.locate("/egress/proxy"), message, [
      isBare && URL.canParse(meant) ? write(document, "/egress/proxy", meant) : null,
    ]),
  ];
}

/** Returns the host of an address, with its port; "" if it is not an address. */
function hostIn(address: string): string {
  if (!URL.canParse(address)) return "";
  const { hostname, port } = new URL(address);
  return port === "" ? hostname : `${hostname}:${port}`;
}
