/** The person's `egress:` settings that concern the way out. */
interface EgressSettings {
  readonly proxy?: string;
  readonly noProxy?: readonly string[];
  readonly caFile?: string;
}

/** Returns the egress host's whole environment. The person's settings precede variables of the kernel's environment. */
export function egressEnvironment(
  { proxy, noProxy, caFile }: EgressSettings,
  inherited: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const inheritedAs = (name: string): string | undefined => inherited[name] ?? inherited[name.toLowerCase()];
  const variables = {
    HTTPS_PROXY: proxy ?? inheritedAs("HTTPS_PROXY"),
    NO_PROXY: noProxy?.join(",") ?? inheritedAs("NO_PROXY"),
    NODE_EXTRA_CA_CERTS: caFile ?? inherited["NODE_EXTRA_CA_CERTS"],
  };
  return Object.fromEntries(
    Object.entries(variables).filter((entry): entry is [string, string] => (entry[1] ?? "") !== ""),
  );
}
