import { isJsonObject } from "../base/json.ts";
import { closest, didYouMean } from "../base/suggest.ts";
import { typeReferencePattern } from "../base/vocabulary/shared-type.ts";
import type { ManifestPorts } from "./ports.ts";
import { anotherName, write } from "./fixes/repairs.ts";
import { checkParameters } from "./parameter-checks.ts";
import { referenceTarget } from "./schema-fan-out.ts";
import type { SharedType } from "./schema/shared-types.ts";
import { present, type SoundExtension } from "./sound-part.ts";
import { diagnostic, type Diagnostic } from "./text/diagnostics.ts";
import { pointerTo, type ParsedDocument } from "./text/source.ts";
import { nextTurn } from "./text/turns.ts";

/** Reports what is wrong with the types that an extension declares. */
export async function checkTypes({ types }: SoundExtension, document: ParsedDocument): Promise<Diagnostic[]> {
  const found: Diagnostic[] = [];
  const declared = present(types);
  const taken = new Set(declared.map(([, { name }]) => name));
  const seen = new Set<string>();
  for (const [index, type] of declared) {
    await nextTurn();
    const { name, schema } = type;
    const pointer = pointerTo("/extension/types", index);
    const at = pointerTo(pointer, "name");
    if (seen.has(name)) {
      const message = `There are two types of the name "${name}". Give one of them another name.`;
      const fixes = [write(document, at, anotherName(name, taken))];
      found.push(diagnostic("duplicate-type", document.locate(at), message, fixes));
    }
    seen.add(name);
    const subject = `The properties of the type "${name}"`;
    const place = { document, pointer: pointerTo(pointer, "schema"), subject, use: `write of a "${name}"` };
    const faults = await checkParameters(schema, place);
    found.push(...faults);
    if (!faults.some(({ severity }) => severity === "error"))
      found.push(...checkKey(type, pointer, document));
  }
  return found;
}

/** Reports an unusable key: it must be a required property of type string. */
function checkKey(
  { name, key, schema }: SharedType,
  pointer: string,
  document: ParsedDocument,
): Diagnostic[] {
  const at = pointerTo(pointer, "key");
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  const wrong = (message: string, meant?: string): Diagnostic[] => [
    diagnostic("invalid-type-key", document.locate(at), message, [
      meant === undefined ? null : write(document, at, meant),
    ]),
  ];
  if (!Object.hasOwn(properties, key)) {
    const names = Object.keys(properties);
    return wrong(
      `The key of "${name}" is "${key}", which is none of its properties${didYouMean(key, names) || "."}`,
      closest(key, names),
    );
  }
  const property = resolved(properties[key], schema);
  if (!isJsonObject(property) || property["type"] !== "string")
    return wrong(`The key of "${name}" is "${key}", which has to be a property with type: string.`);
  const required: readonly unknown[] = Array.isArray(schema["required"]) ? schema["required"] : [];
  if (!required.includes(key))
    return wrong(`The key of "${name}" is "${key}", which has to be listed under required.`);
  return [];
}

/** Follows one `$ref` within the schema. */
function resolved(property: unknown, schema: Record<string, unknown>): unknown {
  const reference = isJsonObject(property) ? property["$ref"] : undefined;
  return typeof reference === "string" ? referenceTarget(schema, reference) : property;
}

const typeReference = new RegExp(typeReferencePattern);

/** Reports types in `shared_types` that there cannot be, or that their extension does not declare. */
export async function checkTypeReferences(
  { id, permissions, types }: SoundExtension,
  document: ParsedDocument,
  ports: Pick<ManifestPorts, "declaredTypes">,
): Promise<Diagnostic[]> {
  const found: Diagnostic[] = [];
  for (const direction of ["read", "write"] as const) {
    for (const [index, type] of present(permissions?.shared_types?.[direction])) {
      const where = pointerTo("/extension/permissions/shared_types", direction, index);
      const wrong = (message: string, meant?: string): void =>
        void found.push(
          diagnostic("invalid-type-reference", document.locate(where), message, [
            meant === undefined ? null : write(document, where, meant),
          ]),
        );
      if (!typeReference.test(type)) {
        wrong(
          `"${type}" names no type; write "extension.id/Type", or "extension.id/*" for all of an extension.`,
        );
        continue;
      }
      const slash = type.indexOf("/");
      const [owner, name] = [type.slice(0, slash), type.slice(slash + 1)];
      const declared =
        owner === id ? present(types).map(([, each]) => each.name) : await ports.declaredTypes?.(owner);
      if (name === "*" || declared === undefined || declared === null || declared.includes(name)) continue;
      const known = declared.length === 0 ? "; it declares none." : `; it declares ${declared.join(", ")}.`;
      const meant = closest(name, declared);
      wrong(
        `${owner} has no type "${name}"${didYouMean(name, declared) || known}`,
        meant === undefined ? undefined : `${owner}/${meant}`,
      );
    }
  }
  return found;
}
