import ipaddr from "ipaddr.js";

// A CommonJS package, of which Node.js finds only the default export.
const { IPv4, IPv6, isValid, parse } = ipaddr;

/** What an address leads to. `never`: nobody has a use for it (multicast, broadcast, reserved blocks, no address at all). */
export type AddressKind = "public" | "loopback" | "private" | "never";

/** What is listed by its range; every range that is not is `never`. */
const kindsV4 = new Map<string, AddressKind>([
  ["unicast", "public"],
  ["loopback", "loopback"],
  ["private", "private"],
  ["linkLocal", "private"],
  ["carrierGradeNat", "private"],
]);
const kindsV6 = new Map<string, AddressKind>([
  ["unicast", "public"],
  ["loopback", "loopback"],
  ["linkLocal", "private"],
  ["uniqueLocal", "private"],
]);

/**
 * Returns what an IP address leads to. An IPv6 address that only carries an IPv4 address (mapped, NAT64, 6to4, Teredo …) is
 * what the carried one is. Anything that is not an address in its usual spelling is `never`.
 */
export function kindOfAddress(address: string): AddressKind {
  if (!isValid(address)) return "never";
  const parsed = parse(address);
  if (parsed instanceof IPv4) return kindOfV4(parsed);
  const carried = carriedV4(parsed);
  if (carried !== null) return kindOfV4(carried);
  return kindsV6.get(parsed.range()) ?? "never";
}

/** True if both are spellings of one address; every loopback address is this machine. */
export function isSameAddress(one: string, other: string): boolean {
  if (!isValid(one) || !isValid(other)) return false;
  if (kindOfAddress(one) === "loopback" && kindOfAddress(other) === "loopback") return true;
  return plain(one) === plain(other);
}

/** One spelling of an address: of one that carries an IPv4 address, that one. */
function plain(address: string): string {
  const parsed = parse(address);
  if (parsed instanceof IPv4) return parsed.toString();
  return (carriedV4(parsed) ?? parsed).toString();
}

const kindOfV4 = (address: ipaddr.IPv4): AddressKind => kindsV4.get(address.range()) ?? "never";

/** Where in the 16 bytes an IPv4 address stands, for the prefixes that carry one; RFCs 4291, 6052, 8215, 3056, 4380, 2765. */
const carriers: readonly {
  readonly prefix: string;
  readonly bits: number;
  readonly at: number;
  readonly flip?: true;
}[] = [
  { prefix: "::", bits: 96, at: 12 },
  { prefix: "::ffff:0:0", bits: 96, at: 12 },
  { prefix: "::ffff:0:0:0", bits: 96, at: 12 },
  { prefix: "64:ff9b::", bits: 96, at: 12 },
  { prefix: "64:ff9b:1::", bits: 48, at: 12 },
  { prefix: "2002::", bits: 16, at: 2 },
  { prefix: "2001::", bits: 32, at: 12, flip: true },
];

function carriedV4(address: ipaddr.IPv6): ipaddr.IPv4 | null {
  // "::" and "::1" are addresses of their own.
  if (address.range() === "loopback" || address.range() === "unspecified") return null;
  for (const { prefix, bits, at, flip } of carriers) {
    if (!address.match(IPv6.parse(prefix), bits)) continue;
    const bytes = address.toByteArray().slice(at, at + 4);
    return new IPv4(flip === true ? bytes.map((byte) => byte ^ 0xff) : bytes);
  }
  return null;
}
