import { isLaresError, LaresError, scopeViolation } from "../base/errors.ts";
import type { MindSource } from "../base/vocabulary/mind.ts";
import { canonicalPath } from "../policy/paths.ts";
import { isInPlace, reachesPlace } from "../policy/protected.ts";

/** The files of the workspace that a mind itself is made of; separate tools change them. */
export interface OwnTexts {
  readonly sources: readonly MindSource[];
  /** Folders with the kernel's state: memories, conversations. */
  readonly state: readonly string[];
}

const changing: ReadonlySet<string> = new Set([
  "files/write",
  "files/edit",
  "files/move",
  "files/delete",
  "files/create_folder",
]);

const keep =
  "What you want to keep belongs in a block, with block_edit, or in a memory, with memory_save. Tell the person what should change in the file; only they change it.";

type Arguments = Readonly<Record<string, unknown>>;

function pathsOf(args: Arguments): string[] {
  return ["path", "from", "to"].flatMap((name) => {
    const given = args[name];
    const canonical = typeof given === "string" ? canonicalPath(given) : null;
    return canonical?.ok === true ? [canonical.path] : [];
  });
}

/**
 * Returns why a call is refused that is about texts of the mind itself, naming the right tool; null for any other call.
 * A path that is not valid is refused elsewhere.
 */
export function ownTextsFault(tool: string, args: Arguments, { sources }: OwnTexts): LaresError | null {
  for (const path of pathsOf(args)) {
    // A folder takes everything in it along.
    const isReached = tool === "files/move" || tool === "files/delete" ? reachesPlace : isInPlace;
    const source = sources.find((one) => isReached(path, [one.path]));
    if (source === undefined) continue;
    const refuse = (why: string): LaresError => scopeViolation(path, `${JSON.stringify(path)} ${why}`);
    if (changing.has(tool))
      return refuse(
        source.kind === "skill"
          ? `holds your skills. Read one with read_skill; do not change it with ${tool}. ${keep}`
          : `is part of who you are, and ${tool} does not change it: it is in your context already. ${keep}`,
      );
    if (tool === "files/read" && source.kind === "skill" && /(?:^|\/)skill\.md$/i.test(path))
      return refuse("is one of your skills. Read it with read_skill, by the skill's name.");
  }
  return null;
}

/** Returns the refusal of a path in the kernel's state with the right tool; other errors as they are. */
export function withRightTool(error: unknown, args: Arguments, { state }: OwnTexts): unknown {
  if (!isLaresError(error, "ScopeViolation") || !pathsOf(args).some((path) => reachesPlace(path, state)))
    return error;
  const tools =
    "The kernel keeps its state there. Use channel_recall for what was said, and memory_recall and memory_save for memories.";
  return new LaresError(error.code, `${error.message} ${tools}`, error.facts);
}
