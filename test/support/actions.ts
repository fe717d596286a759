import { lstat, readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import { call, host, type Outcome } from "./agents.ts";
import type { Client } from "./client.ts";
import type { Action } from "./types.ts";

export type EffectInput = { kind: string; [field: string]: unknown };

const about = { title: "A title", reason: "A reason" };

/** Proposes as the agent; a refusal throws. */
export function propose(client: Client, agent: string, ...effects: EffectInput[]): Promise<Action> {
  return call<Action>(client, agent, "actions.propose", effects, about);
}

/** Proposes as the agent and returns a refusal. */
export function tryToPropose(client: Client, agent: string, ...effects: EffectInput[]): Promise<Outcome> {
  return host(client, agent, "actions.propose", effects, about);
}

export function preview(client: Client, agent: string, ...effects: EffectInput[]): Promise<Action> {
  return call<Action>(client, agent, "actions.preview", effects, about);
}

export function approve(client: Client, { id, digest }: Action, more: object = {}): Promise<Action> {
  return client.request<Action>("lares/actions/approve", { id, digest, ...more });
}

export function undo(client: Client, { id }: Action): Promise<Action> {
  return client.request<Action>("lares/actions/undo", { id });
}

export function pick(client: Client, { id }: Action): Promise<Action> {
  return client.request<Action>("lares/actions/get", { id });
}

/**
 * Returns every file and folder beneath `root` with what an exact undo has to restore: bytes, modification time, mode.
 */
export async function snapshot(root: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const item of (await readdir(root, { recursive: true })).toSorted()) {
    const path = join(root, item);
    const about = await lstat(path);
    const mode = about.mode.toString(8);
    // A folder's time changes with its content, so it is not compared.
    if (about.isDirectory()) found[item] = mode;
    else if (about.isSymbolicLink()) found[item] = `${mode} → ${await readlink(path)}`;
    else if (!about.isFile()) found[item] = mode;
    else found[item] = `${mode} ${about.mtimeMs} ${(await readFile(path)).toString("base64")}`;
  }
  return found;
}
