import { LaresError } from "../base/errors.ts";
import { named } from "../base/named.ts";
import type { MindSkill, MindText } from "../base/vocabulary/mind.ts";
import type { ProcessKind } from "../base/vocabulary/principal.ts";
import type { FileText } from "../documents/ports.ts";
import { maxMindFileBytes, maxSkills } from "../documents/schema/mind.ts";
import { readSkill } from "../documents/skill.ts";
import { basename, dirname, join } from "../platform/files/paths.ts";
import type { ObservedFiles } from "./observed-files.ts";

/** The person's additions to the texts of a mind. */
export interface MindParts {
  /** Lares' own prompts, for the kinds of processes for which the manifest names none. */
  readonly prompts: Readonly<Record<ProcessKind, string>>;
  /** The person's own texts for this agent: they replace those of the same name, or are added. */
  readonly own: {
    readonly identity: readonly MindText[];
    readonly skills: readonly MindSkill[];
    /** The folder of these texts; absolute. It may be missing. */
    readonly folder: string;
    /** The files that were read, without links; absolute. */
    readonly files: readonly OwnFile[];
  };
}

interface OwnFile {
  readonly path: string;
  readonly kind: "identity" | "skill";
}

const ownNames = ["SOUL.md", "IDENTITY.md", "USER.md", "AGENTS.md"] as const;

/** Reads Lares' own prompts. Rejects with InternalError if one is missing. */
export async function readPrompts(folder: string, files: ObservedFiles): Promise<MindParts["prompts"]> {
  const read = async (kind: ProcessKind): Promise<string> => {
    const { text } = await readFollowing(join(folder, `${kind}.md`), files);
    if (text !== null) return text;
    throw new LaresError(
      "InternalError",
      `The prompt ${kind}.md in ${folder} is missing; install Lares again.`,
    );
  };
  return {
    channel: await read("channel"),
    branch: await read("branch"),
    worker: await read("worker"),
    compaction: await read("compaction"),
    cortex: await read("cortex"),
  };
}

/**
 * Reads the person's own texts for an agent from a folder of theirs. They are the person's: links are followed, and nobody
 * has to accept them. Adds to `faults` what is wrong with them; such a text is left out.
 */
export async function readOwn(
  folder: string,
  files: ObservedFiles,
  faults: string[],
): Promise<MindParts["own"]> {
  const identity: MindText[] = [];
  const read: OwnFile[] = [];
  for (const name of ownNames) {
    const file = join(folder, name);
    const text = await readOwnText(file, files, faults);
    if (text === null) continue;
    identity.push({ name, text });
    read.push({ path: await files.realPath(file), kind: "identity" });
  }
  const skills: MindSkill[] = [];
  for (const name of await files.list(join(folder, "skills"))) {
    if (name.startsWith(".") || skills.length >= maxSkills) continue;
    const file = join(folder, "skills", name, "SKILL.md");
    const text = await readOwnText(file, files, faults);
    if (text === null) continue;
    read.push({ path: await files.realPath(file), kind: "skill" });
    const skill = readSkill(text);
    if (typeof skill === "string") faults.push(`${file} ${skill}`);
    else if (!skills.some((other) => other.name === skill.name)) skills.push(skill);
  }
  return { identity, skills, folder, files: read };
}

async function readOwnText(file: string, files: ObservedFiles, faults: string[]): Promise<string | null> {
  const { text, refused, size } = await readFollowing(file, files);
  if (text !== null) return text.replace(/^\uFEFF/, "");
  if (refused === "too-large")
    faults.push(
      `${named(file)} has ${size} bytes; a text of a mind may have ${maxMindFileBytes}. Make it shorter.`,
    );
  else if (refused !== "missing") faults.push(`${named(file)} is not a text in UTF-8 that can be read.`);
  return null;
}

async function readFollowing(file: string, files: ObservedFiles): Promise<FileText> {
  files.observe(file);
  const real = await files.realPath(file);
  return await files.readTextIn(dirname(real), basename(real), maxMindFileBytes);
}
