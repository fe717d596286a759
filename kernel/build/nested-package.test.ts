import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import {
  compilers,
  languageModelRuntime,
  lspGenerator,
  modelRuntime,
  packaging,
  schemaServers,
} from "./nested-package.ts";

const all = [compilers, packaging, modelRuntime, languageModelRuntime, schemaServers, lspGenerator];

interface Lockfile {
  readonly packages: Readonly<Record<string, { readonly version?: string; readonly integrity?: string }>>;
}
interface Description {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const read = (path: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), "utf8"));

test.each(all)(
  "$folder names exact versions, and its lockfile has them and a hash of everything",
  ({ folder }) => {
    const { dependencies, optionalDependencies } = read(`${folder}/package.json`) as Description;
    const { packages } = read(`${folder}/package-lock.json`) as Lockfile;
    for (const [name, version] of Object.entries({ ...dependencies, ...optionalDependencies })) {
      expect(version, name).toMatch(/^\d+\.\d+\.\d+$/);
      expect(packages[`node_modules/${name}`]?.version, name).toBe(version);
    }
    for (const [path, { integrity }] of Object.entries(packages))
      if (path !== "") expect(integrity, path).toMatch(/^sha512-/);
  },
);

test("an installation of the checkout contains none of them", () => {
  const { packages } = read("package-lock.json") as Lockfile;
  const nested = all.flatMap(({ folder }) =>
    Object.keys((read(`${folder}/package.json`) as Description).dependencies),
  );
  // Its types are few, and everyone's.
  const shared = ["vscode-languageserver-protocol"];
  expect(
    nested.filter((name) => !shared.includes(name) && Object.hasOwn(packages, `node_modules/${name}`)),
  ).toEqual([]);
});
