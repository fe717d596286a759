import { isJsonObject } from "../../base/json.ts";
import type { Delivery } from "../framing/frame-writer.ts";
import type { ServerNotification } from "./notifications.ts";

// The front loads this file without the schemas, which load slowly.

type DeliveryRule = (params: Readonly<Record<string, unknown>>) => Delivery;

const mustArrive: DeliveryRule = () => "must arrive";
const droppable: DeliveryRule = () => "droppable";
/** A later notification with the same value in this field makes earlier ones obsolete. */
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
  "lares/asks/changed": lastBy("id"),
  "lares/decisions/changed": () => ({ replaces: "" }),
  "lares/traces/entry": droppable,
  "lares/conversations/entry": mustArrive,
  "lares/conversations/delta": mustArrive,
  "lares/conversations/changed": lastBy("id"),
  "lares/conversations/deleted": mustArrive,
  "lares/notify": lastBy("id"),
};

const standardRules: Readonly<Record<string, DeliveryRule>> = {
  "textDocument/publishDiagnostics": lastBy("uri"),
  // The beginning and the end are always sent, in order: no report follows the end.
  "$/progress": ({ token, value }) =>
    isJsonObject(value) && value["kind"] === "report" ? { replaces: String(token) } : "must arrive",
};

const rules = new Map(Object.entries({ ...ownRules, ...standardRules }));

/** Returns how a notification of the kernel is treated while its client does not read. */
export function deliveryOf(method: string, params: unknown): Delivery {
  const delivery = rules.get(method)?.(isJsonObject(params) ? params : {}) ?? "must arrive";
  return typeof delivery === "string" ? delivery : { replaces: `${method} ${delivery.replaces}` };
}
