import { Type, type TSchema } from "typebox";
import {
  Conversation,
  Entry as ConversationEntry,
  Part,
  Process,
} from "../../base/vocabulary/conversation.ts";
import { Action, ActionState, AgentAction, Effect, EffectInput } from "../../base/vocabulary/action.ts";
import { ApprovalRule, Decision, RememberedRule, Scope } from "../../base/vocabulary/approval-rule.ts";
import {
  Agent,
  AgentCommand,
  AgentFailure,
  AgentHook,
  AgentMetrics,
  AgentState,
  Tool,
} from "../../base/vocabulary/agent.ts";
import { AgentNotification } from "../../base/vocabulary/notification.ts";
import { Ask } from "../../base/vocabulary/ask.ts";
import { ChainCheck } from "../../base/vocabulary/chain-check.ts";
import { Block, RemainingCopy, RemovedCopies } from "../../base/vocabulary/conversation-requests.ts";
import { Job } from "../../base/vocabulary/job.ts";
import { Actor } from "../../base/vocabulary/principal.ts";
import { Hash, Place } from "../../base/vocabulary/common.ts";
import { Entry } from "../../base/vocabulary/entry.ts";
import { Permissions } from "../../base/vocabulary/permissions.ts";
import { TraceEntry, TraceLevel } from "../../base/vocabulary/trace.ts";
import type { ParamsShape, RequestShape } from "../define.ts";
import { errorMeanings } from "../error-meanings.ts";
import { wireCodes } from "../errors.ts";
import { guestCalls, OnBehalf } from "../guest/v1/calls.ts";
import { guestRequests } from "../guest/v1/lifecycle.ts";
import { guestNotifications } from "../guest/v1/notifications.ts";
import { Where } from "../../base/vocabulary/memory-calls.ts";
import { MemoryStats, SharedMemory } from "../../base/vocabulary/memory-reports.ts";
import { GeneratedPart, kernelRequests } from "../v1/kernel-requests.ts";
import { serverNotifications } from "../v1/notifications.ts";
import { clientRequests } from "../v1/requests.ts";
import { SessionOptions } from "../v1/session.ts";
import { Status } from "../../base/vocabulary/status.ts";
import { ModelListing, ProviderListing } from "../../base/vocabulary/model-listing.ts";
import { SecretItem } from "../../base/vocabulary/secret.ts";
import { AgentToolResult, ToolResult } from "../../base/vocabulary/tool-result.ts";
import { UsageGroup } from "../../base/vocabulary/usage.ts";
import { TrustCard, TrustFact, TrustFolder, TrustGrants, TrustPart } from "../../base/vocabulary/trust.ts";

/** Types of both protocols that have names; other schemas refer to them by name. */
const sharedTypes: Record<string, TSchema> = {
  Action,
  ActionState,
  Effect,
  EffectInput,
  Entry,
  Hash,
  Permissions,
  ToolResult,
  TraceLevel,
  Where,
};
const guestTypes: Record<string, TSchema> = {
  ...sharedTypes,
  Action: AgentAction,
  ToolResult: AgentToolResult,
};
const clientTypes: Record<string, TSchema> = {
  Actor,
  Agent,
  AgentCommand,
  AgentFailure,
  AgentHook,
  AgentMetrics,
  AgentNotification,
  AgentState,
  ApprovalRule,
  Ask,
  Block,
  ChainCheck,
  Conversation,
  ConversationEntry,
  ConversationPart: Part,
  ConversationProcess: Process,
  Decision,
  GeneratedPart,
  Job,
  MemoryStats,
  ModelListing,
  Place,
  ProviderListing,
  RemainingCopy,
  RememberedRule,
  RemovedCopies,
  Scope,
  SecretItem,
  SessionOptions,
  SharedMemory,
  Status,
  Tool,
  TraceEntry,
  TrustCard,
  TrustFact,
  TrustFolder,
  TrustGrants,
  TrustPart,
  UsageGroup,
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
      "Params and results of the methods a client may call and of those it may be asked, params of the notifications it receives, and the numbers of the errors.",
    definitions: {
      ...types({ ...sharedTypes, ...clientTypes }),
      ...requests(clientRequests),
      ...requests(fromKernel(kernelRequests)),
      ...notifications(serverNotifications),
      ErrorCode: {
        description: "The error's number; `data.code` holds its word.",
        oneOf: Object.entries(wireCodes).map(([word, code]) => ({
          const: code,
          title: word,
          description: errorMeanings[word as keyof typeof wireCodes],
        })),
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
      ...types({ ...guestTypes, OnBehalf }),
      ...requests(guestCalls, onBehalf),
      ...requests(fromKernel(guestRequests)),
      ...notifications({ trace: guestNotifications.trace }, onBehalf),
      ...notifications({ cancel: guestNotifications.cancel }),
    },
  };
}

function types(named: Record<string, TSchema>): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(named).map(([name, schema]) => [name, refer(plain(schema), name)]),
  );
}

/** What the kernel asks stands apart from what it is asked. */
function fromKernel<Shape>(shapes: Readonly<Record<string, Shape>>): Readonly<Record<string, Shape>> {
  return Object.fromEntries(Object.entries(shapes).map(([method, shape]) => [`kernel:${method}`, shape]));
}

type Publish = (params: TSchema) => TSchema;
const asItIs: Publish = (params) => params;

/** Adds the field that every call may have to a guest's call, whose params are closed. */
const onBehalf: Publish = (params) => {
  if (Type.IsUnion(params)) return Type.Union(params.anyOf.map(onBehalf));
  if (!Type.IsObject(params)) throw new TypeError("A call's params are an object.");
  const { properties, required: _, type: __, ...options } = params;
  return Type.Object({ ...properties, on_behalf: Type.Optional(OnBehalf) }, options);
};

function requests(shapes: Readonly<Record<string, RequestShape>>, publish = asItIs): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(shapes).flatMap(([method, { about, params, result }]) => [
      [`${method}:params`, described(about, refer(plain(publish(params))))],
      [`${method}:result`, refer(plain(result))],
    ]),
  );
}

function notifications(
  shapes: Readonly<Record<string, ParamsShape>>,
  publish = asItIs,
): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(shapes).map(([method, { about, params }]) => [
      `${method}:params`,
      described(about, refer(plain(publish(params)))),
    ]),
  );
}

/** Adds the method's description. Draft-07 readers ignore everything beside a `$ref`. */
function described(description: string, schema: Json): Json {
  const fields = schema as Record<string, Json>;
  return "$ref" in fields ? { description, allOf: [fields] } : { ...fields, description };
}

/** Without TypeBox's own symbols. */
function plain(schema: TSchema): Json {
  return JSON.parse(JSON.stringify(schema));
}

const nameOf: ReadonlyMap<string, string> = new Map(
  [sharedTypes, clientTypes, guestTypes]
    .flatMap((each) => Object.entries(each))
    .map(([name, schema]) => [JSON.stringify(schema), name]),
);

/** Replaces named types by references, except `except`, the one being defined. */
function refer(schema: Json, except?: string): Json {
  if (Array.isArray(schema)) return schema.map((item) => refer(item));
  if (typeof schema !== "object" || schema === null) return schema;
  const name = nameOf.get(JSON.stringify(schema));
  if (name !== undefined && name !== except) return { $ref: `#/definitions/${name}` };
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, refer(value)]));
}
