/**
 * The SDK's types are written for authors: in camelCase where a call's options are concerned, with typed arrays instead of
 * Base64, and with what each field means. So they are not generated. Here the compiler (`npm run types`) compares them in
 * both directions with what the wire carries: a message, event or field that is missing in a table is an error, and so is
 * one that the wire does not have.
 */
// oxlint-disable typescript/no-unnecessary-type-parameters -- two types are the same if two such functions are
// oxlint-disable typescript/no-generated-empty-object-type -- no difference is an empty object
import { expect, expectTypeOf, test } from "vitest";
import type { JsonValue } from "../../../../kernel/src/base/json.ts";
import type { ErrorCode as KernelErrorCode } from "../../../../kernel/src/base/errors.ts";
import type {
  ActionQuery as KernelActionQuery,
  Approval as KernelApproval,
} from "../../../../kernel/src/base/vocabulary/action-requests.ts";
import type { Action as KernelAction } from "../../../../kernel/src/base/vocabulary/action.ts";
import type { Agent as KernelAgent } from "../../../../kernel/src/base/vocabulary/agent.ts";
import type { interceptAnswers } from "../../../../kernel/src/base/vocabulary/interception.ts";
import type { Status as KernelStatusOnWire } from "../../../../kernel/src/base/vocabulary/status.ts";
import type {
  TraceEntry as KernelTraceEntry,
  TraceQuery as KernelTraceQuery,
} from "../../../../kernel/src/base/vocabulary/trace.ts";
import type { ToolResult } from "../../../../kernel/src/base/vocabulary/tool-result.ts";
import type { SearchHit as KernelSearchHit } from "../../../../kernel/src/memory-contract/queries.ts";
import { commonFields, eventTypes } from "../../../../kernel/src/events/types.ts";
import type {
  GuestCall,
  GuestCallParams,
  GuestCallResult,
  GuestMethodParams,
  GuestRequest,
} from "../../../../kernel/src/protocol/guest/v1/calls.ts";
import type { guestRequests } from "../../../../kernel/src/protocol/guest/v1/lifecycle.ts";
import type { ParamsIn } from "../../../../kernel/src/protocol/define.ts";
import type { Static } from "typebox";
import type { AgentDefinition } from "../agent.ts";
import type * as sdk from "../index.ts";
import type * as testing from "../testing/index.ts";
import type { ToolResult as TestedResult } from "../testing/kernel-types.ts";

/** Drops `readonly`, and writes an intersection as one object, so that only the possible values are compared. */
type Plain<Value> = JsonValue extends Value
  ? unknown
  : Value extends object
    ? { -readonly [Key in keyof Value]: Plain<Value[Key]> }
    : Value;
type Equal<Left, Right> =
  (<T>() => T extends Left ? 1 : 2) extends <T>() => T extends Right ? 1 : 2 ? true : false;

/** The entries that differ, with both sides for the compiler's message. */
type Differences<Left, Right> = {
  [
    Key in keyof Left | keyof Right as Equal<
      Key extends keyof Left ? Plain<Left[Key]> : never,
      Key extends keyof Right ? Plain<Right[Key]> : never
    > extends true
      ? never
      : Key
  ]: [
    Key extends keyof Left ? Plain<Left[Key]> : "missing",
    Key extends keyof Right ? Plain<Right[Key]> : "missing",
  ];
};

/** Fails to compile if the types differ; the compiler's message shows both. */
function same<Found extends Readonly<Record<keyof Found, never>>>(_difference?: Found): void {}

type Snake<Name> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : Name;
/** Options of a call as they are sent. */
type Wire<Options> = {
  [Key in keyof Omit<Options, "signal"> as Snake<Key>]: Omit<Options, "signal">[Key];
};
type Arg<Method extends (...args: never[]) => unknown, Index extends number> = NonNullable<
  Parameters<Method>[Index]
>;
type Answer<Method extends (...args: never[]) => unknown> = Awaited<ReturnType<Method>>;

type Ctx = sdk.AgentContext;
type History = sdk.HistoryQuery;
type Knowledge = sdk.KnowledgeQuery;
interface Shared {
  namespace?: Arg<Ctx["memory"]["in"], 0>;
}
/** `where` and `near` of a query. */
interface Condition {
  field: string;
  op: sdk.Operator | "near";
  value: unknown;
  km?: number;
}
interface Filter extends Shared {
  variant?: Arg<History["variant"], 0>;
  /** The SDK sends a `When` as a text. */
  since?: Extract<Arg<History["since"], 0>, string>;
  until?: Extract<Arg<History["until"], 0>, string>;
  text?: { field?: string; match: string };
  where?: Condition[];
}
/** A time that the SDK sends as a text, and numbers that it sends as an array. */
type Sent<Options> = {
  [Key in keyof Options]: Key extends "timestamp"
    ? string
    : Key extends "embedding"
      ? number[]
      : Options[Key];
};
/** The SDK converts a tensor's numbers; Base64 and blobs are its own. */
interface SentTensor extends Pick<sdk.Tensor, "name"> {
  type: sdk.TensorType;
  dims: sdk.Tensor["dims"];
  base64?: string;
  blob?: string;
}
type Spoken = {
  [Role in sdk.AiMessage["role"]]: Omit<sdk.AiMessage, "role"> & { role: Role };
}[sdk.AiMessage["role"]];
type Effects = readonly sdk.EffectInput[];
type Progress<Method extends (...args: never[]) => unknown> = {
  fraction: Arg<Method, 0>;
  message?: Arg<Method, 1>;
};
type ToolAnswer =
  | { status: "success"; value: unknown }
  | { status: "error"; message: string; recoverable: boolean }
  | { status: "needs_approval"; action: KernelAction; reason: sdk.NeedsApproval["reason"] };

/** What a call takes and answers, in the SDK's types. `unknown` as an answer: nothing of interest. */
interface Calls {
  "vdfs/query": [sdk.EntryQuery, sdk.EntryPage];
  "vdfs/count": [sdk.EntryQuery, { count: Answer<sdk.Vdfs["count"]> }];
  "vdfs/get": [
    { path: Extract<Arg<sdk.Vdfs["get"], 0>, string> } | Exclude<Arg<sdk.Vdfs["get"], 0>, string>,
    Answer<sdk.Vdfs["get"]>,
  ];
  "vdfs/read": [
    { path: Arg<sdk.Vdfs["read"], 0> } & Omit<Arg<sdk.Vdfs["read"], 1>, "signal">,
    { base64: string; eof: boolean },
  ];
  "vdfs/thumbnail": [
    { path: Arg<sdk.Vdfs["thumbnail"], 0> } & Wire<sdk.ThumbnailOptions>,
    Omit<sdk.Thumbnail, "bytes"> & { base64?: string; blob?: string },
  ];
  "vdfs/sidecar/read": [
    { path: Arg<sdk.Vdfs["sidecar"]["read"], 0>; sidecar: Arg<sdk.Vdfs["sidecar"]["read"], 1> },
    { data: unknown } | null,
  ];
  "vdfs/copies": [{ content_id: sdk.Hash }, Answer<sdk.Vdfs["copies"]>];
  "memory/working/read": [Shared, { revision: number; state: unknown }];
  "memory/working/swap": [Shared & { revision: number; state: unknown }, { revision: number }];
  "memory/temporal/append": [
    Shared & { variant: string; data: unknown } & Sent<Arg<sdk.History["append"], 2>>,
    { id: Answer<sdk.History["append"]> },
  ];
  "memory/temporal/query": [
    Filter & {
      order?: Arg<History["orderByTime"], 0>;
      limit?: Arg<History["limit"], 0>;
      offset?: Arg<History["offset"], 0>;
    },
    Answer<History["page"]>,
  ];
  "memory/temporal/count": [
    Filter & { group_by?: Arg<History["countBy"], 0> },
    { count: Answer<History["count"]>; groups?: Answer<History["countBy"]> },
  ];
  "memory/associative/add": [
    Shared & { variant: string; data: unknown } & Sent<sdk.KnowledgeAddOptions>,
    Answer<sdk.Knowledge["record"]>,
  ];
  "memory/associative/update": [
    Shared & { id: Arg<sdk.Knowledge["update"], 0> } & Sent<Arg<sdk.Knowledge["update"], 1>>,
    unknown,
  ];
  "memory/associative/remove": [Shared & { id: Arg<sdk.Knowledge["remove"], 0> }, unknown];
  "memory/associative/relate": [
    Shared & {
      from: Arg<sdk.Knowledge["relate"], 0>;
      to: Arg<sdk.Knowledge["relate"], 1>;
      relation: Arg<sdk.Knowledge["relate"], 2>;
    },
    unknown,
  ];
  "memory/associative/query": [
    Shared & {
      similar_to?: Arg<Knowledge["similarTo"], 0>;
      embedding?: number[];
      variant?: Arg<Knowledge["variant"], 0>;
      where?: Condition[];
      related_to?: {
        id: Arg<Knowledge["relatedTo"], 0>;
        depth?: Arg<Knowledge["relatedTo"], 1>;
        relation?: Arg<Knowledge["relatedTo"], 2>;
      };
      min_similarity?: Arg<Knowledge["minSimilarity"], 0>;
      top_k?: Arg<Knowledge["topK"], 0>;
    },
    { items: Answer<Knowledge["collect"]> },
  ];
  "memory/search": [
    Shared & { text: string } & Omit<Arg<Ctx["memory"]["search"], 1>, "signal">,
    // Hits have the fields of their event or item too: see "a hit of a search".
    { items: { id: string; kind: string; score: number }[]; mode: string },
  ];
  "memory/sync": [Shared, unknown];
  "memory/cleanup": [
    Shared & Wire<Arg<Ctx["memory"]["cleanup"], 0>>,
    // Only people are shown what went.
    { events: number; workingStates: number },
  ];
  "actions/preview": [{ effects: Effects } & sdk.Reasons, sdk.Action];
  "actions/propose": [{ effects: Effects } & sdk.Reasons & sdk.ProposalOptions, sdk.Action];
  "actions/get": [{ id: Arg<sdk.Actions["get"], 0> }, sdk.Action];
  "actions/settled": [{ id: Arg<sdk.Actions["settled"], 0> }, sdk.Action];
  "actions/withdraw": [{ id: Arg<sdk.Actions["withdraw"], 0> }, sdk.Action];
  "jobs/dispatch": [
    { name: string; input: unknown } & Wire<Arg<Ctx["jobs"]["dispatch"], 2>>,
    { id: Answer<Ctx["jobs"]["dispatch"]> },
  ];
  "jobs/task": [{ name: string; input: unknown } & sdk.TaskOptions, { result: unknown }];
  "jobs/progress": [Progress<sdk.JobContext["progress"]>, unknown];
  "jobs/checkpoint": [{ data: Parameters<sdk.JobContext["save"]>[0] }, unknown];
  "agents/list": [object, { agents: Answer<Ctx["agents"]["list"]> }];
  "tools/call": [{ agent: string; name: string; arguments: unknown } & Wire<sdk.ToolCallOptions>, ToolAnswer];
  "tools/progress": [{ call_id: sdk.ToolContext["callId"] } & Progress<sdk.ToolContext["progress"]>, unknown];
  "events/emit": [{ name: Arg<Ctx["events"]["emit"], 0>; data: unknown }, unknown];
  "shared/read": [{ key: Arg<Ctx["shared"]["read"], 0> }, Answer<Ctx["shared"]["read"]>];
  "shared/write": [
    { key: Arg<Ctx["shared"]["write"], 0>; value: unknown } & Arg<Ctx["shared"]["write"], 2>,
    { version: number },
  ];
  "types/create": [{ type: string; value: unknown }, Answer<sdk.SharedValues["create"]>];
  "types/get": [{ type: string; key: string }, Answer<sdk.SharedValues["get"]>];
  "types/query": [
    { type: string; where?: Condition[] } & Omit<sdk.SharedValueQuery, "signal" | "where">,
    Answer<sdk.SharedValues["query"]>,
  ];
  "types/update": [
    { type: string; key: string; version: number; value: unknown },
    Answer<sdk.SharedValues["update"]>,
  ];
  "types/remove": [{ type: string; key: string; version: number }, unknown];
  notify: [
    { title: Arg<Ctx["notify"], 0>; message: Arg<Ctx["notify"], 1> } & Required<
      Pick<Arg<Ctx["notify"], 2>, "severity">
    > &
      Pick<Arg<Ctx["notify"], 2>, "action">,
    unknown,
  ];
  "ai/generate": [
    Omit<Wire<sdk.AiRequest>, "messages"> & {
      messages?: Spoken[];
      schema?: Arg<sdk.Ai["object"], 0>["schema"];
    },
    Omit<sdk.AiAnswer, "usage"> & { usage: Wire<sdk.AiUsage>; object?: unknown },
  ];
  "ai/embed": [{ texts: Arg<sdk.Ai["embed"], 0> }, sdk.Embeddings];
  "ai/models": [
    { category?: Arg<sdk.Ai["hasModel"], 0> },
    // The SDK says only whether there is one.
    { items: { category: string; name: string; version: string; local: boolean; ready: boolean }[] },
  ];
  "ai/infer": [{ model: sdk.InferRequest["model"]; inputs: SentTensor[] }, { outputs: SentTensor[] }];
  "http/fetch": [
    { url: string; body?: Extract<sdk.FetchInit["body"], string>; body_blob?: string } & Omit<
      Wire<sdk.FetchInit>,
      "body"
    >,
    Pick<sdk.FetchAnswer, "status" | "headers" | "size" | "truncated"> & {
      body: string | null;
      blob?: string;
    },
  ];
  "credentials/get": [{ name: Arg<sdk.Credentials["get"], 0> }, { token: Answer<sdk.Credentials["get"]> }];
}
/** The SDK's own way to send what does not fit a line: no author sees them. */
type Inner = "blobs/write" | "blobs/read";

/** The requests to a guest, typed by the handlers that answer them. */
interface Requests {
  initialize: {
    abi: 1;
    extension: Ctx["extension"];
    config: unknown;
    permissions: sdk.Permissions;
    locations: readonly string[];
    models: Ctx["ai"]["models"];
    /** The kernel enforces them; a program is not told. */
    limits: ParamsIn<typeof guestRequests, "initialize">["limits"];
  };
  migrate: { type: string; from: Arg<Migration, 1>; values: Arg<Migration, 0>[] };
  startup: object;
  hook: { handler: string; event: sdk.EventBase; call_id?: string };
  tool: { name: string; arguments: unknown } & CallOf<sdk.ToolContext>;
  action: { name: string; parameters: unknown } & CallOf<sdk.ActionContext>;
  job: { id: sdk.JobContext["jobId"]; name: string; input: unknown; checkpoint?: unknown };
  task: { name: string; input: unknown; job: sdk.TaskContext["jobId"] };
  cancelJob: { id: sdk.JobContext["jobId"] };
  cancelTool: { call_id: sdk.ToolContext["callId"] };
  permissionChange: Pick<Requests["initialize"], "permissions" | "locations" | "models">;
  ping: object;
  shutdown: object;
}
type Migration = NonNullable<NonNullable<AgentDefinition["types"]>[string]["migrate"]>;
interface CallOf<Context extends { callId: string; caller: string }> {
  call_id: Context["callId"];
  caller: Context["caller"];
}

test("what calls take and answer is the same in the SDK and on the wire (checked by the compiler)", () => {
  type Taken = Differences<
    { [Call in keyof Calls]: Calls[Call][0] },
    { [Call in Exclude<GuestCall, Inner>]: GuestCallParams<Call> }
  >;
  type Answered = Differences<
    { [Call in keyof Calls]: Calls[Call][1] },
    { [Call in Exclude<GuestCall, Inner>]: GuestCallResult<Call> }
  >;
  same<Taken>();
  same<Answered>();
  expectTypeOf<keyof sdk.Trace>().toEqualTypeOf<GuestMethodParams<"trace">["level"]>();
});

test("what a guest is asked is what its handlers get (checked by the compiler)", () => {
  type Asked = Differences<Requests, { [Request in GuestRequest]: ParamsIn<typeof guestRequests, Request> }>;
  same<Asked>();
  expectTypeOf<Plain<sdk.ActionPlan>>().toEqualTypeOf<
    Plain<Omit<Static<(typeof guestRequests)["action"]["result"]>, "effects"> & { effects: Effects }>
  >();
});

test("a hit of a search and an error's code are the kernel's (checked by the compiler)", () => {
  type Of<Hit, Kind> = Plain<Extract<Hit, { kind: Kind }>>;
  expectTypeOf<Of<sdk.SearchHit, "temporal">>().toEqualTypeOf<Of<KernelSearchHit, "temporal">>();
  expectTypeOf<Of<sdk.SearchHit, "associative">>().toEqualTypeOf<Of<KernelSearchHit, "associative">>();
  expectTypeOf<sdk.ErrorCode>().toEqualTypeOf<KernelErrorCode>();
});

type ToldOf<Result> = Result extends { status: "error" } ? Omit<Result, "question"> : Result;

/** What an author's tests see of a running kernel. */
test("the types of runInKernel are the protocol's (checked by the compiler)", () => {
  type Tested = Differences<
    {
      agent: testing.AgentStatus;
      status: testing.KernelStatus;
      trace: testing.TraceEntry;
      traces: testing.TraceQuery;
      actions: testing.ActionQuery;
      approval: testing.Approval;
      result: Exclude<TestedResult, { status: "needs_approval" }>;
    },
    {
      agent: KernelAgent;
      // About the session, not the extension.
      status: Omit<KernelStatusOnWire, "clients" | "lasting" | "rehearsal">;
      trace: Omit<KernelTraceEntry, "on_behalf_of">;
      traces: KernelTraceQuery;
      actions: KernelActionQuery;
      // `approve` adds the digest; what a person chooses on a card is not for a test.
      approval: Omit<KernelApproval, "digest" | "rules" | "edits">;
      // Only a channel's call leads to a question.
      result: ToldOf<Exclude<ToolResult, { status: "needs_approval" }>>;
    }
  >;
  same<Tested>();
});

interface Answers {
  UserInput: sdk.InterceptAnswer<"UserInput">;
  Context: sdk.InterceptAnswer<"Context">;
  BeforeToolCall: sdk.InterceptAnswer<"BeforeToolCall">;
  AfterToolCall: sdk.InterceptAnswer<"AfterToolCall">;
  BeforeAction: sdk.InterceptAnswer<"BeforeAction">;
  BeforeCompact: Wire<sdk.InterceptAnswer<"BeforeCompact">>;
}

test("what an interceptor may answer is what the kernel takes (checked by the compiler)", () => {
  type Taken = { [Event in keyof typeof interceptAnswers]: Static<(typeof interceptAnswers)[Event]> };
  same<Differences<Answers, Taken>>();
});

/** The events that have a type of their own. The others have `MindEvent`'s fields, or what `HookEvent` calls unknown. */
interface Events {
  EntryCreated: sdk.EntryCreated;
  EntryModified: sdk.EntryModified;
  EntryMoved: sdk.EntryMoved;
  EntryDeleted: sdk.EntryDeleted;
  IndexComplete: sdk.IndexComplete;
  TagAdded: sdk.TagAdded;
  TagRemoved: sdk.TagRemoved;
  ActionEnded: sdk.ActionEnded;
  PermissionChanged: sdk.PermissionChanged;
  ScheduleFired: sdk.ScheduleFired;
  UserInput: sdk.UserInput;
  Context: sdk.Context;
  BeforeToolCall: sdk.BeforeToolCall;
  AfterToolCall: sdk.AfterToolCall;
  BeforeAction: sdk.BeforeAction;
  BeforeCompact: sdk.BeforeCompact;
  MessageEnd: sdk.MessageEnd;
}
type Known<Value> = Value extends string
  ? "string"
  : Value extends number
    ? "int"
    : Value extends boolean
      ? "bool"
      : Value extends sdk.Entry
        ? "Entry"
        : Value extends readonly string[]
          ? "list<string>"
          : "dyn" | "map<string, dyn>";
/** The fields of each event by the compiler, with their types in filters. */
type Fields<Event> = {
  [Key in Exclude<keyof Event, keyof sdk.EventBase>]-?: Known<Exclude<Event[Key], undefined>>;
};

const ofMind = { agent: "string", conversation: "string", process: "string" } as const;
const call = {
  ...ofMind,
  tool: "string",
  call: "string",
  arguments: "map<string, dyn>",
  withheld: "bool",
} as const;
const fields: { readonly [Name in keyof Events]: Fields<Events[Name]> } = {
  EntryCreated: { entry: "Entry", location: "string" },
  EntryModified: { entry: "Entry", changed_fields: "list<string>" },
  EntryMoved: { entry: "Entry", from: "string" },
  EntryDeleted: { entry_id: "string", path: "string" },
  IndexComplete: { location: "string", entries_processed: "int", duration_ms: "int" },
  TagAdded: { entry: "Entry", tag: "string" },
  TagRemoved: { entry: "Entry", tag: "string" },
  ActionEnded: {
    action: "string",
    title: "string",
    state: "string",
    paths: "list<string>",
    reason: "string",
    superseded_by: "string",
  },
  PermissionChanged: { permissions: "map<string, dyn>", locations: "list<string>" },
  ScheduleFired: { schedule: "string", scheduled_for: "string" },
  UserInput: { ...ofMind, text: "string", withheld: "bool" },
  Context: { ...ofMind, messages: "dyn", withheld: "bool" },
  BeforeToolCall: call,
  AfterToolCall: { ...call, result: "dyn" },
  BeforeAction: { ...ofMind, action: "map<string, dyn>", withheld: "bool" },
  BeforeCompact: { ...ofMind, covers: "dyn" },
  MessageEnd: { ...ofMind, message: "string", role: "string", text: "string", withheld: "bool" },
};
/** Events that a hook's handler gets as `MindEvent`, with these fields in addition. */
const untyped: Readonly<Record<string, readonly string[]>> = {
  SessionStart: [],
  SessionEnd: [],
  SessionShutdown: [],
  BeforeAgentStart: [],
  AgentStart: [],
  AgentEnd: [],
  TurnStart: [],
  TurnEnd: [],
  ModelSelect: ["model"],
  MessageStart: ["message"],
  MessageUpdate: ["message"],
  Compact: [],
};

test("every event of the kernel is listed, with its fields", () => {
  const declared = Object.fromEntries(
    eventTypes.map(({ name, fields: each }) => [
      name,
      Object.fromEntries(Object.entries(each).map(([field, { type }]) => [field, type])),
    ]),
  );
  const others = Object.fromEntries(
    Object.entries(untyped).map(([name, own]) => [
      name,
      { ...ofMind, ...Object.fromEntries(own.map((field) => [field, "string"])) },
    ]),
  );
  expect({ ...fields, ...others }).toEqual(declared);
  const common: Record<keyof sdk.EventBase, "string"> = { id: "string", name: "string", timestamp: "string" };
  expect(Object.keys(common).toSorted()).toEqual(Object.keys(commonFields).toSorted());
});
