import type { EffectInput } from "../../base/vocabulary/action.ts";

/** Every kind of step: a new folder and file, a replaced one, a removed one, a moved file, a moved folder, metadata. */
export const faultEffects: readonly EffectInput[] = [
  { kind: "file.write", path: "new/made.txt", content: "made" },
  { kind: "file.edit", path: "edited.txt", edits: [{ find: "old", replace: "new" }] },
  { kind: "file.delete", path: "removed.txt" },
  { kind: "file.move", from: "moved.txt", to: "new/moved.txt" },
  { kind: "file.move", from: "folder", to: "renamed" },
  { kind: "tag.add", path: "edited.txt", tag: "#edited" },
];
