import { isLaresError as isKernelError } from "../../../../kernel/src/base/errors.ts";
import { actionCalls } from "../../../../kernel/src/protocol/guest/v1/actions.ts";
import { checkParams } from "../../../../kernel/src/protocol/validate.ts";
import type { AgentDefinition } from "../agent.ts";
import { LaresError } from "../errors.ts";
import type { Action } from "../types/action.ts";
import type { MockContext } from "./mock-context.ts";

/**
 * Runs a named action's handler as the kernel does: checks what it returns, and proposes its effects, which the kernel's own
 * policy decides. Returns the action, or null if the handler returned no effects; the title defaults to the handler's name. Rejects
 * with the error that a call of the action would have.
 *
 *     const ctx = mockContext({ permissions: { propose_actions: ["folder.create"] } });
 *     const action = await runAction(agent, "createAlbum", { name: "Summer" }, ctx);
 *     expect(action?.effects).toMatchObject([{ kind: "folder.create", path: "albums/Summer" }]);
 */
export async function runAction<Memory>(
  agent: AgentDefinition<Memory>,
  handler: string,
  parameters: Readonly<Record<string, unknown>>,
  ctx: MockContext<Memory>,
): Promise<Action | null> {
  const run = agent.actions?.[handler];
  if (run === undefined) throw new LaresError("NotFound", `The agent has no action "${handler}".`);
  // A mock context reports the progress of a job, which needs a permission.
  const context = { ...ctx, progress: async () => undefined };
  const plan = await run.call(agent.actions, structuredClone(parameters), context);
  const { effects, title = handler, reason } = plan;
  if (Array.isArray(effects) && effects.length === 0 && typeof reason === "string") return null;
  try {
    checkParams("actions/propose", actionCalls["actions/propose"].params, { effects, title, reason });
  } catch (error) {
    // The kernel's own class; a test receives the SDK's.
    if (!isKernelError(error)) throw error;
    throw new LaresError(error.code, error.message, error.facts);
  }
  return await ctx.actions.propose(effects, { title, reason });
}
