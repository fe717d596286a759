/** A model as an extension's manifest, or its entry in `lares.yaml`, declares it. Older manifests name models without saying where they are from. */
export interface DeclaredModel {
  readonly name: string;
  readonly version?: string;
  readonly source?: { readonly url?: unknown; readonly redirect_hosts?: unknown };
  readonly sha256?: string;
  /** Mebibytes. */
  readonly size_mb?: number;
  /** Whose `lares.yaml` names it; absent if the manifest does. */
  readonly named_in?: "workspace" | "user";
}

/** The declaration by which a model is fetched. The digest alone decides which model it is. */
export interface ModelSource {
  readonly name: string;
  readonly url: string;
  /** Hosts besides the address's own that it may be redirected to. */
  readonly redirectHosts: readonly string[];
  /** 64 hexadecimal digits in lower case. */
  readonly sha256: string;
  /** The most that the file may have. */
  readonly maxBytes: number;
}

/** The largest model that is fetched: what onnxruntime reads from memory without trouble. */
const maxModelMb = 1024;

/** Returns where a declared model is from, or what its declaration lacks, as a sentence. */
export function sourceOfModel(model: DeclaredModel): ModelSource | { readonly lacks: string } {
  // A declaration may be read from decisions.yaml, which people may edit.
  const { name, source, sha256, size_mb: sizeMb } = model;
  const url = source?.url;
  const digest = String(sha256 ?? "").replace(/^sha256:/, "");
  const lacks = (what: string): { readonly lacks: string } => ({
    lacks: `The model ${JSON.stringify(name)} is declared with ${what}, so it cannot be fetched.`,
  });
  if (typeof url !== "string" || url === "") return lacks("no source.url");
  if (!/^[0-9a-f]{64}$/.test(digest)) return lacks("no valid sha256");
  if (typeof sizeMb !== "number" || !(sizeMb > 0)) return lacks("no size_mb");
  if (sizeMb > maxModelMb) return lacks(`a size_mb over ${maxModelMb}`);
  const redirectHosts = Array.isArray(source?.redirect_hosts)
    ? source.redirect_hosts.filter((host) => typeof host === "string")
    : [];
  return { name, url, redirectHosts, sha256: digest, maxBytes: Math.ceil(sizeMb * 1024 * 1024) };
}
