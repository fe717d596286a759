import type { Ajv, ErrorObject } from "ajv";
import { closest } from "../base/suggest.ts";
import { diagnostic, type Diagnostic } from "./text/diagnostics.ts";
import { draft07 } from "./schema/json-schema.ts";
import { fix, set, write } from "./fixes/repairs.ts";
import { parameterWarnings, type ParametersPlace } from "./parameter-warnings.ts";
import { countSubschemas, maxSubschemas } from "./schema-fan-out.ts";
import { pointerTo, valueAt } from "./text/source.ts";

type Parameters = Record<string, unknown>;

/**
 * Reports why parameters or fields are not a JSON Schema that values can be validated against, and likely
 * mistakes in it.
 */
export async function checkParameters(parameters: Parameters, place: ParametersPlace): Promise<Diagnostic[]> {
  const { document, pointer, subject } = place;
  if (parameters["type"] !== "object") {
    const message = `${subject} have to be a JSON Schema with type = "object": each of them has a name.`;
    return [
      diagnostic("invalid-parameters", document.locate(pointerTo(pointer, "type")), message, [
        fix("Write type: object", [set(document, pointer, "type", "object")]),
      ]),
    ];
  }
  if (countSubschemas(parameters) > maxSubschemas) {
    const message = `${subject} come to more than ${maxSubschemas} schemas when every $ref is followed: too many to check values against. Let them refer to each other less.`;
    return [diagnostic("invalid-parameters", document.locate(pointer, "key"), message)];
  }
  const draft = draftFault(parameters, place);
  if (draft !== null) return [draft];
  const form = await formFault(parameters, place);
  return form === null ? parameterWarnings(parameters, place) : [form];
}

/** How faults name the parameters of a tool or a command. */
export function parametersOf(name: string): Pick<ParametersPlace, "subject" | "use"> {
  return { subject: `The parameters of "${name}"`, use: `call of "${name}"` };
}

/** Reports schemas of another draft, whose keywords may mean something else. */
function draftFault(
  { $schema: draft }: Parameters,
  { document, pointer }: ParametersPlace,
): Diagnostic | null {
  if (draft === undefined || draft === draft07 || draft === draft07.slice(0, -1)) return null;
  const at = pointerTo(pointer, "$schema");
  const message = `Parameters are read as JSON Schema draft-07, which is "${draft07}"; leave $schema away, or write that.`;
  return diagnostic("invalid-parameters", document.locate(at), message, [write(document, at, draft07)]);
}

/** Only validates schemas and stores none of them: the meta-schema is compiled once. */
let schemaChecker: Promise<Ajv> | undefined;

async function formFault(parameters: Parameters, place: ParametersPlace): Promise<Diagnostic | null> {
  schemaChecker ??= import("./ajv.ts").then(
    ({ Ajv }) => new Ajv({ strict: false, allErrors: false, logger: false }),
  );
  const ajv = await schemaChecker;
  if (ajv.validateSchema(parameters) === true) return null;
  // Among the errors of alternative forms, the one closest to the wrong character is used.
  const [error] = (ajv.errors ?? []).toSorted((one, other) => depthOf(other) - depthOf(one));
  return formDiagnostic(error, place);
}

function depthOf({ instancePath }: ErrorObject): number {
  return instancePath.split("/").length;
}

function formDiagnostic(
  error: ErrorObject | undefined,
  { document, pointer, subject }: ParametersPlace,
): Diagnostic {
  const { instancePath = "", message = "are not valid" } = error ?? {};
  const at = `${pointer}${instancePath}`;
  const allowed: unknown = error?.params["allowedValues"];
  const names = Array.isArray(allowed) ? allowed.filter((name) => typeof name === "string") : [];
  const value = valueAt(document.value, at);
  // YAML's null is spelled like the name of its type.
  const meant = closest(value === null ? "null" : typeof value === "string" ? value : "", names);
  return diagnostic(
    "invalid-parameters",
    document.locate(at),
    `${subject} are not a JSON Schema: ${instancePath || "they"} ${message}${names.length === 0 ? "" : `: ${names.join(", ")}`}.`,
    meant === undefined ? [] : [write(document, at, meant)],
  );
}
