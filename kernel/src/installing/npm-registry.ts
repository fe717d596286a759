import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import process from "node:process";
import { isJsonObject } from "../base/json.ts";
import { invalidParams, LaresError } from "../base/errors.ts";
import { packageBounds } from "../packages/bounds.ts";
import { packageInTarball } from "../packages/npm-tarball.ts";
import { readText } from "../platform/files/document-files.ts";
import { homeOf, type Environment } from "../platform/files/state-folder.ts";
import { targetOf } from "../policy/egress.ts";
import type { Download } from "./downloads.ts";
import type { FoundPackage } from "./sources.ts";

const publicRegistry = "https://registry.npmjs.org/";
const maxPackumentBytes = 16 * 1024 * 1024;

/** A name on npm, with a version or tag behind "@". */
const form =
  /^(?<name>(?:@[a-z0-9-~][a-z0-9-._~]*\/)?[a-z0-9-~][a-z0-9-._~]*)(?:@(?<version>[A-Za-z0-9._+-]{1,100}))?$/;

interface NpmPorts {
  readonly environment: Environment;
  readonly download: Download;
  readonly signal: AbortSignal;
  received?(bytes: number): void;
}

/** Gets the package that an npm package carries. `spec`: `name`, `@scope/name`, each with `@version`. */
export async function packageFromNpm(
  spec: string,
  { environment, download, signal, received }: NpmPorts,
): Promise<FoundPackage> {
  const { name, version: wanted = "latest" } = form.exec(spec)?.groups ?? {};
  if (name === undefined || name.length > 214)
    throw invalidParams(
      `"npm:${spec.slice(0, 200)}" is not the name of an npm package. Write npm:<name>, npm:@<scope>/<name>, each with @<version> for another than the latest.`,
    );
  const registry = await registryFor(name, environment);
  const named = [registry];
  const address = new URL(name.replace("/", "%2f"), registry).href;
  const answer = await download({
    url: address,
    maxBytes: maxPackumentBytes,
    what: `the npm package ${name}`,
    accept: "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8",
    named,
    signal,
  });
  const { version, tarball, integrity } = distOf(answer, name, wanted);
  const bytes = await download({
    url: tarball,
    maxBytes: packageBounds.maxPackageBytes,
    what: `${name} ${version}`,
    named,
    signal,
    ...(received === undefined ? {} : { received }),
  });
  if (integrity !== null && !hasIntegrity(bytes, integrity))
    throw new LaresError(
      "DigestMismatch",
      `${name} ${version} is not the tarball that the registry describes: its digest differs. It is not used.`,
      { name, version },
    );
  return { bytes: await packageInTarball(bytes, name), source: `npm:${name}` };
}

function distOf(
  answer: Uint8Array,
  name: string,
  wanted: string,
): { readonly version: string; readonly tarball: string; readonly integrity: string | null } {
  const packument = parsed(answer);
  const tags = own(packument, "dist-tags");
  const tagged = own(tags, wanted);
  const version = typeof tagged === "string" ? tagged : wanted;
  const dist = own(own(own(packument, "versions"), version), "dist");
  const [tarball, integrity] = [own(dist, "tarball"), own(dist, "integrity")];
  if (typeof tarball !== "string" || "reason" in targetOf(tarball))
    throw new LaresError("NotFound", `There is no version "${wanted}" of ${name} on npm.`, { name, version });
  return { version, tarball, integrity: typeof integrity === "string" ? integrity : null };
}

function parsed(answer: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(answer).toString("utf8"));
  } catch {
    throw new LaresError("NetworkError", "The npm registry did not answer with JSON.");
  }
}

const own = (value: unknown, key: string): unknown =>
  isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;

/** Compares with the strongest digest of a Subresource Integrity text that is known. */
function hasIntegrity(bytes: Uint8Array, integrity: string): boolean {
  for (const algorithm of ["sha512", "sha384", "sha256", "sha1"]) {
    const digests = integrity.split(/\s+/).flatMap((text) => {
      const [name, digest = ""] = text.split("-", 2);
      return name === algorithm ? [digest] : [];
    });
    if (digests.length > 0) return digests.includes(createHash(algorithm).update(bytes).digest("base64"));
  }
  return false;
}

/**
 * Returns the registry for a package, as npm's own settings of this user say: the environment, the user's `.npmrc`, the global one.
 * A `.npmrc` in the current folder may come from a stranger, and is not read.
 */
export async function registryFor(name: string, environment: Environment): Promise<string> {
  const variable = (key: string): string | undefined =>
    Object.entries(environment).find(([each]) => each.toLowerCase() === `npm_config_${key}`)?.[1] ||
    undefined;
  const userFile = variable("userconfig") ?? join(homeOf(environment), ".npmrc");
  const prefix = variable("prefix") ?? dirname(dirname(process.execPath));
  const globalFile = variable("globalconfig") ?? join(prefix, "etc", "npmrc");
  const files = [await settingsIn(userFile, environment), await settingsIn(globalFile, environment)];
  const scope = name.startsWith("@") ? name.slice(0, name.indexOf("/")) : null;
  const scoped =
    scope === null
      ? undefined
      : files.map((file) => file.get(`${scope}:registry`)).find((each) => each !== undefined);
  const address =
    scoped ??
    variable("registry") ??
    files.map((file) => file.get("registry")).find((each) => each !== undefined) ??
    publicRegistry;
  const whole = address.endsWith("/") ? address : `${address}/`;
  const target = targetOf(whole);
  if ("reason" in target)
    throw invalidParams(`npm's registry is set to an address that cannot be used: ${target.reason}`);
  return whole;
}

/** Reads the lines `key = value` of an npmrc. */
async function settingsIn(file: string, environment: Environment): Promise<ReadonlyMap<string, string>> {
  const settings = new Map<string, string>();
  for (const line of ((await readText(file).catch(() => null)) ?? "").split(/\r?\n/)) {
    const at = line.indexOf("=");
    const key = line.slice(0, Math.max(0, at)).trim();
    if (key === "" || key.startsWith("#") || key.startsWith(";")) continue;
    const value = line.slice(at + 1).trim();
    const plain = value.replace(/^(["'])(.*)\1$/, "$2");
    settings.set(
      key,
      plain.replace(/\$\{([^${}]+)\}/g, (whole, variable: string) => environment[variable] ?? whole),
    );
  }
  return settings;
}
