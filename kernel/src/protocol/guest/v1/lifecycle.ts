import { Type, type Static } from "typebox";
import { Permissions } from "../../../base/vocabulary/permissions.ts";
import { define } from "../../define.ts";

const Locations = Type.Array(Type.String(), {
  description: 'Folders of the workspace that the agent may see; "." is all of it',
});
const Names = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 1024, description });
const Models = Type.Array(
  Type.Object({
    name: Type.String({ description: "What `ai/infer` calls it" }),
    version: Type.Optional(Type.String({ description: "Free text; absent if none is declared" })),
    sha256: Type.String({ description: "The file's SHA-256; another one is another model" }),
  }),
  {
    description:
      "The models that the agent may run by `ai/infer`, whether or not they were fetched: those that its manifest or its entry in `lares.yaml` declares and a person accepted",
  },
);
const JobId = Type.String({ description: "The job's id" });
const Nothing = Type.Unknown({ description: "Anything; the kernel does not look at it" });

const Limits = Type.Object(
  {
    max_memory_mb: Type.Number({ description: "Linear memory, mebibytes" }),
    max_storage_mb: Type.Number({ description: "What its memory may have on the disk, mebibytes" }),
    max_vectors: Type.Number({ description: "Vectors in its memory" }),
    max_cpu_ms_per_event: Type.Number({ description: "CPU time for one request, milliseconds" }),
    max_wall_ms_per_event: Type.Number({
      description: "How long it may neither compute nor have a call or timer open, milliseconds",
    }),
    max_events_per_second: Type.Number({ description: "Events that it is sent in a second" }),
  },
  { description: "What the guest may use, after the workspace's caps" },
);

const status = { description: "How the call ended" };

/** The result of a tool's handler; the kernel expands the action's id for the caller. */
const GuestToolResult = Type.Union([
  Type.Object({
    status: Type.Literal("success", status),
    value: Type.Optional(Type.Unknown({ description: "What the tool returns, any JSON" })),
  }),
  Type.Object({
    status: Type.Literal("error", status),
    message: Type.String({ description: "What went wrong, for whoever called" }),
    recoverable: Type.Boolean({ description: "Another attempt, with other arguments or later, may succeed" }),
  }),
  Type.Object({
    status: Type.Literal("needs_approval", status),
    action: Type.Unknown({ description: "An action that this agent proposed, or its id" }),
    reason: Type.String({ description: "Why the tool needs it, for whoever called" }),
  }),
]);
type GuestToolResult = Static<typeof GuestToolResult>;

/** Kernel → guest. */
export const guestRequests = define({
  initialize: {
    about:
      "The first request. The guest answers which functions it has. The fields of the answer are checked against the manifest: a handler that is missing puts the agent into `Error`.",
    errors: {},
    params: Type.Object({
      abi: Type.Literal(1, { description: "The version of this ABI" }),
      extension: Type.Object(
        {
          id: Type.String({ description: "The extension's id" }),
          version: Type.String({ description: "The extension's version" }),
        },
        { description: "The extension that the guest is the program of" },
      ),
      config: Type.Unknown({
        description: "The extension's `config` of `lares.yaml`, unchanged; an empty object if there is none",
      }),
      permissions: Permissions,
      locations: Locations,
      models: Models,
      limits: Limits,
    }),
    result: Type.Object({
      handlers: Names("Functions that hooks may name"),
      tools: Names("Functions that tools may name"),
      jobs: Names("Functions that jobs may name"),
      actions: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
          maxItems: 1024,
          default: [],
          description: "Functions that named actions may name",
        }),
      ),
      migrations: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
          maxItems: 1024,
          default: [],
          description:
            "The types of `types` in the manifest whose values it can bring into their newest form, by the request `migrate`",
        }),
      ),
      tasks: Type.Optional(Names("Functions that tasks inside of jobs may name; default none")),
      cancels_tools: Type.Optional(
        Type.Boolean({ default: false, description: "The guest knows the request `cancelTool`" }),
      ),
      max_open_hooks: Type.Optional(
        Type.Integer({
          minimum: 1,
          default: 1,
          description:
            "How many hooks the guest takes before it has answered the first. It handles them one at a time and in order, so that a quick handler never waits for the next event to arrive",
        }),
      ),
    }),
  },
  migrate: {
    about:
      "Asks for values of a type of this extension in the form of the manifest's version of it. Sent between `initialize` and `startup`, if the manifest has a higher version than the values were written under. They keep their keys. If an answer does not fit the type, nothing is changed and the agent enters `Error`.",
    errors: {},
    params: Type.Object({
      type: Type.String({ description: "The type's name, one of `migrations`" }),
      from: Type.Integer({ description: "The version that the values were written under" }),
      values: Type.Array(Type.Unknown(), { description: "Some of the values" }),
    }),
    result: Type.Object({
      values: Type.Array(Type.Unknown(), { description: "The same values in the new form, in their order" }),
    }),
  },
  startup: {
    about:
      "Sent once, after `initialize` and `migrate`, and before anything else, so that the guest can prepare itself. An error puts the agent into `Error`.",
    errors: {},
    params: Type.Object({}),
    result: Nothing,
  },
  hook: {
    about:
      "An event for a hook of the manifest. The answer acknowledges it: an event whose guest was lost is delivered again. An error acknowledges it too, and counts as a failure of the agent. The fields of `event` depend on its name, see [Events](#events). With `call_id` it is a question instead: a hook with `intercept: true` is asked before the event takes effect, beside whatever else is open, and the answer counts, see [Interception](#interception).",
    errors: {},
    params: Type.Object({
      handler: Type.String({ description: "The function, one of `handlers`" }),
      event: Type.Object(
        {
          name: Type.String({ description: "The event's name" }),
          id: Type.String({ description: "The event's id (UUIDv7)" }),
          timestamp: Type.String({ description: "When it happened; UTC, ISO 8601 with milliseconds" }),
        },
        { description: "The event, with the fields of its name" },
      ),
      call_id: Type.Optional(
        Type.String({
          description:
            "Identifies the question of a hook with `intercept: true`; host calls made for it name it in `on_behalf`. After `cancelTool` with this id nobody waits for the answer any more",
        }),
      ),
    }),
    result: Type.Unknown({
      description:
        "Anything; for a question the answer to the event, an object, see [Interception](#interception)",
    }),
  },
  tool: {
    about:
      "A call of a tool. The arguments fit the tool's schema. It may arrive while a hook or job is open.",
    errors: {},
    params: Type.Object({
      name: Type.String({ description: "The function, one of `tools`" }),
      arguments: Type.Unknown({ description: "The arguments, an object" }),
      call_id: Type.String({ description: "Identifies the call" }),
      caller: Type.String({ description: '"user", "model", "kernel", or the id of the agent that calls' }),
    }),
    result: GuestToolResult,
  },
  action: {
    about:
      "A named action of the manifest: the guest answers which effects it has, and the kernel proposes them as `actions/propose` does, on behalf of whoever called. The parameters fit the action's schema. It may arrive while a hook or job is open, and is cancelled as a tool's call is. An error is the result of the call.",
    errors: {},
    params: Type.Object({
      name: Type.String({ description: "The function, one of `actions`" }),
      parameters: Type.Unknown({ description: "The parameters, an object" }),
      call_id: Type.String({ description: "Identifies the call" }),
      caller: Type.String({ description: '"user", "model", "kernel", or the id of the agent that calls' }),
    }),
    result: Type.Object({
      effects: Type.Array(Type.Unknown(), {
        description: "The effects, as `actions/propose` takes them; none where there is nothing to do",
      }),
      title: Type.Optional(
        Type.String({
          description: "The title of the proposal; default the manifest's, with the parameters put in",
        }),
      ),
      reason: Type.String({ description: "Why, for the person who decides" }),
    }),
  },
  job: {
    about:
      "A job that this agent dispatched. One job is open at a time, beside hooks and tools. The answer ends it; after an error it is tried again, three times in all.",
    errors: {},
    params: Type.Object({
      id: JobId,
      name: Type.String({ description: "The function, one of `jobs`" }),
      input: Type.Unknown({ description: "What `jobs/dispatch` was given" }),
      checkpoint: Type.Optional(
        Type.Unknown({ description: "What the last `jobs/checkpoint` of this job saved; absent at first" }),
      ),
    }),
    result: Nothing,
  },
  task: {
    about:
      "A task inside of the job in hand, which the job asked for with `jobs/task`. Several may be open at once. The answer is its result, any JSON of at most 256 KiB; an error is tried again. Host calls made for it name the job in `on_behalf`.",
    errors: {},
    params: Type.Object({
      name: Type.String({ description: "The function, one of `tasks`" }),
      input: Type.Unknown({ description: "What `jobs/task` was given" }),
      job: JobId,
    }),
    result: Type.Unknown({ description: "The result of the task, any JSON" }),
  },
  cancelJob: {
    about:
      "A person cancelled the job in hand. The guest answers at once and ends the job soon, with any answer. An error of its own changes nothing. After 2 seconds, or if the guest does not know this method, it is shut down.",
    errors: {},
    params: Type.Object({ id: JobId }),
    result: Nothing,
  },
  cancelTool: {
    about:
      "The caller of the tool cancelled the call, or its deadline has passed: nobody waits for the answer any more. It is sent for a question to a hook too, whose time is over. Only a guest that said `cancels_tools` is sent this. It answers at once and ends the call soon, with any answer; a call whose guest neither computes nor waits for the kernel is given up five seconds later. An error is traced. Host calls that it makes for this call and that only read, wait or call tools are refused with `RequestCancelled` or `DeadlineExceeded`.",
    errors: {},
    params: Type.Object({ call_id: Type.String({ description: "The call, as `tool` named it" }) }),
    result: Nothing,
  },
  permissionChange: {
    about:
      "What the agent may do, where, or with which models, has changed. It counts already when this is sent. An error is traced.",
    errors: {},
    params: Type.Object({ permissions: Permissions, locations: Locations, models: Models }),
    result: Nothing,
  },
  ping: {
    about:
      "Asks a guest that has been quiet for `max_wall_ms_per_event` whether it hangs. The guest answers at once, while handlers wait too. It is left alone where it has timers of its own open. An error is an answer too.",
    errors: {},
    params: Type.Object({}),
    result: Type.Object({
      pending_timers: Type.Optional(
        Type.Integer({ minimum: 0, default: 0, description: "How many timers of its own are open" }),
      ),
    }),
  },
  shutdown: {
    about:
      "The last request. A hook that has begun should be answered first, because an event without an answer is delivered again, and within a second. The guest answers and exits; 2 seconds after its answer, which may be an error, or 2 seconds after the request without one, it is ended.",
    errors: {},
    params: Type.Object({}),
    result: Nothing,
  },
});
