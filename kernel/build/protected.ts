/**
 * Writes `manifests/protected.yaml` as a module, so that no kernel parses it at its start. A test of `policy/`
 * checks that both are equal.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { format, resolveConfig } from "prettier";

const top = join(import.meta.dirname, "..", "..");
const target = join(top, "kernel/src/policy/protected-names.ts");
const { groups } = parse(readFileSync(join(top, "manifests/protected.yaml"), "utf8")) as { groups: object[] };
const all = groups.map((group) => ({ folders: [], files: [], ...group }));
const text = `/** Generated from manifests/protected.yaml, which says what it means: node kernel/build/protected.ts */
export const protectedGroups: readonly {
  readonly reason: string;
  readonly folders: readonly string[];
  readonly files: readonly string[];
}[] = ${JSON.stringify(all)};
`;
writeFileSync(target, await format(text, { ...(await resolveConfig(target)), filepath: target }));
