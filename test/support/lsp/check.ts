import { readFileSync } from "node:fs";
import { Ajv, type ValidateFunction } from "ajv";

const { definitions } = JSON.parse(
  readFileSync(new URL("lsp-3.17.schema.json", import.meta.url), "utf8"),
) as { readonly definitions: Readonly<Record<string, object>> };
const ajv = new Ajv({ strict: false, allErrors: false, verbose: true });
ajv.addSchema({ $id: "lsp", definitions });

const responseError = ajv.compile({
  type: "object",
  properties: {
    code: { $ref: "lsp#/definitions/integer" },
    message: { type: "string" },
    data: {},
  },
  required: ["code", "message"],
  additionalProperties: false,
});
const id = ajv.compile({ anyOf: [{ $ref: "lsp#/definitions/integer" }, { type: "string" }] });

/** Requests and notifications of the LSP, by their direction. */
const methods = {
  params: propertiesOf("Params"),
  results: propertiesOf("Results"),
};
const compiled = new Map<object, ValidateFunction>();

/**
 * Returns what is wrong with a message of the kernel according to LSP 3.17; null if nothing is. The kernel's own
 * methods are checked as JSON-RPC only. `answered` is the method of the request that a response belongs to.
 */
export function lspFault(message: Readonly<Record<string, unknown>>, answered?: string): string | null {
  if (message["jsonrpc"] !== "2.0") return `jsonrpc is ${JSON.stringify(message["jsonrpc"])}`;
  const known = ["jsonrpc", "id", "method", "params", "result", "error"];
  const foreign = Object.keys(message).find((key) => !known.includes(key));
  if (foreign !== undefined) return `a message has no "${foreign}"`;
  return typeof message["method"] === "string"
    ? callFault(message, message["method"])
    : responseFault(message, answered);
}

function callFault(message: Readonly<Record<string, unknown>>, method: string): string | null {
  if ("id" in message && !id(message["id"])) return `${method}: ${said(id)}`;
  if ("result" in message || "error" in message) return `${method}: a request carries no result and no error`;
  const params = message["params"];
  if ("params" in message && (typeof params !== "object" || params === null))
    return `${method}: params are ${JSON.stringify(params)}, neither object nor array`;
  const schema = methods.params[method];
  if (schema !== undefined) return fault(schema, params ?? {}, `params of ${method}`);
  if (Object.hasOwn(methods.results, method) && params !== undefined) return `${method} has no params`;
  return null;
}

function responseFault(message: Readonly<Record<string, unknown>>, answered?: string): string | null {
  const what = `the answer to ${answered ?? "something"}`;
  // The client's own id is returned, whatever number it was.
  if (message["id"] !== null && typeof message["id"] !== "number" && typeof message["id"] !== "string")
    return `${what}: its id is ${JSON.stringify(message["id"])}`;
  if ("result" in message === "error" in message) return `${what} has to have a result or an error`;
  if ("error" in message) return responseError(message["error"]) ? null : `${what}: ${said(responseError)}`;
  const schema = answered === undefined ? undefined : methods.results[answered];
  return schema === undefined ? null : fault(schema, message["result"], what);
}

function fault(schema: object, value: unknown, what: string): string | null {
  let check = compiled.get(schema);
  if (check === undefined) {
    check = ajv.compile(inLsp(schema));
    compiled.set(schema, check);
  }
  return check(value) ? null : `${what}: ${said(check)}`;
}

function said({ errors }: ValidateFunction): string {
  // For a union, each branch reports what it expected.
  const sentences = (errors ?? []).map(
    ({ instancePath, message, params, data }) =>
      `${instancePath} ${message} ${JSON.stringify(params)}: ${JSON.stringify(data)?.slice(0, 200)}`,
  );
  return sentences.slice(-5).join("; ");
}

function propertiesOf(name: "Params" | "Results"): Record<string, object> {
  const { properties } = definitions[name] as { properties: Record<string, object> };
  return properties;
}

/** Returns the schema with its references into the whole. */
function inLsp(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"lsp#/')) as object;
}
