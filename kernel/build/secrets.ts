/**
 * Writes `manifests/secrets.yaml` as a module, so that no process parses it at its start. A test of `secret-scan/`
 * checks that both are equal.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { format, resolveConfig } from "prettier";

const top = join(import.meta.dirname, "..", "..");
const target = join(top, "kernel/src/secret-scan/shipped-rules.ts");
const { version: _, ...rules } = parse(readFileSync(join(top, "manifests/secrets.yaml"), "utf8")) as {
  version: number;
};
const text = `import type { SecretRules } from "./rules.ts";

/** Generated from manifests/secrets.yaml, which explains the fields: node kernel/build/secrets.ts */
const shippedRules: SecretRules = ${JSON.stringify(rules)};
`;
writeFileSync(target, await format(text, { ...(await resolveConfig(target)), filepath: target }));
