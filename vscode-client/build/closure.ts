import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** An npm package as it lies in a folder of modules. */
export interface Package {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  /** Where it is. */
  readonly folder: string;
  /** Where it was found from the top, e.g. "node_modules/a/node_modules/b"; kept, so that resolution stays the same. */
  readonly place: string;
}

interface Description {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
}

export function describe(folder: string): Description {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Description;
}

/**
 * Every package that `root` needs in production, itself left out, as npm installed them at and below `top`: sorted by
 * place. Optional ones that are not installed, or are for another platform, are left out, and so is what `isLeftOut`.
 */
export function closureOf(options: {
  readonly top: string;
  readonly root: string;
  readonly platform: string;
  readonly architecture: string;
  isLeftOut(name: string): boolean;
}): Package[] {
  const { top, root, isLeftOut } = options;
  const found = new Map<string, Package>();
  const open = [root];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    const description = describe(folder);
    for (const [name, isOptional] of namesOf(description)) {
      if (isLeftOut(name)) continue;
      const at = findPackage(name, folder, top);
      if (at === undefined) {
        if (isOptional) continue;
        throw new Error(`${name}, which ${description.name} needs, is not installed; run npm ci.`);
      }
      if (found.has(at)) continue;
      const { version, license = "see its licence file", os, cpu } = describe(at);
      const fits = allows(os, options.platform) && allows(cpu, options.architecture);
      if (!fits && isOptional) continue;
      if (!fits) throw new Error(`${name} is not for ${options.platform}-${options.architecture}.`);
      found.set(at, { name, version, license, folder: at, place: relative(top, at) });
      open.push(at);
    }
  }
  return [...found.values()].toSorted((one, other) => (one.place < other.place ? -1 : 1));
}

function namesOf(description: Description): Map<string, boolean> {
  const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = description;
  const names = new Map<string, boolean>();
  for (const name of Object.keys(peerDependencies))
    if (description.peerDependenciesMeta?.[name]?.optional !== true) names.set(name, false);
  for (const name of Object.keys(dependencies)) names.set(name, false);
  for (const name of Object.keys(optionalDependencies)) names.set(name, true);
  return names;
}

/** As Node looks for it, but not above `top`. */
function findPackage(name: string, from: string, top: string): string | undefined {
  for (let folder = from; folder.startsWith(top); folder = dirname(folder)) {
    const candidate = join(folder, "node_modules", name);
    if (existsSync(join(candidate, "package.json"))) return candidate;
  }
  return undefined;
}

/** npm's `os` and `cpu`: a list of names, or of names that are excluded by "!". */
function allows(list: readonly string[] | undefined, name: string): boolean {
  if (list === undefined || list.length === 0) return true;
  if (list.includes(`!${name}`)) return false;
  return list.every((entry) => entry.startsWith("!")) || list.includes(name) || list.includes("any");
}
