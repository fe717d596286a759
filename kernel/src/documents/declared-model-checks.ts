import { sourceOfModel } from "../base/vocabulary/declared-model.ts";
import { targetOf } from "../policy/egress.ts";
import { write } from "./fixes/repairs.ts";
import { checkHosts } from "./host-checks.ts";
import type { Manifest } from "./schema/manifest.ts";
import { present } from "./sound-part.ts";
import { diagnostic, type Diagnostic } from "./text/diagnostics.ts";
import { pointerTo, type ParsedDocument } from "./text/source.ts";

/** Reports what is wrong with the models at `list`, which an extension declares: older manifests only name them. */
export function checkDeclaredModels(
  models: Manifest["extension"]["models"],
  list: string,
  document: ParsedDocument,
): Diagnostic[] {
  const owners = new Map<string, number>();
  return present(models).flatMap(([index, model]) => {
    const pointer = `${list}/${index}`;
    const { name, sha256, source } = model;
    const found = checkHosts(
      source?.redirect_hosts,
      pointerTo(pointer, "source", "redirect_hosts"),
      document,
    );
    const owner = owners.get(name);
    if (owner !== undefined) {
      const message = `models[${owner}] is named "${name}" already. Give this one another name, or remove one of them.`;
      found.push(diagnostic("duplicate-model", document.locate(`${pointer}/name`), message));
    }
    owners.set(name, owner ?? index);
    if (sha256 !== undefined && !/^(?:sha256:)?[0-9a-f]{64}$/.test(sha256)) {
      const at = pointerTo(pointer, "sha256");
      const isDigits = /^(?:sha256:)?[0-9a-f]{64}$/i.test(sha256);
      const message = `"${sha256}" is not a SHA-256. Write 64 hexadecimal digits in lower case.`;
      const fixes = [isDigits ? write(document, at, sha256.toLowerCase()) : null];
      return [...found, diagnostic("invalid-hash", document.locate(at), message, fixes)];
    }
    const known = sourceOfModel(model);
    if ("lacks" in known)
      return [...found, diagnostic("unusable-model", document.locate(pointer), known.lacks)];
    const target = targetOf(known.url);
    if (!("reason" in target)) return found;
    const at = pointerTo(pointer, "source", "url");
    return [...found, diagnostic("unusable-model", document.locate(at), target.reason)];
  });
}
