import { Type, type Static } from "typebox";
import { Permissions } from "../../../base/vocabulary/permissions.ts";
import { define } from "../../define.ts";

const Locations = Type.Array(Type.String());
const Names = Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 1024 });

export const Limits = Type.Object({
  max_memory_mb: Type.Number(),
  max_storage_mb: Type.Number(),
  max_vectors: Type.Number(),
  max_cpu_ms_per_event: Type.Number(),
  max_wall_ms_per_event: Type.Number(),
  max_events_per_second: Type.Number(),
});

/** What a tool's handler gives back; the kernel expands the action's id for whoever called. */
export const GuestToolResult = Type.Union([
  Type.Object({ status: Type.Literal("success"), value: Type.Optional(Type.Unknown()) }),
  Type.Object({ status: Type.Literal("error"), message: Type.String(), recoverable: Type.Boolean() }),
  Type.Object({
    status: Type.Literal("needs_approval"),
    action: Type.Unknown({ description: "The action, or its id" }),
    reason: Type.String(),
  }),
]);
export type GuestToolResult = Static<typeof GuestToolResult>;

/** Kernel → guest. */
export const guestRequests = define({
  initialize: {
    params: Type.Object({
      abi: Type.Literal(1),
      extension: Type.Object({ id: Type.String(), version: Type.String() }),
      config: Type.Unknown(),
      permissions: Permissions,
      locations: Locations,
      limits: Limits,
    }),
    result: Type.Object({
      handlers: Names,
      tools: Names,
      jobs: Names,
      max_open_hooks: Type.Optional(
        Type.Integer({
          minimum: 1,
          description:
            "How many hooks it takes before it answered the first; it handles them one at a time and in order. 1 where it does not say",
        }),
      ),
    }),
  },
  startup: { params: Type.Object({}), result: Type.Unknown() },
  hook: {
    params: Type.Object({
      handler: Type.String(),
      event: Type.Object({ name: Type.String(), id: Type.String(), timestamp: Type.String() }),
    }),
    result: Type.Unknown(),
  },
  tool: {
    params: Type.Object({
      name: Type.String(),
      arguments: Type.Unknown(),
      call_id: Type.String(),
      caller: Type.String({ description: '"user", "model", or the calling extension\'s id' }),
    }),
    result: GuestToolResult,
  },
  job: {
    params: Type.Object({
      id: Type.String(),
      name: Type.String(),
      input: Type.Unknown(),
      checkpoint: Type.Optional(Type.Unknown()),
    }),
    result: Type.Unknown(),
  },
  /**
   * A person cancelled the job that it runs: the job's signal is aborted. Answered at once; the job's own answer, of
   * whatever kind, follows soon, or the guest is ended.
   */
  cancelJob: { params: Type.Object({ id: Type.String() }), result: Type.Unknown() },
  permissionChange: {
    params: Type.Object({ permissions: Permissions, locations: Locations }),
    result: Type.Unknown(),
  },
  /** Answered at once, also while handlers wait. */
  ping: { params: Type.Object({}), result: Type.Unknown() },
  shutdown: { params: Type.Object({}), result: Type.Unknown() },
});
