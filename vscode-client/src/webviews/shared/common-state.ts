import * as v from "valibot";

/** The data that every view gets: the state of the kernel, and the agents. */

/** The number of agents that a view offers to choose from. */
export const maxAgents = 1_000;

export const Text = (maxCharacters: number) => v.pipe(v.string(), v.maxLength(maxCharacters));
export const Count = v.pipe(v.number(), v.integer(), v.minValue(0));
/** The id of an agent, an action or an item. */
export const Id = v.pipe(v.string(), v.minLength(1), v.maxLength(256));

export const KernelSummary = v.variant("kind", [
  v.object({ kind: v.literal("starting") }),
  v.object({ kind: v.literal("running") }),
  v.object({ kind: v.literal("untrusted"), by: v.picklist(["editor", "documents"]) }),
  v.object({ kind: v.literal("silent"), reason: Text(2_000) }),
  v.object({ kind: v.literal("restarting"), reason: Text(2_000) }),
  v.object({ kind: v.literal("failed"), reason: Text(2_000) }),
]);
export type KernelSummary = v.InferOutput<typeof KernelSummary>;

const AgentState = v.picklist(["Unloaded", "Initializing", "Active", "Suspended", "Error", "ShuttingDown"]);
type AgentState = v.InferOutput<typeof AgentState>;

const AgentName = v.object({ id: Text(256), name: Text(256), state: AgentState });
type AgentName = v.InferOutput<typeof AgentName>;

export const CommonState = v.object({
  kernel: KernelSummary,
  agents: v.pipe(v.array(AgentName), v.maxLength(maxAgents)),
});
export type CommonState = v.InferOutput<typeof CommonState>;

/** What the notices of a view offer to do; the extension maps it to the editor's commands. */
export const NoticeCommand = v.picklist(["manageTrust", "reviewAsks", "restartKernel", "showKernelLog"]);
export type NoticeCommand = v.InferOutput<typeof NoticeCommand>;

export const Nothing = v.object({});

/** Part of every view's contract. */
export const commonRequests = {
  commonState: { params: Nothing, result: CommonState },
  command: { params: v.object({ command: NoticeCommand }), result: Nothing },
  /** Opens a file of the workspace; a path that leaves it is refused. */
  openPath: { params: v.object({ path: Text(4_096) }), result: Nothing },
};
export const commonPushes = { commonState: CommonState };

/**
 * For views that can be asked to show one agent. The push tells the view to request the agent, which is returned only
 * once.
 */
export const focusRequests = {
  focus: { params: Nothing, result: v.object({ agent: v.optional(Text(256)) }) },
};
export const focusPushes = { focus: Nothing };
