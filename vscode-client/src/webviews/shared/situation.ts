import * as v from "valibot";

/** What every view knows: how the kernel is, and which agents there are. */

/** Agents that a view offers to choose from. */
export const maxAgents = 1_000;

export const Text = (maxCharacters: number) => v.pipe(v.string(), v.maxLength(maxCharacters));
export const Count = v.pipe(v.number(), v.integer(), v.minValue(0));
/** An agent's, an action's or an item's id. */
export const Id = v.pipe(v.string(), v.minLength(1), v.maxLength(256));

export const KernelSituation = v.variant("kind", [
  v.object({ kind: v.literal("starting") }),
  v.object({ kind: v.literal("running") }),
  v.object({ kind: v.literal("untrusted"), by: v.picklist(["editor", "documents"]) }),
  v.object({ kind: v.literal("silent"), reason: Text(2_000) }),
  v.object({ kind: v.literal("restarting"), reason: Text(2_000) }),
  v.object({ kind: v.literal("failed"), reason: Text(2_000) }),
]);
export type KernelSituation = v.InferOutput<typeof KernelSituation>;

export const AgentState = v.picklist([
  "Unloaded",
  "Initializing",
  "Active",
  "Suspended",
  "Error",
  "ShuttingDown",
]);
export type AgentState = v.InferOutput<typeof AgentState>;

export const AgentName = v.object({ id: Text(256), name: Text(256), state: AgentState });
export type AgentName = v.InferOutput<typeof AgentName>;

export const Situation = v.object({
  kernel: KernelSituation,
  agents: v.pipe(v.array(AgentName), v.maxLength(maxAgents)),
});
export type Situation = v.InferOutput<typeof Situation>;

/** What the notices of a view offer to do; the extension knows the editor's commands behind them. */
export const NoticeCommand = v.picklist(["manageTrust", "reviewAsks", "restartKernel", "showKernelLog"]);
export type NoticeCommand = v.InferOutput<typeof NoticeCommand>;

export const Nothing = v.object({});

/** Part of every view's contract. */
export const commonRequests = {
  situation: { params: Nothing, result: Situation },
  command: { params: v.object({ command: NoticeCommand }), result: Nothing },
  /** Opens a file of the workspace; a path that leaves it is refused. */
  openPath: { params: v.object({ path: Text(4_096) }), result: Nothing },
};
export const commonPushes = { situation: Situation };

/** For views that can be asked to show one agent: which that is. The push says to ask; each answer is given once. */
export const focusRequests = {
  focus: { params: Nothing, result: v.object({ agent: v.optional(Text(256)) }) },
};
export const focusPushes = { focus: Nothing };
