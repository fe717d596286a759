/**
 * Writes `manifests/protected.yaml` as JSON, so that no kernel parses YAML at its start. A test of `policy/`
 * checks that both are equal.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { format, resolveConfig } from "prettier";

const top = join(import.meta.dirname, "..", "..");
const target = join(top, "kernel/src/policy/protected-names.json");
const { groups } = parse(readFileSync(join(top, "manifests/protected.yaml"), "utf8")) as { groups: object[] };
const all = groups.map((group) => ({ folders: [], files: [], ...group }));
const text = JSON.stringify(all);
writeFileSync(target, await format(text, { ...(await resolveConfig(target)), filepath: target }));
