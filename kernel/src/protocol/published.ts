import type { TSchema } from "typebox";
import { Action, ApprovalRule, Effect, EffectInput } from "../base/vocabulary/action.ts";
import { Agent, AgentMetrics, Tool } from "../base/vocabulary/agent.ts";
import { Job } from "../base/vocabulary/job.ts";
import { Hash } from "../base/vocabulary/common.ts";
import { Entry } from "../base/vocabulary/entry.ts";
import { Permissions } from "../base/vocabulary/permissions.ts";
import { TraceEntry } from "../base/vocabulary/trace.ts";
import type { RequestShape } from "./define.ts";
import { wireCodes } from "./errors.ts";
import { guestCalls } from "./guest/v1/calls.ts";
import { guestRequests } from "./guest/v1/lifecycle.ts";
import { guestNotifications } from "./guest/v1/services.ts";
import { serverNotifications } from "./v1/notifications.ts";
import { clientRequests } from "./v1/requests.ts";
import { SessionOptions } from "./v1/session.ts";
import { Status } from "./v1/status.ts";
import { ToolResult } from "./v1/tools.ts";

/** Types with a name of their own in the published schema; everywhere else they are referred to. */
const named: Record<string, TSchema> = {
  Action,
  Agent,
  AgentMetrics,
  ApprovalRule,
  Effect,
  EffectInput,
  Entry,
  Hash,
  Job,
  Permissions,
  SessionOptions,
  Status,
  Tool,
  ToolResult,
  TraceEntry,
};

type Json = unknown;

/** The JSON Schemas (draft-07) of the wire, by file name, as they are published. */
export function publishedSchemas(): Record<string, object> {
  return { "protocol.schema.json": clientSchema(), "guest-abi.schema.json": guestSchema() };
}

function clientSchema(): object {
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "The Lares protocol, version 1",
    description:
      "Params and results of the methods a client may call, params of the notifications it receives, and the numbers of the errors.",
    definitions: {
      ...shared(),
      ...requests(clientRequests),
      ...notifications(serverNotifications),
      ErrorCode: {
        description: "The error's number; `data.code` holds its word.",
        oneOf: Object.entries(wireCodes).map(([word, code]) => ({ const: code, title: word })),
      },
    },
  };
}

function guestSchema(): object {
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "The Lares guest ABI, version 1",
    description:
      "One JSON-RPC 2.0 message a line. Calls of the guest, requests and notifications, with params and results.",
    definitions: {
      ...shared(),
      ...requests(guestCalls),
      ...requests(
        Object.fromEntries(
          Object.entries(guestRequests).map(([method, shape]) => [`kernel:${method}`, shape]),
        ),
      ),
      ...notifications(guestNotifications),
    },
  };
}

function shared(): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(named).map(([name, schema]) => [name, refer(plain(schema), name)]),
  );
}

function requests(shapes: Readonly<Record<string, RequestShape>>): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(shapes).flatMap(([method, { params, result }]) => [
      [`${method}:params`, refer(plain(params))],
      [`${method}:result`, refer(plain(result))],
    ]),
  );
}

function notifications(shapes: Readonly<Record<string, TSchema>>): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(shapes).map(([method, params]) => [`${method}:params`, refer(plain(params))]),
  );
}

/** Without TypeBox's own marks. */
function plain(schema: TSchema): Json {
  return JSON.parse(JSON.stringify(schema));
}

const nameOf: ReadonlyMap<string, string> = new Map(
  Object.entries(named).map(([name, schema]) => [JSON.stringify(schema), name]),
);

/** Puts a reference wherever a named type stands; `except` is the one being defined. */
function refer(schema: Json, except?: string): Json {
  if (Array.isArray(schema)) return schema.map((item) => refer(item));
  if (typeof schema !== "object" || schema === null) return schema;
  const name = nameOf.get(JSON.stringify(schema));
  if (name !== undefined && name !== except) return { $ref: `#/definitions/${name}` };
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, refer(value)]));
}
