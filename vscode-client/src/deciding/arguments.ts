import { maxEffectsPerAction } from "../../../kernel/src/base/vocabulary/bounds.ts";

/** The action that a command is about, as shown in a code lens, a button or a tree menu. */
export interface ActionArgument {
  readonly id: string;
  /** The digest of the shown action; without it, the approval is bound to the latest one in the model. */
  readonly digest?: string;
  /** Indices; only these are approved. */
  readonly effects?: readonly number[];
}

/** Reads a command's argument: an id, `{ id, digest?, effects? }`, or an item of a tree that carries its action. */
export function actionArgument(given: unknown): ActionArgument | undefined {
  if (typeof given === "string") return { id: given };
  if (typeof given !== "object" || given === null) return undefined;
  if ("action" in given) return actionArgument(given.action);
  const { id, digest, effects } = given as { id?: unknown; digest?: unknown; effects?: unknown };
  if (typeof id !== "string") return undefined;
  const isList =
    Array.isArray(effects) && effects.length <= maxEffectsPerAction && effects.every(Number.isInteger);
  return {
    id,
    ...(typeof digest === "string" ? { digest } : {}),
    ...(isList ? { effects: effects as number[] } : {}),
  };
}

/** Reads a command's argument: an agent's id, `{ id }`, or an item of a tree that carries its agent. */
export function agentArgument(given: unknown): string | undefined {
  if (typeof given === "string") return given;
  if (typeof given !== "object" || given === null) return undefined;
  if ("agent" in given) return agentArgument(given.agent);
  return "id" in given && typeof given.id === "string" ? given.id : undefined;
}

/** Which job a command is about. */
export interface JobArgument {
  readonly id: string;
  readonly agent: string;
}

/** Reads a command's argument: `{ id, agent }`, or an item of a tree that carries its job. */
export function jobArgument(given: unknown): JobArgument | undefined {
  if (typeof given !== "object" || given === null) return undefined;
  if ("job" in given) return jobArgument(given.job);
  const { id, agent } = given as { id?: unknown; agent?: unknown };
  return typeof id === "string" && typeof agent === "string" ? { id, agent } : undefined;
}
