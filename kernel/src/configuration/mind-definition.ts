import type { ActiveHours, CommandDefinition, HookDefinition } from "../base/vocabulary/agent-definition.ts";
import type { MindDefinition, MindSkill, MindText } from "../base/vocabulary/mind.ts";
import type {
  MindFiles,
  ResolvedHook,
  ResolvedManifest,
  ResolvedMind,
} from "../documents/resolved-manifest.ts";
import { basename } from "../platform/files/paths.ts";
import type { CatalogEntry } from "./catalog-snapshot.ts";

/** The texts of an extension's mind as they were accepted, by path. */
export type Texts = ReadonlyMap<string, string>;

export function textsOf(files: MindFiles | undefined): Texts {
  return new Map((files?.texts ?? []).map(({ path, text }) => [path, text.replace(/^\uFEFF/, "")]));
}

/**
 * Returns a mind with the texts that are in force: those of the extension as accepted, Lares' own prompts where the
 * manifest names none, and the person's own. Null if the extension has none, or its texts are not all there.
 */
export function mindOf(
  mind: ResolvedMind | undefined,
  { program, mind: parts }: CatalogEntry,
): MindDefinition | null {
  const files = program.program?.mind;
  if (mind === undefined || parts === undefined || files === undefined) return null;
  const texts = textsOf(files);
  const { identity, prompts, workers, skills: _patterns, ...rest } = mind;
  const named = [...identity, ...Object.values(prompts), ...workers.flatMap(({ prompt }) => prompt ?? [])];
  // The person may edit the accepted behaviour in decisions.yaml.
  if (named.some((path) => !texts.has(path))) return null;
  const text = (path: string | undefined, otherwise: string): string =>
    path === undefined ? otherwise : (texts.get(path) ?? otherwise);
  const roles: MindDefinition["prompts"] = {
    channel: text(prompts.channel, parts.prompts.channel),
    branch: text(prompts.branch, parts.prompts.branch),
    worker: text(prompts.worker, parts.prompts.worker),
    compaction: text(prompts.compaction, parts.prompts.compaction),
    cortex: text(prompts.cortex, parts.prompts.cortex),
  };
  return {
    ...rest,
    identity: withOwn(
      identity.map((path): MindText => ({ name: basename(path), text: text(path, "") })),
      parts.own.identity,
    ),
    prompts: roles,
    skills: withOwn(
      files.skills.map((skill): MindSkill => {
        const { name, description } = skill;
        return { name, description, text: skill.text };
      }),
      parts.own.skills,
    ),
    workers: workers.map(({ prompt, ...worker }) => ({ ...worker, prompt: text(prompt, roles.worker) })),
  };
}

/** Puts the person's own items in the place of those with the same name, and appends the others. */
function withOwn<Item extends { readonly name: string }>(
  items: readonly Item[],
  own: readonly Item[],
): Item[] {
  const replaced = items.map((item) => own.find(({ name }) => name === item.name) ?? item);
  return [...replaced, ...own.filter(({ name }) => !items.some((item) => item.name === name))];
}

/** Returns what a schedule's prompt starts a conversation with. */
export function promptOf(
  { target = "notify", activeHours }: Extract<ResolvedHook, { kind: "schedule" }>,
  path: string,
  texts: Texts,
): NonNullable<HookDefinition["prompt"]> {
  return {
    name: path,
    text: texts.get(path) ?? "",
    target,
    ...(activeHours === undefined ? {} : { activeHours: hoursOf(activeHours) }),
  };
}

/** Reads hours such as 08:00-20:00, whose form the schema has checked. */
function hoursOf(hours: string): ActiveHours {
  const [fromMinutes = 0, untilMinutes = 0] = hours.split("-").map((time) => {
    const [hour = 0, minute = 0] = time.split(":").map(Number);
    return hour * 60 + minute;
  });
  return { fromMinutes, untilMinutes };
}

export function commandsOf(
  commands: NonNullable<ResolvedManifest["commands"]>,
  texts: Texts,
): CommandDefinition[] {
  return commands.map(({ name, title, description, handler, prompt, parameters }) => ({
    name,
    title,
    description,
    runs:
      prompt === undefined
        ? { handler: handler ?? name }
        : { prompt: { name: prompt, text: texts.get(prompt) ?? "" } },
    ...(parameters === undefined ? {} : { parameters }),
  }));
}
