import { parse } from "yaml";
import { LaresError } from "../../base/errors.ts";
import { isJsonObject } from "../../base/json.ts";
import type { Configuration } from "../../documents/configuration.ts";
import type { RedactionRule } from "../../trace/entry.ts";
import { readText } from "../../platform/files/document-files.ts";
import { resources } from "../resources.ts";

const dayMs = 24 * 60 * 60 * 1000;

/** How long traces are stored, and what is redacted from them. */
export async function readTraceSettings({
  trace,
}: Configuration): Promise<{ keepDays: number; redactions: RedactionRule[] }> {
  const document: unknown = parse((await readText(resources.redaction)) ?? "");
  const rules = isJsonObject(document) && Array.isArray(document["rules"]) ? document["rules"] : null;
  if (rules === null || !rules.every(isRule)) {
    throw new LaresError("InternalError", `${resources.redaction} is damaged; install Lares again.`);
  }
  return {
    keepDays: Math.max(1, Math.ceil(trace.keepMs / dayMs)),
    redactions: rules.map(({ name, pattern }) => ({ name, pattern })),
  };
}

function isRule(value: unknown): value is { name: string; pattern: string } {
  return isJsonObject(value) && typeof value["name"] === "string" && typeof value["pattern"] === "string";
}
