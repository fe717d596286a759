import { isJsonObject } from "../../base/json.ts";
import type { Delivery } from "../framing/frame-writer.ts";
import type { ServerNotification } from "./notifications.ts";

// The front loads this file and not the schemas, which take long to load.

type DeliveryRule = (params: Readonly<Record<string, unknown>>) => Delivery;

const mustArrive: DeliveryRule = () => "must arrive";
const droppable: DeliveryRule = () => "droppable";
/** Of those with the same value in this field, the last one says all. */
const lastBy =
  (field: string): DeliveryRule =>
  (params) => {
    const subject = params[field];
    return typeof subject === "string" ? { replaces: subject } : "must arrive";
  };

const ownRules: Readonly<Record<ServerNotification, DeliveryRule>> = {
  "lares/agents/changed": lastBy("id"),
  "lares/jobs/changed": lastBy("agent"),
  "lares/actions/changed": lastBy("id"),
  "lares/decisions/changed": () => ({ replaces: "" }),
  "lares/traces/entry": droppable,
  "lares/notify": mustArrive,
};

const standardRules: Readonly<Record<string, DeliveryRule>> = {
  "textDocument/publishDiagnostics": lastBy("uri"),
  // Its beginning and its end are told in any case, and in order: no report comes after the end.
  "$/progress": ({ token, value }) =>
    isJsonObject(value) && value["kind"] === "report" ? { replaces: String(token) } : "must arrive",
};

const rules = new Map(Object.entries({ ...ownRules, ...standardRules }));

/** Returns what may become of a notification of the kernel's while its client does not read. */
export function deliveryOf(method: string, params: unknown): Delivery {
  const delivery = rules.get(method)?.(isJsonObject(params) ? params : {}) ?? "must arrive";
  return typeof delivery === "string" ? delivery : { replaces: `${method} ${delivery.replaces}` };
}
