import type { EffectInput } from "../../base/vocabulary/action.ts";

/** Returns a text of these lines. */
export const lines = (...all: readonly string[]): string => all.map((line) => `${line}\n`).join("");

export const write = (path: string, content: string): EffectInput => ({ kind: "file.write", path, content });
export const move = (from: string, to: string): EffectInput => ({ kind: "file.move", from, to });
export const remove = (path: string): EffectInput => ({ kind: "file.delete", path });
export const edit = (path: string, find: string, replace: string): EffectInput => ({
  kind: "file.edit",
  path,
  edits: [{ find, replace }],
});
export const tag = (path: string, name: string): EffectInput => ({ kind: "tag.add", path, tag: name });
export const field = (path: string, value: unknown): EffectInput => ({
  kind: "field.set",
  path,
  namespace: "test",
  key: "k",
  value,
});
/** The sidecar "notes" of `a.txt`. */
export const sidecar = (data: unknown): EffectInput => ({
  kind: "sidecar.write",
  path: "a.txt",
  sidecar: "notes",
  data,
});
